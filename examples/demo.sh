#!/bin/sh
# The first five minutes: the lines of a small C# program, then the C# compiler for scale. `make demo` runs it.
#
#   sh examples/demo.sh [--small]     --small: without the compiler
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${SHADOWTRACE_BUILD:-$here/../build}" && pwd)
out=$build/examples/orders
log=$out/demo.ndjson

run() { # prints a command as a person would type it, and runs it
    printf '\n$ %s\n' "$*"
    "$@"
}
shadowtrace() { "$build/shadowtrace" "$@"; }

echo "A program that makes 1,000 orders of three lines each (examples/orders/Program.cs), built with its PDB:"
SHADOWTRACE_BUILD=$build sh "$here/build.sh" orders
cp "$here/orders/Program.cs" "$out/"
cd "$out"
rm -f "$log"
run shadowtrace record --quiet -o demo.ndjson -- dotnet bin/orders.dll
run shadowtrace report --top 4 demo.ndjson
run shadowtrace annotate demo.ndjson Program.cs
[ "${1:-}" != --small ] || exit 0

printf '\nFor scale, the C# compiler of the SDK, with every stack compared with the walk of the runtime:\n\n'
SHADOWTRACE_BUILD=$build sh "$here/csc/run.sh"
printf '\nNext: %s html %s -o orders.html, and README.md\n' "$build/shadowtrace" "$log"
