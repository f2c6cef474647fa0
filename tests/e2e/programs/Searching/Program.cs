// A full-text index (Lucene.NET) of texts with a seed, and searches in it. Prints how many documents each search found.
// usage: Searching [DOCUMENTS]      an index of 2,000 documents by default
using Lucene.Net.Analysis;
using Lucene.Net.Analysis.Core;
using Lucene.Net.Analysis.Standard;
using Lucene.Net.Analysis.TokenAttributes;
using Lucene.Net.Documents;
using Lucene.Net.Index;
using Lucene.Net.Search;
using Lucene.Net.Store;
using Lucene.Net.Util;

string[] words = "stack heap frame method call return leaf root trace line path object type thread field".Split(' ');
var random = new Random(1);
using var directory = new RAMDirectory();
using var analyzer = new Folding();
using (var writer = new IndexWriter(directory, new IndexWriterConfig(LuceneVersion.LUCENE_48, analyzer)))
    foreach (var text in Texts(args.Length > 0 ? int.Parse(args[0]) : 2000))
        writer.AddDocument(ToDocument(text));
using var reader = DirectoryReader.Open(directory);
var searcher = new IndexSearcher(reader);
foreach (var group in words.Select(word => (word, Hits: Search(word))).GroupBy(found => found.Hits / 100))
    Console.WriteLine($"{group.Key}: {string.Join(' ', group.Select(found => found.word))}");

IEnumerable<(string Title, string Body)> Texts(int count)
{
    for (int i = 0; i < count; i++)
        yield return ("title " + i, string.Join(' ', Enumerable.Range(0, 40).Select(_ => words[random.Next(words.Length)])));
}

static Document ToDocument((string Title, string Body) text) => new()
{
    new StringField("title", text.Title, Field.Store.YES),
    new TextField("body", text.Body, Field.Store.NO),
};

int Search(string word)
{
    var query = new BooleanQuery
    {
        { new TermQuery(new Term("body", word.ToLowerInvariant())), Occur.MUST },
        { new PrefixQuery(new Term("body", word[..1])), Occur.SHOULD },
    };
    var hits = searcher.Search(query, 100);
    var titles = hits.ScoreDocs.Select(hit => searcher.Doc(hit.Doc).Get("title")).ToHashSet();
    return hits.TotalHits + titles.Count;
}

// Each token becomes a text, and its length a payload: a filter that people write.
sealed class Folding : Analyzer
{
    protected override TokenStreamComponents CreateComponents(string name, TextReader reader)
    {
        var source = new StandardTokenizer(LuceneVersion.LUCENE_48, reader);
        return new TokenStreamComponents(source, new Lengths(new LowerCaseFilter(LuceneVersion.LUCENE_48, source)));
    }
}

sealed class Lengths : TokenFilter
{
    readonly ICharTermAttribute term;
    readonly IPayloadAttribute payload;

    public Lengths(TokenStream input) : base(input)
    {
        term = AddAttribute<ICharTermAttribute>();
        payload = AddAttribute<IPayloadAttribute>();
    }

    public override bool IncrementToken()
    {
        if (!m_input.IncrementToken())
            return false;
        string text = term.ToString();
        payload.Payload = new BytesRef(BitConverter.GetBytes(text.Length));
        return true;
    }
}
