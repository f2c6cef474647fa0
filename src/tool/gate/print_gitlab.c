/*
 * GitLab's code quality report: an array of issues, each with a place. Source: GitLab,
 * doc/ci/testing/code_quality.md ("Code Quality report format").
 */
#include "gate/print.h"

#include "base/json_writer.h"

int print_gitlab(const struct gate_print *p, FILE *out)
{
    struct buffer words = BUFFER_INIT;
    const struct gate_finding *f;
    struct json_writer w;
    bool failed = false;
    size_t at = 0;
    int err;

    jw_init(&w, out);
    jw_array(&w, NULL);
    while ((f = print_next(p->j, &at))) {
        char fingerprint[PRINT_FINGERPRINT];
        uint32_t line;

        buffer_clear(&words);
        print_description(p->j, f, &words);
        print_fingerprint(p->j, f, fingerprint);
        failed = failed || words.failed;
        jw_line_object(&w, 1, NULL);
        jw_text(&w, "description", words.data ? words.data : "");
        jw_text(&w, "check_name", print_rule(p->j, f));
        jw_text(&w, "fingerprint", fingerprint);
        jw_text(&w, "severity", f->verdict == GATE_BROKEN ? "major" : "minor");
        jw_object(&w, "location");
        jw_text(&w, "path", print_file(p, f, &line));
        jw_object(&w, "lines");
        jw_unsigned(&w, "begin", line);
        jw_end(&w);
        jw_end(&w);
        jw_end(&w);
    }
    jw_end(&w);
    err = jw_finish(&w);
    buffer_free(&words);
    return failed ? -ENOMEM : err;
}
