#!/bin/sh
# Makes tests/fuzz/corpus/symbols anew: PDBs of the sources in tests/e2e/symbols, compiled with as few references as
# will do, because small inputs are mutated to more effect. The corpus is kept in git; this is how it came to be.
# Needs the outputs of tests/e2e/symbols/agreement.sh in OUT for the F# ones.
#
#   tests/fuzz/corpus_symbols.sh OUT
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath "$1")
corpus=$here/corpus/symbols
sources=$here/../e2e/symbols/CSharp
sdk=$(dirname "$(realpath "$(command -v dotnet)")")
csc=$(ls -d "$sdk"/sdk/*/Roslyn/bincore/csc.dll | tail -n 1)
shared=$(ls -d "$sdk"/shared/Microsoft.NETCore.App/10.* | tail -n 1)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() { # name, options and sources
    name=$1
    shift
    dotnet "$csc" -nologo -nostdlib -unsafe -target:library -deterministic -langversion:latest -warn:0 \
        "-pathmap:$sources=/src" "-r:$shared/System.Private.CoreLib.dll" "-r:$shared/System.Runtime.dll" \
        "-r:$shared/System.Linq.dll" "-r:$shared/System.Console.dll" "-r:$shared/System.Collections.dll" \
        "-out:$work/$name.dll" "$@"
}

mkdir -p "$corpus"
compile shapes -debug:portable "-pdb:$corpus/csharp.pdb" "$sources/Shapes.cs" "$sources/Partial.cs"
compile mapped -debug:portable "-pdb:$corpus/mapped.pdb" "$sources/Zweite Datei ü.cs"
compile linked -debug:portable -optimize "-pdb:$corpus/linked.pdb" "-sourcelink:$sources/sourcelink.json" \
    "-embed:$sources/Partial.cs" "-embed:$sources/Shapes.cs" "$sources/Shapes.cs" "$sources/Partial.cs"
compile embedded -debug:embedded "$sources/Zweite Datei ü.cs"
cp "$work/embedded.dll" "$corpus"
cp "$out/fs-debug/FSharp.pdb" "$corpus/fsharp.pdb"

# The fixture of the unit tests, which has one of everything, and an assembly with it embedded.
cat >"$work/handmade.c" <<'EOF'
#include "fixture.h"
#include <stdio.h>

static int save(const char *path, const struct bytes *b)
{
    FILE *file = fopen(path, "wb");

    return !file || fwrite(b->data, 1, b->size, file) != b->size || fclose(file);
}

int main(int argc, char **argv)
{
    static struct fixture f;
    static struct bytes b;

    fixture_init(&f);
    assembly_put(&b, &(struct assembly){
                         .pdb_path = "App.pdb", .minor = 0x504D, .methods = 6, .embedded = &f.pdb});
    return argc != 3 || save(argv[1], &f.pdb) || save(argv[2], &b);
}
EOF
root=$here/../..
cc -D_GNU_SOURCE "-I$root/src/tool" "-I$root/src/common" "-I$root/tests/unit/symbols" -o "$work/handmade" "$work/handmade.c" \
    "$root/src/tool/symbols/sha256.c" -lz
"$work/handmade" "$corpus/handmade.pdb" "$corpus/handmade.dll"
