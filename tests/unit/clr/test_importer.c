/* Our importer says what the runtime's says of each row of all assemblies of the SDK. */
#include "clr/com.h"
#include "clr/importer.h"
#include "clr/pe.h"
#include "clr/tables.h"
#include "base/library.h"
#include "support/dotnet.h"
#include "support/test.h"

#include <shadowtrace/clr/constants.h>
#include <shadowtrace/clr/dispenser.h>
#include <shadowtrace/clr/guids.h>

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNITS  300 /* few names are longer: those the runtime is asked for */
#define PARAMS 8

/* Everything that is said of a token. */
struct answer {
    hresult result;
    uint32_t number[4], length, size, params[PARAMS];
    const uint8_t *blob;
    clr_wchar name[UNITS];
};

typedef void asker(struct clr_metadata *import, uint32_t token, struct answer *out);

static void ask_type_def(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_type_def_props(import, token, out->name, UNITS, &out->length,
                                                   &out->number[0], NULL);
}

static void ask_base(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result =
        import->vtbl->get_type_def_props(import, token, NULL, 0, NULL, NULL, &out->number[0]);
}

static void ask_type_ref(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_type_ref_props(import, token, &out->number[0], out->name, UNITS,
                                                   &out->length);
}

static void ask_method(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_method_props(import, token, &out->number[0], out->name, UNITS,
                                                 &out->length, &out->number[1], &out->blob,
                                                 &out->size, &out->number[2], &out->number[3]);
}

static void ask_member(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_member_ref_props(import, token, &out->number[0], out->name,
                                                     UNITS, &out->length, &out->blob, &out->size);
}

static void ask_type_spec(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_type_spec_from_token(import, token, &out->blob, &out->size);
}

static void ask_method_spec(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result =
        import->vtbl->get_method_spec_props(import, token, &out->number[0], &out->blob, &out->size);
}

static void ask_nested(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_nested_class_props(import, token, &out->number[0]);
}

static void ask_params(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    void *enumerator = NULL;

    out->result = import->vtbl->enum_generic_params(import, &enumerator, token, out->params, PARAMS,
                                                    &out->size);
    if (enumerator)
        import->vtbl->close_enum(import, enumerator);
}

static void ask_param(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    out->result = import->vtbl->get_generic_param_props(import, token, &out->number[0],
                                                        &out->number[1], &out->number[2], NULL,
                                                        out->name, UNITS, &out->length);
}

/* A name as it lies, or what the functions say of it. */
static void ask_plain(struct clr_metadata *import, uint32_t token, struct answer *out)
{
    const struct clr_metadata_vtbl *v = import->vtbl;
    uint32_t *more = &out->number[0], at = 0;
    struct clr_name name;

    if (clr_importer_name(import, token, &name, more)) {
        for (unsigned i = 0; i < 2; i++) {
            if (i && at)
                out->name[at++] = '.';
            for (uint32_t k = 0; k < name.part[i].size && at < UNITS; k++)
                out->name[at++] = (unsigned char)name.part[i].text[k];
        }
        out->length = at + 1;
        return;
    }
    switch (clr_token_type(token)) {
    case mdtTypeDef:
        out->result =
            v->get_type_def_props(import, token, out->name, UNITS, &out->length, more, NULL);
        break;
    case mdtTypeRef:
        out->result = v->get_type_ref_props(import, token, more, out->name, UNITS, &out->length);
        break;
    case mdtMethodDef:
        out->result = v->get_method_props(import, token, more, out->name, UNITS, &out->length, NULL,
                                          NULL, NULL, NULL, NULL);
        break;
    case mdtMemberRef:
        out->result = v->get_member_ref_props(import, token, more, out->name, UNITS, &out->length,
                                              NULL, NULL);
        break;
    default:
        out->result = v->get_generic_param_props(import, token, more, NULL, NULL, NULL, out->name,
                                                 UNITS, &out->length);
        break;
    }
}

static const struct kind {
    const char *name;
    uint32_t token;
    asker *ask;
} kinds[] = {
    {"TypeDef", mdtTypeDef, ask_type_def},          {"base", mdtTypeDef, ask_base},
    {"TypeRef", mdtTypeRef, ask_type_ref},          {"MethodDef", mdtMethodDef, ask_method},
    {"MemberRef", mdtMemberRef, ask_member},        {"TypeSpec", mdtTypeSpec, ask_type_spec},
    {"MethodSpec", mdtMethodSpec, ask_method_spec}, {"nested", mdtTypeDef, ask_nested},
    {"of types", mdtTypeDef, ask_params},           {"of methods", mdtMethodDef, ask_params},
    {"GenericParam", mdtGenericParam, ask_param},   {"plain type", mdtTypeDef, ask_plain},
    {"plain TypeRef", mdtTypeRef, ask_plain},       {"plain method", mdtMethodDef, ask_plain},
    {"plain MemberRef", mdtMemberRef, ask_plain},   {"plain parameter", mdtGenericParam, ask_plain},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct tally {
    size_t same, asked, differ;
} tallies[KINDS];

/* In place of the runtime's importer: ours did not answer what reaches it. */
static hresult pass_type_def(struct clr_metadata *self, uint32_t token, clr_wchar *name,
                             uint32_t max, uint32_t *length, uint32_t *flags, uint32_t *extends)
{
    (void)self, (void)token, (void)name, (void)max, (void)length, (void)flags, (void)extends;
    return E_NOTIMPL;
}

static hresult pass_type_ref(struct clr_metadata *self, uint32_t token, uint32_t *scope,
                             clr_wchar *name, uint32_t max, uint32_t *length)
{
    (void)self, (void)token, (void)scope, (void)name, (void)max, (void)length;
    return E_NOTIMPL;
}

static hresult pass_method(struct clr_metadata *self, uint32_t token, uint32_t *owner,
                           clr_wchar *name, uint32_t max, uint32_t *length, uint32_t *attr,
                           const uint8_t **blob, uint32_t *size, uint32_t *rva, uint32_t *flags)
{
    (void)self, (void)token, (void)owner, (void)name, (void)max, (void)length, (void)attr;
    (void)blob, (void)size, (void)rva, (void)flags;
    return E_NOTIMPL;
}

static hresult pass_member(struct clr_metadata *self, uint32_t token, uint32_t *parent,
                           clr_wchar *name, uint32_t max, uint32_t *length, const uint8_t **blob,
                           uint32_t *size)
{
    (void)self, (void)token, (void)parent, (void)name, (void)max, (void)length, (void)blob;
    (void)size;
    return E_NOTIMPL;
}

static hresult pass_blob(struct clr_metadata *self, uint32_t token, const uint8_t **blob,
                         uint32_t *size)
{
    (void)self, (void)token, (void)blob, (void)size;
    return E_NOTIMPL;
}

static hresult pass_method_spec(struct clr_metadata *self, uint32_t token, uint32_t *parent,
                                const uint8_t **blob, uint32_t *size)
{
    (void)self, (void)token, (void)parent, (void)blob, (void)size;
    return E_NOTIMPL;
}

static hresult pass_nested(struct clr_metadata *self, uint32_t token, uint32_t *enclosing)
{
    (void)self, (void)token, (void)enclosing;
    return E_NOTIMPL;
}

static hresult pass_params(struct clr_metadata *self, void **enumerator, uint32_t token,
                           uint32_t *params, uint32_t max, uint32_t *count)
{
    (void)self, (void)enumerator, (void)token, (void)params, (void)max, (void)count;
    return E_NOTIMPL;
}

static hresult pass_param(struct clr_metadata *self, uint32_t token, uint32_t *sequence,
                          uint32_t *flags, uint32_t *owner, uint32_t *reserved, clr_wchar *name,
                          uint32_t max, uint32_t *length)
{
    (void)self, (void)token, (void)sequence, (void)flags, (void)owner, (void)reserved;
    (void)name, (void)max, (void)length;
    return E_NOTIMPL;
}

static unsigned released;

static uint32_t pass_release(struct clr_metadata *self)
{
    (void)self;
    return ++released, 0;
}

static const struct clr_metadata_vtbl pass_vtbl = {
    .release = pass_release,
    .get_type_def_props = pass_type_def,
    .get_type_ref_props = pass_type_ref,
    .get_method_props = pass_method,
    .get_member_ref_props = pass_member,
    .get_type_spec_from_token = pass_blob,
    .get_method_spec_props = pass_method_spec,
    .get_nested_class_props = pass_nested,
    .enum_generic_params = pass_params,
    .get_generic_param_props = pass_param,
};
static struct clr_metadata pass = {&pass_vtbl};

static void compare(const struct kind *kind, struct clr_metadata *ours, struct clr_metadata *theirs,
                    uint32_t rows, struct tally *tally)
{
    for (uint32_t row = 1; row <= rows; row++) {
        static struct answer by_us, by_them;

        memset(&by_us, 0, sizeof(by_us));
        memset(&by_them, 0, sizeof(by_them));
        kind->ask(ours, kind->token | row, &by_us);
        if (by_us.result == E_NOTIMPL) {
            tally->asked++;
            continue;
        }
        kind->ask(theirs, kind->token | row, &by_them);
        if (memcmp(&by_us, &by_them, sizeof(by_us)) == 0)
            tally->same++;
        else if (!tally->differ++)
            print_message("%s 0x%08x: %08x %08x %u, %08x %08x %u\n", kind->name, kind->token | row,
                          (unsigned)by_us.result, by_us.number[0], by_us.length,
                          (unsigned)by_them.result, by_them.number[0], by_them.length);
    }
}

struct mapped {
    const uint8_t *bytes;
    size_t size;
};

static bool file_map(const char *path, struct mapped *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat stat = {0};
    void *bytes = MAP_FAILED;

    if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0x1000)
        bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    *out = (struct mapped){bytes, (size_t)stat.st_size};
    return bytes != MAP_FAILED;
}

static void file_unmap(const struct mapped *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size);
}

static void compare_file(struct clr_metadata_dispenser *dispenser, const char *path)
{
    const uint8_t *metadata;
    struct mapped file;
    struct clr_unknown *theirs = NULL;
    struct clr_metadata *ours;
    struct clr_tables tables;
    uint32_t size;

    if (!file_map(path, &file))
        return;
    metadata = clr_pe_metadata(file.bytes, true, &size);
    if (metadata &&
        dispenser->vtbl->open_scope_on_memory(dispenser, metadata, size, ofReadOnly,
                                              &clr_iid_metadata_import2, &theirs) == S_OK) {
        ours = clr_importer_new(&pass, metadata, size);
        assert_ptr_not_equal(ours, &pass);
        assert_true(clr_tables_open(metadata, size, &tables));
        for (size_t i = 0; i < KINDS; i++)
            compare(&kinds[i], ours, (struct clr_metadata *)(void *)theirs,
                    tables.table[kinds[i].token >> 24].count, &tallies[i]);
        clr_release(ours);
        clr_release(theirs);
    }
    file_unmap(&file);
}

/* The runtime is started for it: its importer allocates by what only that sets up. */
static struct clr_metadata_dispenser *dispenser_make(void)
{
    static const char *const names[] = {"TRUSTED_PLATFORM_ASSEMBLIES"};
    int (*start)(const char *, const char *, int, const char *const *, const char *const *, void **,
                 unsigned *) = NULL;
    clr_metadata_get_dispenser *get = NULL;
    const struct library_symbol wanted[] = {{"coreclr_initialize", &start},
                                            {"MetaDataGetDispenser", &get}};
    struct clr_unknown *made = NULL;
    char library[PATH_MAX] = "", assemblies[PATH_MAX];
    const char *values[] = {assemblies};
    unsigned domain;
    glob_t files;
    void *host;

    dotnet_files("shared/Microsoft.NETCore.App/1?.*/libcoreclr.so", &files);
    if (files.gl_pathc)
        snprintf(library, sizeof(library), "%s", files.gl_pathv[files.gl_pathc - 1]);
    globfree(&files);
    snprintf(assemblies, sizeof(assemblies), "%.*s/System.Private.CoreLib.dll",
             (int)(strlen(library) - sizeof("libcoreclr.so")), library);
    if (!*library || !library_load(library, wanted, sizeof(wanted) / sizeof(wanted[0])) ||
        start(library, "test", 1, names, values, &host, &domain) < 0 ||
        get(&clr_clsid_metadata_dispenser, &clr_iid_metadata_dispenser_ex, &made) != S_OK)
        return NULL;
    return (struct clr_metadata_dispenser *)(void *)made;
}

TEST(every_answer_is_that_of_the_runtime)
{
    static const char *const where[] = {"shared/*/*/*.dll", "sdk/*/*.dll", "sdk/*/Roslyn/*/*.dll",
                                        "sdk/*/FSharp/*.dll"};
    struct clr_metadata_dispenser *dispenser = dispenser_make();

    if (!dispenser)
        skip();
    for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
        glob_t files;

        dotnet_files(where[i], &files);
        for (size_t k = 0; k < files.gl_pathc; k++)
            compare_file(dispenser, files.gl_pathv[k]);
        globfree(&files);
    }
    clr_release(dispenser);
    for (size_t i = 0; i < KINDS; i++) {
        print_message("%s: %zu same, %zu left to the runtime, %zu differ\n", kinds[i].name,
                      tallies[i].same, tallies[i].asked, tallies[i].differ);
        assert_int_equal(tallies[i].differ, 0);
        assert_true(tallies[i].same > 10000);
    }
}

TEST(a_function_that_is_not_called_says_that_it_is_not_there)
{
    const uint8_t *metadata = NULL;
    struct clr_metadata *import;
    struct mapped file;
    uint32_t size = 0;
    glob_t files;

    dotnet_files("shared/Microsoft.NETCore.App/1?.*/System.Collections.dll", &files);
    if (!files.gl_pathc || !file_map(files.gl_pathv[0], &file))
        skip();
    globfree(&files);
    metadata = clr_pe_metadata(file.bytes, true, &size);
    import = clr_importer_new(&pass, metadata, size);
    assert_int_equal(import->vtbl->get_module_from_scope(import, &size), E_NOTIMPL);
    assert_int_equal(import->vtbl->enum_method_specs(import, NULL, 0, NULL, 0, NULL), E_NOTIMPL);
    clr_release(import);
    file_unmap(&file);
}

/* The answers do not matter. */
static void ask_all(struct clr_metadata *import)
{
    static struct answer out;

    for (size_t i = 0; i < KINDS; i++)
        for (uint32_t row = 0; row < 64; row++)
            kinds[i].ask(import, kinds[i].token | row, &out);
}

/* A sanitizer, or the end of the heap, tells of a read outside of the bytes. */
TEST(damaged_bytes_are_left_to_the_runtime)
{
    static const char pattern[] = "shared/Microsoft.NETCore.App/1?.*/System.Collections.dll";
    const uint8_t *metadata = NULL;
    struct mapped file;
    uint32_t size = 0;
    glob_t files;

    dotnet_files(pattern, &files);
    if (!files.gl_pathc || !file_map(files.gl_pathv[0], &file))
        skip();
    globfree(&files);
    metadata = clr_pe_metadata(file.bytes, true, &size);
    assert_non_null(metadata);
    srandom(1);
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t cut = i % 2 ? size : (uint32_t)random() % size, head = cut < 2048 ? cut : 2048;
        uint8_t *copy = malloc(cut ? cut : 1);
        struct clr_metadata *import;

        memcpy(copy, metadata, cut);
        for (unsigned k = 0; k < 8 && cut; k++)
            copy[random() % (k % 2 ? cut : head)] = (uint8_t)random();
        import = clr_importer_new(&pass, copy, cut);
        if (import != &pass) {
            ask_all(import);
            clr_release(import);
        }
        free(copy);
    }
    file_unmap(&file);
}
