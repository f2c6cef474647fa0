// Long Markdown texts rendered as HTML by Markdig, with its advanced extensions and a renderer of this program. Prints the
// length of the HTML.
// usage: Markdown [TIMES]      renders all texts TIMES times, 1 by default
using System;
using System.IO;
using System.Linq;
using System.Text;
using Markdig;
using Markdig.Renderers;
using Markdig.Renderers.Html.Inlines;
using Markdig.Syntax.Inlines;

namespace Bench;

static class Pages
{
    const int Texts = 8, Sections = 40;
    static readonly string[] words = "stack heap *frame* method `call` return **leaf** root trace line path object ~~type~~ thread field".Split(' ');

    static void Main(string[] args)
    {
        string[] texts = Enumerable.Range(0, Texts).Select(seed => Text(new Random(seed))).ToArray();
        var pipeline = new MarkdownPipelineBuilder().UseAdvancedExtensions().Build();
        long length = 0;
        for (int times = args.Length > 0 ? int.Parse(args[0]) : 1; times > 0; times--)
            length += texts.Sum(text => Html(text, pipeline).Length);
        Console.WriteLine(length);
    }

    static string Html(string text, MarkdownPipeline pipeline)
    {
        var writer = new StringWriter();
        var renderer = new HtmlRenderer(writer);
        pipeline.Setup(renderer);
        renderer.ObjectRenderers.Replace<LinkInlineRenderer>(new Links());
        renderer.Render(Markdown.Parse(text, pipeline));
        return writer.ToString();
    }

    static string Sentence(Random random, int count)
    {
        return string.Join(' ', Enumerable.Range(0, count).Select(_ => words[random.Next(words.Length)]));
    }

    static string Text(Random random)
    {
        var text = new StringBuilder("*[GC]: garbage collection\n\n");
        for (int i = 0; i < Sections; i++)
            text.Append($"""
                ## Section {i}: {Sentence(random, 3)}

                {Sentence(random, 30)} at a GC[^{i}], see [section {i / 2}](#section-{i / 2} "{i / 2}") and https://example.com/{i}.
                {Sentence(random, 40)} ==marked== H~2~O x^2^ $a+b$

                - [x] {Sentence(random, 8)}
                - [ ] {Sentence(random, 8)}
                  1. {Sentence(random, 5)}
                  2. ![{Sentence(random, 2)}](image{i}.png)

                | name | {Sentence(random, 1)} | count |
                |:-----|:---------------------:|------:|
                | {Sentence(random, 2)} | {Sentence(random, 4)} | {random.Next(1000)} |
                | {Sentence(random, 2)} | {Sentence(random, 4)} | {random.Next(1000)} |

                > {Sentence(random, 20)}
                >
                > ```csharp
                > for (int i = 0; i < {i}; i++) Call(&i);
                > ```

                Term {i}
                :   {Sentence(random, 10)}

                [^{i}]: {Sentence(random, 12)}


                """);
        return text.ToString();
    }
}

// Links within the page keep its address, others say where they lead.
sealed class Links : LinkInlineRenderer
{
    protected override void Write(HtmlRenderer renderer, LinkInline link)
    {
        link.Url = link.Url.StartsWith('#') ? "page.html" + link.Url : string.Concat("go?to=", Uri.EscapeDataString(link.Url));
        base.Write(renderer, link);
    }
}
