#!/bin/sh
# Builds the programs of the examples, in one run of MSBuild, unless they are newer than their sources.
#
#   sh examples/build.sh [EXAMPLE]...     none: of all examples
#
# Examples may run side by side, and each of them calls this. BUILD_WITH: more options of MSBuild.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${SHADOWTRACE_BUILD:-$here/../build}/examples
mkdir -p "$out"
out=$(cd "$out" && pwd)
exec 9>"$out/lock"
flock 9

stale=
project=$out/all.proj
{
    echo '<Project><ItemGroup>'
    # Where it goes, where it is, properties.
    while read -r made source properties; do
        [ $# -eq 0 ] || case " $* " in *" ${made%%/*} "*) ;; *) continue ;; esac
        [ ! -e "$out/$made/.built" ] || [ -n "$(find "$here/$source" -newer "$out/$made/.built")" ] || continue
        mkdir -p "$out/$made"
        stale="$stale $made"
        echo "<P Include=\"$here/$source/*.csproj\" AdditionalProperties=\"$properties;OutDir=$out/$made/;" \
            "BaseIntermediateOutputPath=$out/obj/$made/\" />"
    done <<END
api/bin api
gate/bin gate
leak/prices leak/prices
orders/bin orders
tutorial/before tutorial/shop Before=true
tutorial/shop tutorial/shop
END
    for target in Restore Build; do
        echo "</ItemGroup><Target Name=\"$target\"><MSBuild Projects=\"@(P)\" Targets=\"$target\" /></Target><ItemGroup>"
    done
    echo '</ItemGroup></Project>'
} >"$project"
[ -n "$stale" ] || exit 0
# shellcheck disable=SC2086 # several words
dotnet msbuild "$project" -restore -t:Build -nologo -v:q -m:1 -nodeReuse:false -p:Configuration=Release ${BUILD_WITH:-} 9>&- \
    >"$out/build.log" || { cat "$out/build.log" >&2; exit 1; }
for made in $stale; do
    : >"$out/$made/.built"
done
