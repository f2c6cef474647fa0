#include "clr/blob.h"

#include "base/compressed.h"

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
    uint32_t value;
    size_t size = compressed_read(b->at, (size_t)(b->end - b->at), &value);

    b->bad |= !size;
    b->at = size ? b->at + size : b->end;
    return value;
}

uint32_t clr_blob_token(struct clr_blob *b)
{
    static const uint32_t tables[] = {mdtTypeDef, mdtTypeRef, mdtTypeSpec};
    uint32_t coded = clr_blob_number(b);

    b->bad |= (coded & 3) == 3;
    return b->bad ? 0 : tables[coded & 3] | coded >> 2;
}
