#!/bin/sh
# Record the C# compiler of the .NET SDK while it compiles a small file, with every allocation compared.
#
#   sh examples/csc/run.sh
#
# Shows its call sites with most bytes, then how the shadow stack compares with DoStackSnapshot.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SHADOWTRACE_BUILD:-$here/../../build}
out=$build/demo
mkdir -p "$out"

sdk=$(dotnet --list-sdks | tail -n 1 | sed 's/^\([^ ]*\) \[\(.*\)\]$/\2\/\1/')
framework=$(dotnet --list-runtimes | sed -n 's/^Microsoft.NETCore.App \([^ ]*\) \[\(.*\)\]$/\2\/\1/p' | tail -n 1)
compiler=$sdk/Roslyn/bincore/csc.dll
[ -f "$compiler" ] || { echo "no C# compiler in $sdk: install a .NET SDK" >&2; exit 1; }

references=$out/references.rsp
: > "$references"
for assembly in "$framework"/System*.dll "$framework"/Microsoft*.dll "$framework"/netstandard.dll "$framework"/mscorlib.dll; do
    case $assembly in
    *Native*) ;;
    *) [ ! -f "$assembly" ] || echo "-r:\"$assembly\"" >> "$references" ;;
    esac
done

log=$out/csc.ndjson
rm -f "$log"
"$build/shadowtrace" record --check 1 -o "$log" -- \
    dotnet "$compiler" -nologo -noconfig -nostdlib "@$references" -deterministic -out:"$out/hello.dll" "$here/hello.cs"
echo
"$build/shadowtrace" report --top 5 "$log"
echo
"$build/shadowtrace" compare "$log"
