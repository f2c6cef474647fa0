#!/bin/sh
# A budget learned from five runs of a small program holds for a further one; a run that makes one object more, in one of its
# 1,000 calls, breaks it at that line, and a log that is cut is not judged.
#
#   sh examples/gate/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${SHADOWTRACE_BUILD:-$here/../../build}" && pwd)
out=$build/examples/gate
mkdir -p "$out"
SHADOWTRACE_BUILD=$build sh "$here/../build.sh" gate
rm -f "$out"/*.ndjson "$out"/*.json "$out"/gate.*

record() { # LOG ARGUMENT...
    log=$1
    shift
    "$build/shadowtrace" record --own --quiet -o "$out/$log" -- dotnet "$out/bin/basket.dll" "$@"
}
expect() { # STATUS COMMAND...
    wanted=$1
    shift
    status=0
    "$@" || status=$?
    [ $status -eq "$wanted" ] || { echo "exit status $status instead of $wanted: $*" >&2; exit 1; }
}
gate() { "$build/shadowtrace" gate --quiet "$@"; }

for run in 1 2 3 4 5; do
    record "run$run.ndjson"
done
cd "$here"
gate --learn "$out/budget.json" "$out"/run?.ndjson

record further.ndjson
expect 0 gate "$out/budget.json" "$out/further.ndjson"

record slower.ndjson coupon
expect 1 gate --format github --also markdown="$out/gate.md" --also sarif="$out/gate.sarif" --also junit="$out/gate.xml" \
    --also gitlab="$out/gate.json" "$out/budget.json" "$out/slower.ndjson" >"$out/gate.github"
cat "$out/gate.github"
line=$(grep -n 'one of 1,000 baskets' "$here/Program.cs" | cut -d: -f1)
grep -q "^::error file=Program.cs,line=$line," "$out/gate.github" || { echo "not at line $line" >&2; exit 1; }

head -c 3000 "$out/further.ndjson" >"$out/cut.ndjson"
expect 3 gate "$out/budget.json" "$out/cut.ndjson" >/dev/null
echo "held by a further run, broken by one object at line $line, not judged by a log that is cut"
