/*
 * SARIF 2.1.0 (OASIS): a rule for each kind of limit, a result for each that is not held. A result
 * that was not judged is of kind "open", and the run did not succeed.
 */
#include "gate/print.h"

#include "base/json_writer.h"

#include <ctype.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

/* A path as a URI reference: what is none of its letters becomes %XX (RFC 3986). */
static void put_uri(struct buffer *b, const char *path)
{
    if (*path == '/')
        buffer_text(b, "file://");
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;

        if (c == '\\')
            buffer_char(b, '/');
        else if (c < 0x80 && (isalnum(c) || strchr("-._~/", c)))
            buffer_char(b, (char)c);
        else
            buffer_format(b, "%%%02X", c);
    }
}

static const char *rule_words(enum budget_of of)
{
    static const char *const words[] = {
        [BUDGET_WHOLE] = "The program allocates more than its budget.",
        [BUDGET_LINE] = "A line of own code allocates more than its budget.",
        [BUDGET_OTHER_LINES] = "A line of own code allocates that the budget does not have.",
        [BUDGET_METHOD] = "A method allocates more than its budget.",
        [BUDGET_TYPE] = "More objects of a type are made than the budget allows."};

    return words[of];
}

/* PascalCase, as SARIF wants names of rules: "LineObjects". */
static void rule_name(const char *id, char *to, size_t size)
{
    bool upper = true;
    size_t at = 0;

    for (; *id && at + 1 < size; id++) {
        if (*id != '-')
            to[at++] = upper ? (char)toupper((unsigned char)*id) : *id;
        upper = *id == '-';
    }
    to[at] = '\0';
}

/* Rules that have results, each once. Their order is that of results' ruleIndex. */
struct rules {
    const char *ids[5 * BUDGET_MEASURES];
    enum budget_of of[5 * BUDGET_MEASURES];
    size_t count;
};

static size_t rule_of(struct rules *r, const struct gate_judgement *judgement,
                      const struct gate_finding *finding)
{
    const char *id = print_rule(judgement, finding);
    size_t i = 0;

    while (i < r->count && r->ids[i] != id)
        i++;
    if (i == r->count) {
        r->ids[r->count] = id;
        r->of[r->count++] = judgement->budget->limits[finding->limit].of;
    }
    return i;
}

static void put_message(struct json_writer *w, const char *key, const char *text)
{
    jw_object(w, key);
    jw_text(w, "text", text);
    jw_end(w);
}

static void put_rules(struct json_writer *w, const struct rules *r)
{
    jw_line_array(w, 3, "rules");
    for (size_t i = 0; i < r->count; i++) {
        char name[64];

        rule_name(r->ids[i], name, sizeof(name));
        jw_line_object(w, 4, NULL);
        jw_text(w, "id", r->ids[i]);
        jw_text(w, "name", name);
        put_message(w, "shortDescription", rule_words(r->of[i]));
        put_message(w, "fullDescription", rule_words(r->of[i]));
        put_message(w, "help",
                    "Find the allocation at this line; `shadowtrace gate --update` makes it the "
                    "budget's if it is wanted.");
        jw_object(w, "defaultConfiguration");
        jw_text(w, "level", "error");
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
}

static void put_location(struct json_writer *w, const struct gate_print *print,
                         const struct gate_finding *finding)
{
    struct buffer uri = BUFFER_INIT;
    uint32_t line;

    put_uri(&uri, print_file(print, finding, &line));
    jw_array(w, "locations");
    jw_object(w, NULL);
    jw_object(w, "physicalLocation");
    jw_object(w, "artifactLocation");
    jw_text(w, "uri", uri.data ? uri.data : "");
    if (uri.data && strncmp(uri.data, "file:", 5) != 0)
        jw_text(w, "uriBaseId", "%SRCROOT%");
    jw_end(w);
    jw_object(w, "region");
    jw_unsigned(w, "startLine", line);
    if (finding->line_last)
        jw_unsigned(w, "endLine", finding->line_last);
    if (finding->text && *finding->text && finding->path)
        put_message(w, "snippet", finding->text);
    jw_end(w);
    jw_end(w);
    if (finding->method) {
        jw_array(w, "logicalLocations");
        jw_object(w, NULL);
        jw_text(w, "fullyQualifiedName", finding->method);
        jw_text(w, "kind", "function");
        jw_end(w);
        jw_end(w);
    }
    jw_end(w);
    jw_end(w);
    jw_spent(w, &uri);
}

static void put_result(struct json_writer *w, const struct gate_print *print,
                       const struct gate_finding *finding, struct rules *rules)
{
    bool broken = finding->verdict == GATE_BROKEN;
    struct buffer words = BUFFER_INIT;
    char fingerprint[PRINT_FINGERPRINT];

    print_description(print->j, finding, &words);
    buffer_char(&words, '.');
    print_fingerprint(print->j, finding, fingerprint);
    jw_line_object(w, 3, NULL);
    jw_text(w, "ruleId", print_rule(print->j, finding));
    jw_unsigned(w, "ruleIndex", rule_of(rules, print->j, finding));
    jw_text(w, "kind", broken ? "fail" : "open");
    jw_text(w, "level", broken ? "error" : "none");
    put_message(w, "message", words.data ? words.data : "");
    put_location(w, print, finding);
    jw_object(w, "partialFingerprints");
    jw_text(w, "shadowtraceGate/v1", fingerprint);
    jw_end(w);
    jw_end(w);
    jw_spent(w, &words);
}

static void put_driver(struct json_writer *w, const struct rules *rules)
{
    jw_line_object(w, 2, "tool");
    jw_object(w, "driver");
    jw_text(w, "name", "shadowtrace");
    jw_text(w, "version", SHADOWTRACE_VERSION);
    jw_text(w, "semanticVersion", SHADOWTRACE_VERSION);
    put_rules(w, rules);
    jw_end(w);
    jw_end(w);
}

static void put_invocation(struct json_writer *w, const struct gate_print *print)
{
    size_t broken = print->j->verdicts[GATE_BROKEN], open = print->j->verdicts[GATE_NOT_JUDGED];
    struct buffer words = BUFFER_INIT;

    print_outcome(print->j, &words);
    jw_line_array(w, 2, "invocations");
    jw_object(w, NULL);
    jw_bool(w, "executionSuccessful", open == 0);
    jw_unsigned(w, "exitCode", broken ? CLI_CHECK : open ? CLI_IO : CLI_OK);
    jw_array(w, "toolExecutionNotifications");
    jw_object(w, NULL);
    jw_text(w, "level", open ? "error" : "note");
    put_message(w, "message", words.data ? words.data : "");
    jw_end(w);
    jw_end(w);
    jw_end(w);
    jw_end(w);
    jw_spent(w, &words);
}

int print_sarif(const struct gate_print *p, FILE *out)
{
    struct rules rules = {.count = 0};
    const struct gate_finding *f;
    struct json_writer w;

    for (size_t at = 0; (f = print_next(p->j, &at));)
        rule_of(&rules, p->j, f);
    jw_init(&w, out);
    jw_object(&w, NULL);
    jw_text(&w, "$schema", SCHEMA);
    jw_text(&w, "version", "2.1.0");
    jw_line_array(&w, 1, "runs");
    jw_object(&w, NULL);
    put_driver(&w, &rules);
    put_invocation(&w, p);
    jw_text(&w, "columnKind", "utf16CodeUnits");
    jw_line_array(&w, 2, "results");
    for (size_t at = 0; (f = print_next(p->j, &at));)
        put_result(&w, p, f, &rules);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    jw_end(&w);
    return jw_finish(&w);
}
