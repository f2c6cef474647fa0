#include "clr/blob.h"

#include <shadowtrace/clr/constants.h>

struct clr_blob clr_blob_of(const uint8_t *blob, size_t size)
{
    return (struct clr_blob){blob, blob ? blob + size : blob, false};
}

uint8_t clr_blob_byte(struct clr_blob *b)
{
    if (b->at >= b->end) {
        b->bad = true;
        return 0;
    }
    return *b->at++;
}

uint32_t clr_blob_number(struct clr_blob *b)
{
    uint32_t first = clr_blob_byte(b), value;

    if (first < 0x80)
        return first;
    if (first < 0xC0) {
        value = (first & 0x3F) << 8;
        value |= clr_blob_byte(b);
    } else {
        b->bad |= first >= 0xE0;
        value = (first & 0x1F) << 24;
        value |= (uint32_t)clr_blob_byte(b) << 16;
        value |= (uint32_t)clr_blob_byte(b) << 8;
        value |= clr_blob_byte(b);
    }
    return b->bad ? 0 : value;
}

uint32_t clr_blob_token(struct clr_blob *b)
{
    static const uint32_t tables[] = {mdtTypeDef, mdtTypeRef, mdtTypeSpec};
    uint32_t coded = clr_blob_number(b);

    b->bad |= (coded & 3) == 3;
    return b->bad ? 0 : tables[coded & 3] | coded >> 2;
}
