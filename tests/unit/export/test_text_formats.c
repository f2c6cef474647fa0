#include "unit/export/written.h"

#include <jansson.h>

TEST(collapsed_stacks_are_lines_that_names_cannot_break)
{
    struct written w = written_by(export_collapsed, a_profile());

    assert_string_equal(w.data, "App.P.Main();Ns.<Main>$<\"&:?\?>.Run(System.Int32);"
                                "[System.String] 100\n"
                                "App.P.Main();[System.Byte[]] 20000001\n"
                                "(callers not in the log);[System.String] 24\n");
    free(w.data);
}

static int64_t sum(const json_t *numbers)
{
    int64_t total = 0;
    const json_t *number;
    size_t i;

    json_array_foreach(numbers, i, number) total += json_integer_value(number);
    return total;
}

TEST(speedscope_has_bytes_and_objects_and_stacks_root_first)
{
    struct written w = written_by(export_speedscope, a_profile());
    json_t *json = json_loads(w.data, JSON_REJECT_DUPLICATES, NULL);
    const json_t *frames = json_object_get(json_object_get(json, "shared"), "frames");
    const json_t *profiles = json_object_get(json, "profiles"), *bytes, *objects, *stack;

    assert_non_null(json);
    assert_string_equal(json_string_value(json_object_get(json, "$schema")),
                        "https://www.speedscope.app/file-format-schema.json");
    assert_string_equal(json_string_value(json_object_get(json, "name")),
                        "App.dll (the log is <not> complete & more; folded)");
    assert_int_equal(json_array_size(frames), 6);
    assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 0), "name")),
                        "App.P.Main()");
    assert_int_equal(json_integer_value(json_object_get(json_array_get(frames, 3), "line")), 14);
    assert_string_equal(json_string_value(json_object_get(json_array_get(frames, 1), "name")),
                        HOSTILE);
    assert_null(json_object_get(json_array_get(frames, 1), "file"));
    bytes = json_array_get(profiles, 0);
    objects = json_array_get(profiles, 1);
    assert_int_equal(sum(json_object_get(bytes, "weights")), 20000125);
    assert_int_equal(json_integer_value(json_object_get(bytes, "endValue")), 20000125);
    assert_string_equal(json_string_value(json_object_get(bytes, "unit")), "bytes");
    assert_int_equal(sum(json_object_get(objects, "weights")), 6);
    assert_string_equal(json_string_value(json_object_get(objects, "unit")), "none");
    stack = json_array_get(json_object_get(bytes, "samples"), 0);
    assert_int_equal(json_array_size(stack), 3);
    assert_int_equal(json_integer_value(json_array_get(stack, 0)), 0);
    assert_int_equal(json_integer_value(json_array_get(stack, 2)), 2);
    json_decref(json);
    free(w.data);
}

/* What a .zip of one entry holds, found by its central directory, as readers do. */
static struct written unzipped(const struct written *zip)
{
    const char *end = zip->data + zip->size - 22, *central, *local;
    struct written w;
    size_t packed;

    assert_int_equal(little(end, 4), 0x06054b50);
    assert_int_equal(little(end + 10, 2), 1);
    central = zip->data + little(end + 16, 4);
    assert_ptr_equal(central + little(end + 12, 4), end);
    assert_int_equal(little(central, 4), 0x02014b50);
    packed = little(central + 20, 4);
    local = zip->data + little(central + 42, 4);
    assert_int_equal(little(local, 4), 0x04034b50);
    assert_memory_equal(central + 46, local + 30, little(local + 26, 2));
    local += 30 + little(local + 26, 2) + little(local + 28, 2);
    w = unpacked(local, packed, -MAX_WBITS);
    assert_int_equal(little(central + 24, 4), w.size);
    assert_int_equal(little(central + 16, 4), crc32(0, (const Bytef *)w.data, (unsigned)w.size));
    assert_int_equal(little(local + packed, 4), 0x08074b50);
    assert_memory_equal(local + packed + 4, central + 16, 12);
    return w;
}

TEST(perfview_gets_one_entry_of_xml_whatever_the_names)
{
    struct written zip = written_by(export_perfview, a_profile());
    struct written xml = unzipped(&zip);

    assert_string_equal(xml.data,
                        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                        "<StackWindow>\n"
                        "<StackSource>\n"
                        " <Frames Count=\"6\">\n"
                        "  <Frame ID=\"0\">App!App.P.Main()</Frame>\n"
                        "  <Frame ID=\"1\">System.Private.CoreLib!Ns.&lt;Main&gt;$&lt;&quot;&amp;;"
                        "\xef\xbf\xbd\xe2\x80\xae&gt;.Run(System.Int32)</Frame>\n"
                        "  <Frame ID=\"2\">Type System.String</Frame>\n"
                        "  <Frame ID=\"3\">App!App.P.Main()</Frame>\n"
                        "  <Frame ID=\"4\">Type System.Byte[]</Frame>\n"
                        "  <Frame ID=\"5\">(callers not in the log)</Frame>\n"
                        " </Frames>\n"
                        " <Stacks Count=\"7\">\n"
                        "  <Stack ID=\"0\" CallerID=\"-1\" FrameID=\"0\"/>\n"
                        "  <Stack ID=\"1\" CallerID=\"0\" FrameID=\"1\"/>\n"
                        "  <Stack ID=\"2\" CallerID=\"1\" FrameID=\"2\"/>\n"
                        "  <Stack ID=\"3\" CallerID=\"-1\" FrameID=\"3\"/>\n"
                        "  <Stack ID=\"4\" CallerID=\"3\" FrameID=\"4\"/>\n"
                        "  <Stack ID=\"5\" CallerID=\"-1\" FrameID=\"5\"/>\n"
                        "  <Stack ID=\"6\" CallerID=\"5\" FrameID=\"2\"/>\n"
                        " </Stacks>\n"
                        " <Samples Count=\"3\">\n"
                        "  <Sample ID=\"0\" Time=\"0\" StackID=\"2\" Metric=\"100\"/>\n"
                        "  <Sample ID=\"1\" Time=\"0\" StackID=\"4\" Metric=\"20000001\"/>\n"
                        "  <Sample ID=\"2\" Time=\"0\" StackID=\"6\" Metric=\"24\"/>\n"
                        " </Samples>\n"
                        "</StackSource>\n"
                        "<Notes>the log is &lt;not&gt; complete &amp; more\nfolded\n</Notes>\n"
                        "</StackWindow>\n");
    free(xml.data);
    free(zip.data);
}

TEST(what_cannot_be_written_is_told)
{
    failures_are_told(export_collapsed);
    failures_are_told(export_speedscope);
    failures_are_told(export_perfview);
}
