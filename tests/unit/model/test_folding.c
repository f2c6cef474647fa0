#include "model/own.h"

#include "unit/model/model_log.h"

#include <stdarg.h>

static struct model_own *own;

static int teardown(void **state)
{
    int err = model_teardown(state);

    model_own_free(own);
    own = NULL;
    return err;
}

TEST_EACH(model_setup, teardown);

/*
 * A log of stacks, each of words parted by blanks: a letter alone is a method of own code, "linq"
 * and "list" and "io" and "web" are of the framework or a package. Each allocates 1, 2, 4, ... bytes.
 */
static const char *const methods[] = {
    "a", "b", "c", "d", "linq", "more", "list", "io", "web", "page",
};
static const char definitions[] = HEADER
    "{\"kind\":\"module\",\"id\":1,\"name\":\"App\",\"path\":\"/a/App.dll\",\"owner\":\"own\"}\n"
    "{\"kind\":\"module\",\"id\":2,\"name\":\"Core\",\"path\":\"/f/Core.dll\","
    "\"owner\":\"framework\"}\n"
    "{\"kind\":\"module\",\"id\":3,\"name\":\"Web\",\"path\":\"/p/Web.dll\","
    "\"owner\":\"package\"}\n"
    "{\"kind\":\"thread\",\"id\":1,\"os\":1}\n{\"kind\":\"class\",\"id\":1,\"name\":\"T\"}\n"
    "{\"kind\":\"method\",\"id\":1,\"name\":\"App.P.a()\",\"module\":1}\n"
    "{\"kind\":\"method\",\"id\":2,\"name\":\"App.P.b()\",\"module\":1}\n"
    "{\"kind\":\"method\",\"id\":3,\"name\":\"App.P.c()\",\"module\":1}\n"
    "{\"kind\":\"method\",\"id\":4,\"name\":\"App.P.d()\",\"module\":1}\n"
    "{\"kind\":\"method\",\"id\":5,\"name\":\"System.Linq.Enumerable.Where<T>(System.Func<T>)\","
    "\"module\":2}\n"
    "{\"kind\":\"method\",\"id\":6,\"name\":\"System.Linq.Enumerable.<>c.<M>b__0()\","
    "\"module\":2}\n"
    "{\"kind\":\"method\",\"id\":7,\"name\":\"System.Collections.Generic.List<T>..ctor()\","
    "\"module\":2}\n"
    "{\"kind\":\"method\",\"id\":8,\"name\":\"Interop.Sys.Read()\",\"module\":2}\n"
    "{\"kind\":\"method\",\"id\":9,\"name\":\"Web.Hosting.Server.Run()\",\"module\":3}\n"
    "{\"kind\":\"method\",\"id\":10,\"name\":\"Page.Draw()\",\"module\":3}\n";

static unsigned method_of(const char *word, size_t size)
{
    for (unsigned i = 0; i < COUNT_OF(methods); i++)
        if (strlen(methods[i]) == size && memcmp(methods[i], word, size) == 0)
            return i + 1;
    fail_msg("no method %s", word);
    return 0;
}

static void read_stacks(const char *const *stacks, size_t count)
{
    static char text[1 << 16];
    size_t at = (size_t)snprintf(text, sizeof(text), "%s", definitions);
    unsigned node = 0, bytes = 1;

    for (size_t i = 0; i < count; i++, bytes *= 2) {
        unsigned parent = 0;

        for (const char *word = stacks[i]; *word; word += strspn(word, " ")) {
            size_t size = strcspn(word, " ");

            at += (size_t)snprintf(text + at, sizeof(text) - at,
                                   "{\"kind\":\"node\",\"id\":%u,\"parent\":%u,\"method\":%u,"
                                   "\"il\":%u}\n",
                                   node + 1, parent, method_of(word, size), node);
            parent = ++node;
            word += size;
        }
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "{\"kind\":\"alloc\",\"t\":1,\"thread\":1,\"class\":1,\"bytes\":%u,"
                               "\"node\":%u,\"il\":9}\n",
                               bytes, parent);
    }
    assert_true(at < sizeof(text) - 200);
    model_text(&plain_options, text);
    model_own_free(own);
    assert_int_equal(
        model_own_new(model_defs(model), model_log(model), NULL, NULL, 0, &own, why, sizeof(why)),
        0);
    assert_int_equal(model_know(model, own, NULL), 0);
}

/* The tree in one line: names as above, or of what is folded; "a 1 (b 2, c 4)": a's own is 1. */
static const char *tree_of(const struct model_shape *shape)
{
    static char text[2000];
    size_t at = 0;

    assert_int_equal(model_tree_of(&everything, shape), 0);
    for (uint32_t i = 1; i < tree->node_count; i++) {
        const struct model_node *n = &tree->nodes[i];
        const struct model_place *p = &tree->places[n->place];
        const char *name = p->kind == MODEL_PLACE_METHOD ? methods[p->method - 1] : p->name;
        unsigned depth = n->depth;

        if (i > 1) {
            const struct model_node *last = &tree->nodes[i - 1];

            for (unsigned d = last->depth; d > depth; d--)
                text[at++] = ')';
            at += (size_t)snprintf(text + at, sizeof(text) - at, last->depth < depth ? " (" : ", ");
        }
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s", name);
        if (p->kind == MODEL_PLACE_FOLDED)
            at += (size_t)snprintf(text + at, sizeof(text) - at, "x%u", p->count);
        if (tree->self[MODEL_BYTES][i] > 0)
            at +=
                (size_t)snprintf(text + at, sizeof(text) - at, " %.0f", tree->self[MODEL_BYTES][i]);
    }
    for (unsigned d = tree->nodes[tree->node_count - 1].depth; d > 1; d--)
        text[at++] = ')';
    text[at] = '\0';
    return text;
}

static const char *fold(const struct model_shape *shape, size_t count, ...)
{
    const char *stacks[16];
    va_list list;

    va_start(list, count);
    for (size_t i = 0; i < count; i++)
        stacks[i] = va_arg(list, const char *);
    va_end(list);
    read_stacks(stacks, count);
    return tree_of(shape);
}

static const struct model_shape recursion = {.fold_recursion = true},
                                framework = {.fold_framework = true},
                                both = {.fold_recursion = true, .fold_framework = true};

TEST(a_method_that_calls_itself_is_one_frame)
{
    assert_string_equal(fold(&recursion, 1, "a a a"), "a 1");
    assert_string_equal(fold(&recursion, 3, "a b b b c", "a b", "a b b"), "a (b 6 (c 1))");
}

TEST(a_cycle_is_one_frame_each)
{
    assert_string_equal(fold(&recursion, 1, "a b a b c"), "a (b (c 1))");
    assert_string_equal(fold(&recursion, 1, "a b a b a b a b"), "a (b 1)");
    assert_string_equal(fold(&recursion, 1, "d a b c a b c a b c d"), "d 1");
}

TEST(a_frame_goes_back_to_that_of_its_method)
{
    assert_string_equal(fold(&recursion, 1, "a b a"), "a 1");
    assert_string_equal(fold(&recursion, 3, "a b a c", "a b", "a c"), "a (c 5, b 2)");
    assert_string_equal(fold(&recursion, 2, "d a b c b a c", "d a b c"), "d (a (b (c 2), c 1))");
}

TEST(frames_of_others_do_not_go_back)
{
    assert_string_equal(fold(&recursion, 1, "a list b list c list"),
                        "a (list (b (list (c (list 1)))))");
    assert_string_equal(fold(&both, 1, "a linq more b linq more c linq more"),
                        "a (System.Linqx2 (b (System.Linqx2 (c (System.Linqx2 1)))))");
}

TEST(stacks_that_fold_alike_are_one)
{
    assert_string_equal(fold(&recursion, 4, "a b", "a b a b", "a b a b a b", "a b c"),
                        "a (b 7 (c 8))");
}

TEST(of_a_cycle_the_last_line_stays)
{
    static const struct model_shape il = {.grain = MODEL_GRAIN_IL, .fold_recursion = true};

    /* node numbers are the offsets of calls: a calls at 1, 2, 3, the last a allocates at 9 */
    fold(&il, 1, "a a a b");
    assert_int_equal(tree->node_count, 3);
    assert_int_equal(tree->places[tree->nodes[1].place].il, 3);
    assert_int_equal(tree->places[tree->nodes[2].place].il, 9);
}

TEST(runs_of_framework_are_called_by_their_namespace)
{
    assert_string_equal(fold(&framework, 1, "a linq more b"), "a (System.Linqx2 (b 1))");
    assert_string_equal(fold(&framework, 1, "a linq list b"), "a (Systemx2 (b 1))");
    assert_string_equal(fold(&framework, 1, "a linq io b"), "a (Corex2 (b 1))");
    assert_string_equal(fold(&framework, 1, "a web linq b"), "a (x2 (b 1))");
    assert_string_equal(fold(&framework, 2, "a web page linq", "a"), "a 2 (x3 1)");
}

TEST(a_frame_alone_is_not_folded)
{
    assert_string_equal(fold(&framework, 1, "a linq b"), "a (linq (b 1))");
    assert_string_equal(fold(&framework, 1, "linq a list"), "linq (a (list 1))");
}

TEST(runs_below_the_last_own_frame_and_above_the_first_fold)
{
    assert_string_equal(fold(&framework, 2, "web page a linq more", "web page a linq"),
                        "Webx2 (a (linq 2, System.Linqx2 1))");
}

TEST(runs_of_one_name_are_one_node_with_the_longest_count)
{
    assert_string_equal(fold(&framework, 3, "a linq more b", "a more linq linq c", "a linq more"),
                        "a (System.Linqx3 4 (c 2, b 1))");
}

TEST(own_code_that_calls_itself_through_the_framework_is_a_cycle)
{
    assert_string_equal(fold(&both, 1, "a linq more a linq more a linq more b"),
                        "a (System.Linqx2 (b 1))");
    assert_string_equal(fold(&both, 1, "a linq more a more linq more a linq more b"),
                        "a (System.Linqx3 (b 1))");
}

TEST(where_own_code_makes_next_to_nothing_packages_stay)
{
    assert_string_equal(
        fold(&framework, 8, "a web linq more", "web list linq", "web linq more", "web linq more",
             "web linq more", "web linq more", "web linq more", "web linq more page"),
        "web (System.Linqx2 124 (page 128), Systemx2 2), a (web (System.Linqx2 1))");
    assert_false(tree->places[tree->nodes[1].place].own);
    assert_true(tree->places[tree->nodes[1].place].near);
}

TEST(a_filter_keeps_what_own_code_makes_itself_or_through_others)
{
    const struct model_filter only_own = {.own = true};

    fold(&framework, 4, "a", "web a linq", "web linq", "web page");
    assert_int_equal(model_tree_of(&only_own, &framework), 0);
    assert_true(tree->total[MODEL_BYTES][0] == 3);
}

TEST(without_word_of_whose_code_it_is_nothing_is_folded)
{
    read_stacks((const char *const[]){"a linq more b a"}, 1);
    assert_int_equal(model_know(model, NULL, NULL), 0);
    assert_string_equal(tree_of(&framework), "a (linq (more (b (a 1))))");
    assert_string_equal(tree_of(&recursion), "a (linq (more (b (a 1))))");
}
