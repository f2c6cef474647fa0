#!/bin/sh
# Builds the program of this example, once: examples that run it may run side by side, and each of them calls this.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${SHADOWTRACE_BUILD:-$here/../../build}/examples/orders
mkdir -p "$out"
exec 9>"$out/lock"
flock 9
dotnet build "$here" -c Release -nologo -v quiet -nodeReuse:false -p:BaseIntermediateOutputPath="$out/obj/" \
    -o "$out/bin" 9>&- >"$out/build.log" || { cat "$out/build.log" >&2; exit 1; }
