/*
 * One portable PDB in memory: what a good one says, and that a damaged one says what is wrong and
 * no line.
 */
#include "symbols/pdb.h"

#include "base/file.h"
#include "base/il.h"
#include "base/memory.h"

#include "fixture.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>

#define METHOD(row) (0x06000000u | (row))

static struct fixture fixture;

static int setup(void **state)
{
    (void)state;
    fixture_init(&fixture);
    return 0;
}

TEST_EACH(setup, NULL);

/*
 * A copy of exactly size bytes, so that a sanitizer sees one read too many; *out is NULL on
 * failure.
 */
static int load(const uint8_t *data, size_t size, const struct symbols_image *expected,
                struct symbols **out, struct symbols_error *error)
{
    uint8_t *copy = memory_alloc(size ? size : 1);

    assert_non_null(copy);
    memcpy(copy, data, size);
    return symbols_new(copy, size, expected, out, error);
}

static struct symbols *load_good(void)
{
    struct symbols_error error;
    struct symbols *symbols;

    if (load(fixture.pdb.data, fixture.pdb.size, NULL, &symbols, &error))
        fail_msg("%s", error.text);
    return symbols;
}

static void refused(enum symbols_reason reason, const char *text)
{
    struct symbols_error error;
    struct symbols *symbols;

    assert_true(load(fixture.pdb.data, fixture.pdb.size, NULL, &symbols, &error) < 0);
    assert_null(symbols);
    assert_int_equal(error.reason, reason);
    if (!strstr(error.text, text))
        fail_msg("'%s' does not say '%s'", error.text, text);
}

static void line_is(const struct symbols *symbols, uint32_t method, uint32_t il,
                    const char *expected)
{
    struct symbols_line line;
    char text[256];
    int err = symbols_line(symbols, method, il, &line);

    if (err)
        snprintf(text, sizeof(text), "%d", err);
    else
        snprintf(text, sizeof(text), "%s:%u,%u-%u,%u from %u%s", line.file, line.line, line.column,
                 line.end_line, line.end_column, line.il, line.hidden ? " hidden" : "");
    assert_string_equal(text, expected);
}

TEST(offset_maps_to_the_point_at_or_before_it)
{
    struct symbols *s = load_good();

    line_is(s, METHOD(1), 0, "/src/A.cs:10,5-10,20 from 0");
    line_is(s, METHOD(1), 3, "/src/A.cs:10,5-10,20 from 0");
    line_is(s, METHOD(1), 9, "/src/A.cs:8,1-12,2 from 9");
    line_is(s, METHOD(1), 0x1FFFFFFF, "/src/A.cs:8,1-12,2 from 9");
    line_is(s, METHOD(5), 7, "/src/A.cs:70000,1-70000,2 from 7");
    line_is(s, METHOD(5), 299, "/src/A.cs:70000,1-70000,2 from 7");
    line_is(s, METHOD(5), 300, "/src/A.cs:3,1-3,2 from 300");
    symbols_free(s);
}

TEST(hidden_code_belongs_to_the_statement_before_it_and_says_so)
{
    struct symbols *s = load_good();

    line_is(s, METHOD(1), 4, "/src/A.cs:10,5-10,20 from 0 hidden");
    line_is(s, METHOD(1), 8, "/src/A.cs:10,5-10,20 from 0 hidden");
    symbols_free(s);
}

TEST(hidden_code_before_all_statements_belongs_to_the_first)
{
    struct symbols *s = load_good();

    line_is(s, METHOD(5), 0, "/src/A.cs:70000,1-70000,2 from 7 hidden");
    line_is(s, METHOD(5), 6, "/src/A.cs:70000,1-70000,2 from 7 hidden");
    symbols_free(s);
}

TEST(one_of_several_instructions_has_the_first_and_the_last_line_of_them)
{
    static const struct {
        uint32_t method, first, last, line, line_last;
    } cases[] = {{1, 0, 3, 10, 0},      {1, 0, 8, 10, 0},     {1, 0, 9, 8, 10},
                 {1, 9, 40, 8, 0},      {3, 2, 3, 0, 0},      {5, 6, 7, 70000, 0},
                 {5, 7, 299, 70000, 0}, {5, 6, 300, 3, 70000}};
    struct symbols *s = load_good();
    struct symbols_line line;

    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int err = symbols_line_of(s, METHOD(cases[i].method),
                                  il_several(cases[i].first, cases[i].last), &line);

        assert_int_equal(err, cases[i].line ? 0 : -ENODATA);
        assert_int_equal(err ? 0 : line.line, cases[i].line);
        assert_int_equal(err ? 0 : line.line_last, cases[i].line_last);
    }
    symbols_free(s);
}

TEST(an_instruction_that_is_not_known_has_a_line_if_the_method_is_on_one)
{
    struct symbols *s = load_good();
    struct symbols_error error;
    struct symbols_line line;
    char *text;
    size_t size;

    assert_int_equal(symbols_line_of(s, METHOD(1), -1, &line), -ENODATA); /* lines 8 and 10 */
    assert_int_equal(symbols_line_of(s, METHOD(2), -1, &line), -ENODATA); /* none */
    assert_int_equal(symbols_line_of(s, METHOD(3), -1, &line), -ENODATA); /* two documents */
    symbols_free(s);
    assert_int_equal(file_load("tests/fuzz/corpus/symbols/csharp.pdb", 1 << 20, &text, &size), 0);
    assert_int_equal(symbols_of_pdb((uint8_t *)text, size, false, 0, &s, &error), 0);
    assert_int_equal(symbols_line_of(s, METHOD(8), -1, &line), 0); /* a getter */
    assert_int_equal(line.line, 12);
    assert_int_equal(line.line_last, 0);
    symbols_free(s);
    memory_free(text);
}

TEST(a_method_may_span_documents)
{
    struct symbols *s = load_good();

    line_is(s, METHOD(3), 2, "C:\\src\\B.cs:100,1-100,9 from 0");
    line_is(s, METHOD(3), 3, "/src/A.cs:50,1-50,300 from 3");
    symbols_free(s);
}

TEST(no_line_where_there_is_none)
{
    struct symbols *s = load_good();
    char none[16];
    char invalid[16];

    snprintf(none, sizeof(none), "%d", -ENODATA);
    snprintf(invalid, sizeof(invalid), "%d", -EINVAL);
    line_is(s, METHOD(2), 0, none);          /* no points */
    line_is(s, METHOD(4), 2, none);          /* only hidden ones */
    line_is(s, METHOD(1), 0x20000000, none); /* no offset of IL */
    line_is(s, METHOD(1), UINT32_MAX, none); /* the JIT's "no mapping" */
    line_is(s, METHOD(0), 0, invalid);
    line_is(s, METHOD(7), 0, invalid);
    line_is(s, 0x02000001, 0, invalid); /* a type */
    symbols_free(s);
}

TEST(a_method_with_damaged_points_has_no_line_at_all)
{
    struct symbols *s = load_good();
    char damaged[16];

    snprintf(damaged, sizeof(damaged), "%d", -EBADMSG);
    line_is(s, METHOD(6), 0, damaged);
    symbols_free(s);

    struct {
        unsigned method;
        size_t at;
        uint8_t value;
    } cases[] = {
        {1, 1, 0x80},  /* IL offset takes the next byte too: what follows ends too soon */
        {1, 12, 0x63}, /* start line: 10 - 15 */
        {1, 13, 0x75}, /* start column: 5 - 6 */
        {1, 5, 0xE0},  /* no compressed integer begins so */
        {3, 1, 0},     /* document 0 */
        {3, 1, 3},     /* document 3 of 2 */
        {3, 9, 9},     /* document record: 9 of 2 */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture_init(&fixture);
        fixture.pdb.data[fixture.blob + fixture.points[cases[i].method] + 1 + cases[i].at] =
            cases[i].value;
        s = load_good();
        for (uint32_t il = 0; il < 400; il += 3) {
            struct symbols_line line;

            if (symbols_line(s, METHOD(cases[i].method), il, &line) != -EBADMSG)
                fail_msg("case %zu: IL %u has line %u", i, il, line.line);
        }
        symbols_free(s);
    }
    fixture_init(&fixture);
    memcpy(fixture.pdb.data + fixture.blob + fixture.points[5] + 1 + 8, "\xFE\xEF\xEE",
           3); /* never a line */
    s = load_good();
    line_is(s, METHOD(5), 7, damaged);
    symbols_free(s);
}

struct counted {
    unsigned count, stop;
};

static int count_point(void *context, const struct symbols_point *point)
{
    struct counted *counted = context;

    (void)point;
    return ++counted->count == counted->stop ? 42 : 0;
}

TEST(points_come_one_by_one_until_told_to_stop)
{
    struct symbols *s = load_good();
    struct counted all = {0, 0};
    struct counted some = {0, 2};
    struct counted none = {0, 0};

    assert_int_equal(symbols_points(s, METHOD(1), count_point, &all), 0);
    assert_int_equal(all.count, 3);
    assert_int_equal(symbols_points(s, METHOD(1), count_point, &some), 42);
    assert_int_equal(some.count, 2);
    assert_int_equal(symbols_points(s, METHOD(2), count_point, &none), 0);
    assert_int_equal(symbols_points(s, METHOD(6), count_point, &none), -EBADMSG);
    assert_int_equal(none.count, 0);
    symbols_free(s);
}

TEST(documents_know_their_hash_and_source)
{
    struct symbols *s = load_good();
    struct symbols_document document;
    const char *link;
    char *text;
    size_t size;

    assert_int_equal(symbols_document_count(s), 2);
    assert_int_equal(symbols_document(s, 3, &document), -EINVAL);
    assert_int_equal(symbols_document(s, 0, &document), -EINVAL);
    assert_int_equal(symbols_document(s, 1, &document), 0);
    assert_string_equal(document.file, "/src/A.cs");
    assert_int_equal(document.hash_kind, SYMBOLS_HASH_SHA256);
    assert_true(document.embedded);
    for (uint32_t id = 1; id <= 2; id++) { /* as it is, then deflated */
        assert_int_equal(symbols_source(s, id, &text, &size), 0);
        assert_int_equal(size, strlen(FIXTURE_TEXT));
        assert_string_equal(text, FIXTURE_TEXT);
        memory_free(text);
    }
    assert_int_equal(symbols_source(s, 3, &text, &size), -EINVAL);
    assert_int_equal(symbols_source_check(s, 1, FIXTURE_TEXT, strlen(FIXTURE_TEXT)), 0);
    assert_int_equal(symbols_source_check(s, 1, FIXTURE_TEXT, 3), -ESTALE);
    assert_int_equal(symbols_source_check(s, 2, FIXTURE_TEXT, 3),
                     -ENOTSUP); /* it records no hash */
    link = symbols_source_link(s, &size);
    assert_int_equal(size, 2);
    assert_memory_equal(link, "{}", 2);
    symbols_free(s);
}

TEST(every_beginning_of_a_pdb_is_truncated)
{
    struct symbols_error error;
    struct symbols *symbols;

    for (size_t size = 0; size < fixture.pdb.size; size++) {
        assert_int_equal(load(fixture.pdb.data, size, NULL, &symbols, &error), -EBADMSG);
        assert_int_equal(error.reason, SYMBOLS_TRUNCATED);
        assert_non_null(strstr(error.text, "truncated: "));
    }
}

TEST(other_files_are_named_as_what_they_are)
{
    memcpy(fixture.pdb.data,
           "Microsoft C/C++ MSF 7.00\r\n\x1a"
           "DS\0\0\0",
           32);
    refused(SYMBOLS_WINDOWS, "a Windows PDB");
    memcpy(fixture.pdb.data, "MZ\0\0", 4);
    refused(SYMBOLS_DAMAGED, "does not begin as a PDB does");
    fixture_init(&fixture);
    memcpy(fixture.pdb.data + 16, "PDB v2.0", 8);
    refused(SYMBOLS_UNSUPPORTED, "'PDB v2.0'");
    memcpy(fixture.pdb.data + 16, "v4.0.303", 8);
    refused(SYMBOLS_DAMAGED, "'v4.0.303'");
}

TEST(damage_is_named_with_its_place)
{
    uint8_t *data = fixture.pdb.data;

    set_little(data + fixture.streams + 4, 31, 4); /* #Pdb one byte short */
    refused(SYMBOLS_DAMAGED, "stream #Pdb is missing or cut off");
    fixture_init(&fixture);
    memcpy(data + fixture.streams + 8, "#Xdb", 4);
    refused(SYMBOLS_DAMAGED, "stream #Pdb is missing or cut off");
    fixture_init(&fixture);
    memcpy(data + fixture.streams + 16 + 8, "#x", 2);
    refused(SYMBOLS_DAMAGED, "no stream #~");
    fixture_init(&fixture);
    memcpy(data + fixture.streams + 16 + 12 + 8, "#Blob", 5);
    refused(SYMBOLS_DAMAGED, "two streams #Blob");
    fixture_init(&fixture);
    set_little(data + fixture.streams + 16 + 12, UINT32_MAX, 4); /* offset + size must not wrap */
    refused(SYMBOLS_TRUNCATED, "stream #GUID ends at byte 4294967343");
    fixture_init(&fixture);
    memset(data + fixture.streams + 8, 'x', 40);
    refused(SYMBOLS_DAMAGED, "a stream's name does not end");
    fixture_init(&fixture);
    set_little(data + 12, UINT32_MAX, 4); /* the version's length */
    refused(SYMBOLS_TRUNCATED, "ends inside its header");
}

TEST(false_counts_are_refused)
{
    uint8_t *data = fixture.pdb.data;

    set_little(data + fixture.row_counts, 0x1000000, 4); /* documents */
    refused(SYMBOLS_DAMAGED, "impossible row counts");
    set_little(data + fixture.row_counts, 0xFFFFFF, 4);
    refused(SYMBOLS_DAMAGED, "16777215 rows of table 0x30");
    fixture_init(&fixture);
    set_little(data + fixture.row_counts + 4, 5, 4); /* described methods */
    refused(SYMBOLS_DAMAGED, "describes 5 methods of an assembly of 6");
    fixture_init(&fixture);
    set_little(data + fixture.rows_outside + 4, 0x2000000, 4);
    refused(SYMBOLS_DAMAGED, "stream #Pdb names impossible row counts");
    fixture_init(&fixture);
    data[fixture.tables + 8] |= 1; /* a Module table in a PDB */
    refused(SYMBOLS_DAMAGED, "");
    fixture_init(&fixture);
    data[fixture.heap_sizes] = 7; /* wide indices: the rows do not fit any more */
    refused(SYMBOLS_DAMAGED, "do not fit into stream #~");
}

TEST(false_document_names_are_refused)
{
    uint8_t *data = fixture.pdb.data;
    size_t name;

    set_little(data + fixture.documents, 0, 2); /* no name */
    refused(SYMBOLS_DAMAGED, "name of document 1 (blob 0x0)");
    set_little(data + fixture.documents, 0xFFFF, 2);
    refused(SYMBOLS_DAMAGED, "name of document 1 (blob 0xffff)");
    fixture_init(&fixture);
    name = fixture.blob + symbols_little(data + fixture.documents + 8, 2);
    data[name + 1] = 0x80; /* a separator beyond ASCII */
    refused(SYMBOLS_DAMAGED, "name of document 2");
    fixture_init(&fixture);
    data[name + 2] =
        0x7F; /* a part that is cut off by nothing but the next blob: still text, or refused */
    data[name] = 0x7F; /* the name itself as long as possible: runs into other blobs */
    refused(SYMBOLS_DAMAGED, "name of document 2");
}

TEST(names_become_valid_utf8)
{
    struct symbols *s;
    struct symbols_document document;
    size_t name = fixture.blob + symbols_little(fixture.pdb.data + fixture.documents, 2);
    size_t part = fixture.blob + fixture.pdb.data[name + 4]; /* "A.cs" */

    memcpy(fixture.pdb.data + part + 1, "\xC3\xA9\xFF\0", 4);
    s = load_good();
    assert_int_equal(symbols_document(s, 1, &document), 0);
    assert_string_equal(document.file, "/src/\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    symbols_free(s);
}

static struct symbols_image image_of_fixture(const uint8_t *checksum)
{
    struct symbols_image image = {.has_codeview = true, .portable = true, .methods = 6};

    memcpy(image.id, fixture_id, sizeof(fixture_id));
    if (checksum)
        image.sha256[image.sha256_count++] = checksum;
    return image;
}

TEST(a_pdb_of_another_build_is_not_used)
{
    struct symbols_image image = image_of_fixture(NULL);
    struct symbols_error error;
    struct symbols *symbols;

    for (size_t i = 0; i < sizeof(image.id); i++) { /* the stamp counts like the GUID */
        image.id[i] ^= 0x10;
        assert_int_equal(load(fixture.pdb.data, fixture.pdb.size, &image, &symbols, &error),
                         -ESTALE);
        assert_int_equal(error.reason, SYMBOLS_OTHER_BUILD);
        image.id[i] ^= 0x10;
    }
    image.id[0] ^= 0x10;
    load(fixture.pdb.data, fixture.pdb.size, &image, &symbols, &error);
    assert_string_equal(
        error.text,
        "belongs to another build: its id is 04030201-0605-0807-090a-0b0c0d0e0f10 14131211, "
        "the assembly's PDB has 04030211-0605-0807-090a-0b0c0d0e0f10 14131211");
    image = image_of_fixture(NULL);
    image.methods = 7;
    assert_int_equal(load(fixture.pdb.data, fixture.pdb.size, &image, &symbols, &error), -EBADMSG);
    assert_string_equal(error.text, "damaged: it is for an assembly of 6 methods, this one has 7");
}

TEST(no_altered_byte_gets_past_the_checksum)
{
    uint8_t digest[SYMBOLS_SHA256_SIZE] = {0};
    struct symbols_image image = image_of_fixture(digest);
    struct symbols_error error;
    struct symbols *symbols;
    unsigned forged = 0;

    fixture_checksum(&fixture, digest);
    assert_int_equal(load(fixture.pdb.data, fixture.pdb.size, &image, &symbols, &error), 0);
    assert_true(symbols_verified(symbols));
    symbols_free(symbols);
    for (size_t i = 0; i < fixture.pdb.size; i++) {
        fixture.pdb.data[i] ^= 1;
        assert_true(load(fixture.pdb.data, fixture.pdb.size, &image, &symbols, &error) < 0);
        forged += error.reason == SYMBOLS_FORGED;
        fixture.pdb.data[i] ^= 1;
    }
    assert_true(forged > fixture.pdb.size / 2);
}

TEST(running_out_of_memory_is_an_error_at_every_allocation)
{
    struct symbols_error error;
    struct symbols *symbols = NULL;
    int err = -ENOMEM;

    for (long n = 0; err == -ENOMEM && n < 100; n++) {
        uint8_t *copy = memory_alloc(fixture.pdb.size);

        memcpy(copy, fixture.pdb.data, fixture.pdb.size);
        memory_fail_after(n);
        err = symbols_new(copy, fixture.pdb.size, NULL, &symbols, &error);
        memory_fail_after(-1);
        assert_true(err ? error.reason == SYMBOLS_MEMORY && !symbols : n >= 3);
    }
    assert_int_equal(err, 0);
    for (uint32_t id = 1; id <= 2; id++) {
        char *text;
        size_t size;

        memory_fail_after(0);
        assert_int_equal(symbols_source(symbols, id, &text, &size), -ENOMEM);
        memory_fail_after(-1);
    }
    symbols_free(symbols);
}
