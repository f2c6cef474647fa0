/* Captured bytes to JSON; the writer's. */
#include "values/capture.h"
#include "values/values.h"

#include "base/memory.h"
#include "clr/utf16.h"

#include <shadowtrace/clr/constants.h>

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define EXACT_MAX ((INT64_C(1) << 53) - 1) /* what every JSON reader keeps */

struct reader {
    const uint8_t *at, *end;
    struct buffer *out;
    int err; /* -EAGAIN: a type has no name yet */
};

static void put_value(struct reader *r);

/* Reads `size` bytes. Returns: false: the data was cut before. */
static bool take(struct reader *r, void *to, size_t size)
{
    if ((size_t)(r->end - r->at) < size) {
        r->at = r->end;
        memset(to, 0, size);
        return false;
    }
    memcpy(to, r->at, size);
    r->at += size;
    return true;
}

static void put_cut(struct reader *r)
{
    buffer_text(r->out, "{\"cut\":true}");
}

/* ---- numbers ---- */

static void put_unsigned(struct reader *r, uint64_t value)
{
    buffer_format(r->out, value <= (uint64_t)EXACT_MAX ? "%llu" : "\"%llu\"",
                  (unsigned long long)value);
}

static void put_signed(struct reader *r, int64_t value)
{
    buffer_format(r->out, value <= EXACT_MAX && value >= -EXACT_MAX ? "%lld" : "\"%lld\"",
                  (long long)value);
}

static void put_real(struct reader *r, double value, const char *format)
{
    if (isnan(value))
        buffer_text(r->out, "\"NaN\"");
    else if (isinf(value))
        buffer_text(r->out, value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else
        buffer_format(r->out, format, value);
}

static void put_utf16(struct reader *r, const clr_wchar *text, size_t units)
{
    char *utf8 = memory_alloc(CLR_UTF8_SIZE(units));

    if (!utf8) {
        r->out->failed = 1;
        return;
    }
    clr_utf16_to_utf8(utf8, CLR_UTF8_SIZE(units), text, units);
    buffer_json_string(r->out, utf8);
    memory_free(utf8);
}

static void put_bits(struct reader *r, uint8_t element, uint64_t bits)
{
    clr_wchar unit = (clr_wchar)bits;
    double number;
    float single;

    switch (element) {
    case ELEMENT_TYPE_BOOLEAN:
        buffer_text(r->out, bits ? "true" : "false");
        return;
    case ELEMENT_TYPE_CHAR:
        put_utf16(r, &unit, 1);
        return;
    case ELEMENT_TYPE_R4:
        memcpy(&single, &bits, sizeof(single));
        put_real(r, (double)single, "%.9g");
        return;
    case ELEMENT_TYPE_R8:
        memcpy(&number, &bits, sizeof(number));
        put_real(r, number, "%.17g");
        return;
    case ELEMENT_TYPE_U1:
    case ELEMENT_TYPE_U2:
    case ELEMENT_TYPE_U4:
    case ELEMENT_TYPE_U8:
    case ELEMENT_TYPE_U:
        put_unsigned(r, bits);
        return;
    default:
        put_signed(r, (int64_t)bits);
    }
}

static void put_primitive(struct reader *r)
{
    uint8_t element;
    uint64_t bits;

    if (take(r, &element, 1) && take(r, &bits, 8))
        put_bits(r, element, bits);
    else
        put_cut(r);
}

/* flags and scale, high, low 64 bits of 96: as C# writes it, trailing zeros and all. */
static void put_decimal(struct reader *r)
{
    struct {
        uint32_t flags, high;
        uint64_t low;
    } raw;
    char digits[48];
    unsigned __int128 number;
    unsigned count = 0, scale;

    if (!take(r, &raw, sizeof(raw))) {
        put_cut(r);
        return;
    }
    number = (unsigned __int128)raw.high << 64 | raw.low;
    scale = raw.flags >> 16 & 31;
    for (; number || count <= scale; number /= 10)
        digits[count++] = (char)('0' + (unsigned)(number % 10));
    buffer_char(r->out, '"');
    if (raw.flags >> 31)
        buffer_char(r->out, '-');
    while (count) {
        buffer_char(r->out, digits[--count]);
        if (count == scale && scale)
            buffer_char(r->out, '.');
    }
    buffer_char(r->out, '"');
}

/* ---- enums ---- */

static const struct values_name *named(const struct values_type *type, uint64_t value)
{
    for (uint32_t i = 0; i < type->names; i++)
        if (type->name[i].value == value)
            return &type->name[i];
    return NULL;
}

/* "A, B" of [Flags]; false when bits are left that have no name. Names are by falling value. */
static bool put_flags(struct reader *r, const struct values_type *type, uint64_t value)
{
    const char *found[64];
    size_t count = 0;

    for (uint32_t i = 0; i < type->names && value && count < 64; i++) {
        if (type->name[i].value && (value & type->name[i].value) == type->name[i].value) {
            value &= ~type->name[i].value;
            found[count++] = type->name[i].name;
        }
    }
    if (value || !count)
        return false;
    buffer_char(r->out, '"');
    while (count--)
        buffer_format(r->out, "%s%s", found[count], count ? ", " : "");
    buffer_char(r->out, '"');
    return true;
}

static void put_enum(struct reader *r)
{
    const struct values_type *type;
    const struct values_name *name;
    uint64_t value;

    if (!take(r, &type, 8) || !take(r, &value, 8)) {
        put_cut(r);
        return;
    }
    name = named(type, value);
    if (name)
        buffer_json_string(r->out, name->name);
    else if (!type->flags || !put_flags(r, type, value))
        put_bits(r, type->element, value);
}

/* ---- what has parts ---- */

static void put_string(struct reader *r)
{
    uint32_t counts[2];
    clr_wchar *text;

    if (!take(r, counts, sizeof(counts)) || (size_t)(r->end - r->at) < counts[1] * 2u) {
        r->at = r->end;
        put_cut(r);
        return;
    }
    text = memory_alloc(counts[1] * 2u + 1);
    if (!text) {
        r->out->failed = 1;
        return;
    }
    take(r, text, counts[1] * 2u); /* the bytes are not aligned */
    if (counts[1] < counts[0])
        buffer_format(r->out, "{\"length\":%u,\"text\":", counts[0]);
    put_utf16(r, text, counts[1]);
    if (counts[1] < counts[0])
        buffer_char(r->out, '}');
    memory_free(text);
}

static void put_items(struct reader *r)
{
    uint32_t taken;

    take(r, &taken, sizeof(taken));
    buffer_text(r->out, ",\"items\":[");
    for (uint32_t i = 0; i < taken; i++) {
        if (i)
            buffer_char(r->out, ',');
        put_value(r);
    }
    buffer_text(r->out, "]}");
}

/* Begins an object of JSON with the class that comes next. */
static void put_class(struct reader *r)
{
    const struct metadata_class *class;
    const char *text;

    take(r, &class, 8);
    text = class ? metadata_class_text(class) : "?";
    buffer_text(r->out, "{\"type\":");
    if (text)
        buffer_json_string(r->out, text);
    else
        r->err = -EAGAIN;
}

static void put_object(struct reader *r)
{
    put_class(r);
    buffer_char(r->out, '}');
}

static void put_boxed(struct reader *r)
{
    put_class(r);
    buffer_text(r->out, ",\"value\":");
    put_value(r);
    buffer_char(r->out, '}');
}

static void put_array(struct reader *r)
{
    uint32_t rank, length;

    put_class(r);
    take(r, &rank, sizeof(rank));
    buffer_text(r->out, rank == 1 ? ",\"length\":" : ",\"lengths\":[");
    for (uint32_t i = 0; i < rank && i < 32; i++) {
        take(r, &length, sizeof(length));
        buffer_format(r->out, "%s%u", i ? "," : "", length);
    }
    if (rank != 1)
        buffer_char(r->out, ']');
    put_items(r);
}

static void put_span(struct reader *r)
{
    uint32_t length;

    take(r, &length, sizeof(length));
    buffer_format(r->out, "{\"length\":%u", length);
    put_items(r);
}

/* "<Name>k__BackingField" is the property Name to those who wrote it. */
static void put_field_name(struct reader *r, const char *name)
{
    const char *end = *name == '<' ? strstr(name, ">k__BackingField") : NULL;
    char *property = end ? memory_strdup(name + 1) : NULL;

    if (property)
        property[end - name - 1] = '\0';
    buffer_json_string(r->out, property ? property : name);
    memory_free(property);
}

static void put_struct(struct reader *r)
{
    const struct values_type *type;

    if (!take(r, &type, 8)) {
        put_cut(r);
        return;
    }
    buffer_char(r->out, '{');
    for (uint32_t i = 0; i < type->fields; i++) {
        if (i)
            buffer_char(r->out, ',');
        put_field_name(r, type->field[i].name);
        buffer_char(r->out, ':');
        put_value(r);
    }
    buffer_char(r->out, '}');
}

static void put_pointer(struct reader *r)
{
    uint64_t address;

    take(r, &address, 8);
    buffer_format(r->out, "{\"pointer\":\"0x%llx\"", (unsigned long long)address);
    if (r->at < r->end && *r->at == CAPTURE_MISSING) {
        r->at++;
    } else {
        buffer_text(r->out, ",\"target\":");
        put_value(r);
    }
    buffer_char(r->out, '}');
}

static void put_reference(struct reader *r)
{
    buffer_text(r->out, "{\"ref\":");
    put_value(r);
    buffer_char(r->out, '}');
}

static void put_value(struct reader *r)
{
    static const char *const notes[] = {
        [CAPTURE_CUT] = "{\"cut\":true}",     [CAPTURE_NULL] = "null",
        [CAPTURE_MISSING] = "{\"out\":true}", [CAPTURE_UNREADABLE] = "{\"unreadable\":true}",
        [CAPTURE_MOVED] = "{\"moved\":true}",
    };
    static void (*const put[])(struct reader * r) = {
        [CAPTURE_PRIMITIVE] = put_primitive, [CAPTURE_DECIMAL] = put_decimal,
        [CAPTURE_ENUM] = put_enum,           [CAPTURE_STRING] = put_string,
        [CAPTURE_OBJECT] = put_object,       [CAPTURE_BOXED] = put_boxed,
        [CAPTURE_ARRAY] = put_array,         [CAPTURE_STRUCT] = put_struct,
        [CAPTURE_REF] = put_reference,       [CAPTURE_POINTER] = put_pointer,
        [CAPTURE_SPAN] = put_span,
    };
    uint8_t tag;

    take(r, &tag, 1); /* none: 0, which is that it was cut */
    if (tag < COUNT_OF(put) && put[tag])
        put[tag](r);
    else if (tag < COUNT_OF(notes))
        buffer_text(r->out, notes[tag]);
}

static void put_parameters(struct reader *r, const struct values_plan *plan, bool back)
{
    const char *separator = "";

    buffer_char(r->out, '{');
    for (uint32_t i = 0; i < plan->count; i++) {
        if (back && !plan->parameter[i].back)
            continue;
        buffer_text(r->out, separator);
        buffer_json_string(r->out, plan->parameter[i].name);
        buffer_char(r->out, ':');
        put_value(r);
        separator = ",";
    }
    buffer_char(r->out, '}');
}

/* What there is no name for yet is not there at all. */
static int append(struct buffer *out, const struct values_record *record, size_t from, size_t to,
                  bool back)
{
    struct reader r = {record->data + from, record->data + to, out, 0};
    size_t before = out->size;

    if (record->result && !back)
        put_value(&r);
    else
        put_parameters(&r, record->plan, back);
    if (r.err && out->data) {
        out->size = before;
        out->data[before] = '\0';
    }
    return r.err;
}

int values_append(struct buffer *out, const struct values_record *record)
{
    return append(out, record, 0, record->out ? record->out_at : record->size, false);
}

int values_append_out(struct buffer *out, const struct values_record *record)
{
    return append(out, record, record->out_at, record->size, true);
}
