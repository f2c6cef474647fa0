#!/bin/sh
# A C# program that speaks to its tracer by P/Invoke: what it makes while paused is not in the log, what it makes between
# two marks lies between them, and it prints its own stack as JSON.
#
#   sh examples/api/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=${SHADOWTRACE_BUILD:-$here/../../build}
out=$build/examples/api
mkdir -p "$out"

SHADOWTRACE_BUILD=$build sh "$here/../build.sh" api

fail() { echo "$1" >&2; exit 1; }

[ "$(dotnet "$out/bin/api.dll" 2>/dev/null)" = "{}" ] || fail "without a tracer the program does something else"

log=$out/api.ndjson
rm -f "$log"
"$build/shadowtrace" record -o "$log" -- dotnet "$out/bin/api.dll" >"$out/stack.json"
jq -r '"thread \(.os), \(.depth) frames:", (.stack[] | "    " + .)' "$out/stack.json"
jq -e '.stack | index("Program.Main()")' "$out/stack.json" >/dev/null || fail "Main is not on the program's own stack"
"$build/shadowtrace" report --by type --top 3 --method 'Program.*' "$log"

# Of each class by name: how many, and between which marks.
jq -n '
    reduce inputs as $r ({names: {}, marks: {}, count: {}, outside: 0};
        if $r.kind == "class" then .names[$r.id | tostring] = $r.name
        elif $r.kind == "mark" then .marks[$r.text] = $r.t
        elif $r.kind == "alloc" then .count[.names[$r.class | tostring]] += 1
            | if .names[$r.class | tostring] == "Loud" then .times += [$r.t] else . end
        else . end)
    | .marks as $m
    | {loud: (.count.Loud // 0), quiet: (.count.Quiet // 0),
       between: ([.times[] | select(. >= $m["loud begins"] and . <= $m["loud ends"])] | length)}' "$log" >"$out/counts.json"
[ "$(jq -c . "$out/counts.json")" = '{"loud":1000,"quiet":0,"between":1000}' ] || fail "counts: $(cat "$out/counts.json")"
echo "1,000 Loud, all between the marks; no Quiet, they were made while recording was paused"
