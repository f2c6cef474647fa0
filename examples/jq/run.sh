#!/bin/sh
# Reading a log with jq alone: the stacks are in the events with --stacks=inline.
#
#   sh examples/jq/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SHADOWTRACE_BUILD:-$here/../../build}
out=$build/examples/jq
mkdir -p "$out"
SHADOWTRACE_BUILD=$build sh "$here/../build.sh" orders

log=$out/inline.ndjson
rm -f "$log"
"$build/shadowtrace" record --quiet --stacks inline -o "$log" -- dotnet "$build/examples/orders/bin/orders.dll"

echo "Bytes by type:"
jq -s -r 'map(select(.kind == "alloc")) | group_by(.type)
          | map({type: .[0].type, bytes: (map(.bytes) | add)}) | sort_by(-.bytes) | .[:5][]
          | "\(.bytes)\t\(.type)"' "$log"

echo "Who allocates Line, and how often:"
jq -s -r 'map(select(.kind == "alloc" and .type == "Line")) | group_by(.stack)
          | .[] | "\(length)\t\(.[0].stack | join(" < "))"' "$log"
