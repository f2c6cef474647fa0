// Blogs and posts in a database, as in the first pages about EF Core. `// hot`: the line that allocates most; `// copy`: what
// it makes is made by a method without a line, which the compiler wrote.
//
//   Blogging FILE: a new database there. Prints how many posts it then has.
using Microsoft.EntityFrameworkCore;

using var db = new BloggingContext(args[0]);
await db.Database.EnsureCreatedAsync();
await Fill(db);
Console.WriteLine($"{await Count(db)} posts");

static async Task Fill(BloggingContext db)
{
    var draft = new Draft("post", 0);
    for (int i = 0; i < 60; i++)
    {
        var blog = new Blog { Title = "blog " + i };
        for (int k = 0; k < 5; k++)
        {
            draft = draft with { Number = k }; // copy
            blog.Posts.Add(new Post { Text = draft.Text + " " + draft.Number });
        }
        db.Blogs.Add(blog);
        await db.SaveChangesAsync(); // hot
    }
}

static async Task<int> Count(BloggingContext db)
{
    int posts = 0;
    for (int i = 0; i < 10; i++)
    {
        var some = await db.Blogs.AsNoTracking().Include(blog => blog.Posts).Where(blog => blog.Id % 10 == i).ToListAsync();
        posts += some.Sum(blog => blog.Posts.Count);
    }
    return posts;
}

record Draft(string Text, int Number);

class Blog
{
    public int Id { get; set; }
    public string Title { get; set; } = "";
    public List<Post> Posts { get; } = new();
}

class Post
{
    public int Id { get; set; }
    public string Text { get; set; } = "";
    public Blog Blog { get; set; }
}

class BloggingContext : DbContext
{
    readonly string path;

    public BloggingContext(string path) => this.path = path;

    public DbSet<Blog> Blogs { get; set; }
    public DbSet<Post> Posts { get; set; }

    protected override void OnConfiguring(DbContextOptionsBuilder options) => options.UseSqlite("Data Source=" + path);
}
