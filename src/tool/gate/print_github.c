/*
 * Annotations of GitHub Actions: commands in a step's output. Source: actions/toolkit,
 * packages/core/src/command.ts: in a message %, CR and LF are escaped, in a property : and , too.
 */
#include "gate/print.h"

static void put_escaped(struct buffer *b, const struct buffer *text, bool property)
{
    for (size_t i = 0; i < text->size; i++) {
        char c = text->data[i];

        if (c == '%' || c == '\r' || c == '\n' || (property && (c == ':' || c == ',')))
            buffer_format(b, "%%%02X", (unsigned)(unsigned char)c);
        else
            buffer_char(b, c);
    }
}

static void put_finding(const struct gate_print *p, const struct gate_finding *finding,
                        struct buffer *scratch, struct buffer *out)
{
    uint32_t line;

    buffer_clear(scratch);
    buffer_clean(scratch, print_file(p, finding, &line));
    buffer_text(out, "::error file=");
    put_escaped(out, scratch, true);
    buffer_format(out, ",line=%u,title=", line);
    buffer_clear(scratch);
    buffer_format(scratch, "shadowtrace gate: %s", print_verdict(finding->verdict));
    put_escaped(out, scratch, true);
    buffer_text(out, "::");
    buffer_clear(scratch);
    print_description(p->j, finding, scratch);
    put_escaped(out, scratch, false);
    buffer_char(out, '\n');
    out->failed = out->failed || scratch->failed;
}

int print_github(const struct gate_print *p, FILE *out)
{
    struct buffer b = BUFFER_INIT, scratch = BUFFER_INIT;
    const struct gate_finding *f;
    bool failed;
    size_t at = 0;

    while ((f = print_next(p->j, &at)))
        put_finding(p, f, &scratch, &b);
    buffer_clear(&scratch);
    buffer_format(&scratch, "shadowtrace gate: ");
    print_outcome(p->j, &scratch);
    buffer_text(&b, "::notice::");
    put_escaped(&b, &scratch, false);
    buffer_char(&b, '\n');
    fwrite(b.data ? b.data : "", 1, b.size, out);
    failed = b.failed || scratch.failed;
    buffer_free(&b);
    buffer_free(&scratch);
    return failed ? -ENOMEM : 0;
}
