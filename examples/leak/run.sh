#!/bin/sh
# Records a server that leaks one small object in ten requests, with two full GCs and marks under load, and runs the commands in
# README.md. With --update, writes their output into README.md.
#
#   sh examples/leak/run.sh [--update]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${SHADOWTRACE_BUILD:-$here/../../build}" && pwd)
out=$build/examples/leak
what=check
[ "${1:-}" != --update ] || what=update
rm -rf "$out/logs"
mkdir -p "$out/logs"
PATH=$build:$PATH

SHADOWTRACE_BUILD=$build sh "$here/../build.sh" leak

cd "$out/logs"
rm -f "$out/at"
mkfifo "$out/at"
shadowtrace record --quiet --live -o prices.ndjson -- dotnet "$out/prices/prices.dll" >"$out/at" &
record=$!
read -r pid url <"$out/at"
rm "$out/at"
load() { dotnet "$out/prices/prices.dll" load "$url" "$1"; }
load 100
shadowtrace ctl "$pid" mark --full warm >/dev/null
load 500
shadowtrace ctl "$pid" mark --full "500 requests later" >/dev/null
load 0
wait "$record"

export SHADOWTRACE_BUILD="$build"
python3 "$here/../tutorial/blocks.py" "$what" "$here/README.md" "$out/logs"
