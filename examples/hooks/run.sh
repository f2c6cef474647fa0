#!/bin/sh
# The two kinds of hooks side by side: the same program under FunctionEnter2 and under FunctionEnter3, each allocation
# compared with a snapshot.
#
#   sh examples/hooks/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SHADOWTRACE_BUILD:-$here/../../build}
out=$build/examples/hooks
mkdir -p "$out"
SHADOWTRACE_BUILD=$build sh "$here/../build.sh" orders

for hooks in elt2 elt3; do
    rm -f "$out/$hooks.ndjson"
    "$build/shadowtrace" record --quiet --hooks "$hooks" --check 1 -o "$out/$hooks.ndjson" -- \
        dotnet "$build/examples/orders/bin/orders.dll"
done
"$build/shadowtrace" compare "$out/elt2.ndjson" "$out/elt3.ndjson"
