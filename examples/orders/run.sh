#!/bin/sh
# A small program with known allocations: the report must show exactly 1,000 Order, 3,000 Line and 1,000 Line[].
#
#   sh examples/orders/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SHADOWTRACE_BUILD:-$here/../../build}
out=$build/examples/orders
SHADOWTRACE_BUILD=$build sh "$here/../build.sh" orders

log=$out/orders.ndjson
rm -f "$log"
"$build/shadowtrace" record -o "$log" -- dotnet "$out/bin/orders.dll"
"$build/shadowtrace" report --top 4 --method 'Program.*' "$log"

count() {
    "$build/shadowtrace" report --by type --format=json --top 0 "$log" |
        jq --arg type "$1" '[.rows[] | select(.type == $type) | .allocs] | add // 0'
}
for expected in "Order 1000" "Line 3000" "Line[] 1000"; do
    found=$(count "${expected% *}")
    [ "$found" = "${expected##* }" ] || { echo "${expected% *}: $found instead of ${expected##* }" >&2; exit 1; }
done
largest=$("$build/shadowtrace" report --format=json --method 'Program.*' "$log" |
    jq -r '. as $r | $r.stacks[.rows[0].stack] | recurse($r.stacks[.parent // empty]) | $r.frames[.frame].method')
[ "$largest" = "Program.MakeLine(System.Int32)
Program.MakeOrder(System.Int32)
Program.Main()" ] || { echo "the largest row's stack: $largest" >&2; exit 1; }
echo "exactly as written: 1,000 Order, 3,000 Line, 1,000 Line[]"
