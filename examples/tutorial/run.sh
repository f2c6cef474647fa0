#!/bin/sh
# Ten questions of a developer, each answered by one command: records a web server under load and the C# compiler, and runs
# the commands that README.md shows. With --update it writes what they print into README.md.
#
#   sh examples/tutorial/run.sh [--update]
#
# --update does the same for examples/sql, which asks about the compiler, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${SHADOWTRACE_BUILD:-$here/../../build}" && pwd)
out=$build/examples/tutorial
what=check
[ "${1:-}" != --update ] || what=update
rm -rf "$out/logs"
mkdir -p "$out/logs"
PATH=$build:$PATH

SHADOWTRACE_BUILD=$build sh "$here/../build.sh" tutorial

# A server, warmed up, with marks around what comes then; the load comes from another process.
serve() { # LOG PROGRAM
    rm -f "$out/at"
    mkfifo "$out/at"
    shadowtrace record --quiet -o "$1" -- dotnet "$2" >"$out/at" &
    record=$!
    read -r pid url <"$out/at"
    rm "$out/at"
    load() { dotnet "$out/shop/shop.dll" load "$url" "$1"; }
    shadowtrace ctl "$pid" mark ready
    load 20
    shadowtrace ctl "$pid" mark "one request"
    load 1
    shadowtrace ctl "$pid" mark load
    load 100
    shadowtrace ctl "$pid" mark "load ends"
    load 0
    wait "$record"
}
cd "$out/logs"
serve shop-before.ndjson "$out/before/shop.dll"
serve shop.ndjson "$out/shop/shop.dll"

compile() { # LOG
    shadowtrace record --quiet -o "$1" -- dotnet "$compiler" -nologo -noconfig -nostdlib "@$out/references.rsp" -deterministic \
        -out:"$out/hello.dll" "$here/../csc/hello.cs"
}
sdk=$(dotnet --list-sdks | tail -n 1 | sed 's/^\([^ ]*\) \[\(.*\)\]$/\2\/\1/')
framework=$(dotnet --list-runtimes | sed -n 's/^Microsoft.NETCore.App \([^ ]*\) \[\(.*\)\]$/\2\/\1/p' | tail -n 1)
compiler=$sdk/Roslyn/bincore/csc.dll
for assembly in "$framework"/System*.dll "$framework"/netstandard.dll "$framework"/mscorlib.dll; do
    case $assembly in
    *Native*) ;;
    *) echo "-r:\"$assembly\"" ;;
    esac
done >"$out/references.rsp"
compile csc.ndjson

export SHADOWTRACE_BUILD="$build"
python3 "$here/blocks.py" "$what" "$here/README.md" "$out/logs"
[ $what = update ] || exit 0
compile csc-before.ndjson
NODE_PATH=$(python3 "$here/../../tests/e2e/consumers.py" node) SQL=$here/../sql \
    python3 "$here/blocks.py" update "$here/../sql/README.md" "$out/logs"
