#!/bin/sh
# Questions in SQL to logs as they are, in DuckDB: examples/orders, recorded plain, packed and by site, gives the same answers
# three times, and they are those of `shadowtrace report`.
#
#   sh examples/sql/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${SHADOWTRACE_BUILD:-$here/../../build}" && pwd)
out=$build/examples/sql
mkdir -p "$out"
SHADOWTRACE_BUILD=$build sh "$here/../build.sh" orders

# The package @duckdb/node-api, where the tests have theirs.
packages=$(SHADOWTRACE_BUILD=$build python3 "$here/../../tests/e2e/consumers.py" node) || exit $? # 77: there is no DuckDB to ask
ask() { NODE_PATH=$packages node "$here/run.cjs" "$@"; }

cd "$out"
record() { # LOG OPTION...
    log=$1
    shift
    rm -f "$log"
    "$build/shadowtrace" record --quiet "$@" -o "$log" -- dotnet "$build/examples/orders/bin/orders.dll" >/dev/null
}
record orders.ndjson
record packed.ndjson.zst --compress
record sites.ndjson --log sites

ask --top 5 orders.ndjson

"$build/shadowtrace" report --by type --method 'Program.Make*' --top 0 --format json orders.ndjson |
    jq -c '[.rows[] | {type, bytes, allocs}] | sort_by(-.bytes, .type)' >expected
for log in orders.ndjson packed.ndjson.zst sites.ndjson; do
    ask --json --ask "select type, sum(bytes)::bigint as bytes, sum(allocs)::bigint as allocs from named
                      where method like 'Program.Make%' group by type order by bytes desc, type" "$log" | jq -c '.[]' >found
    cmp found expected || { echo "$log: $(cat found) instead of $(cat expected)" >&2; exit 1; }
done
echo "plain, packed and by site: as in shadowtrace report"
