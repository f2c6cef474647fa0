#!/bin/sh
# symbols: src/tool/symbols says the same as System.Reflection.Metadata for all methods of the assemblies built here:
# C# and F#, Debug and Release, PDB beside the assembly, embedded and in a separate folder, with Source Link and
# embedded sources, and one with wide heaps.
#
#   tests/e2e/symbols/agreement.sh build [OUT]        builds the assemblies; BUILD_WITH: more options of MSBuild
#   tests/e2e/symbols/agreement.sh PDB_DUMP [OUT]     compares; PDB_DUMP: tests/e2e/symbols/pdb_dump.c, built
#
# Exit status: 0 all agree, 1 not, 77 skipped (why is on stdout).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
out=$(realpath -m "${2:-$here/../../../build/e2e/symbols}")
METHODS=${METHODS:-3000}

command -v dotnet >/dev/null || { echo "skipped: no dotnet"; exit 77; }
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDDISABLENODEREUSE=1
mkdir -p "$out"

build() {
    # Each method in a separate document, some with state machines; names and documents fill the heaps.
    awk -v n="$METHODS" 'BEGIN {
    print "using System.Threading.Tasks; using System.Collections.Generic; public static class Large {"
    for (i = 1; i <= n; i++) {
        printf "#line %d \"/generated/folder%d/Document%d.cs\"\n", i * 37, i % 60, i
        if (i % 10 == 0)
            printf "public static async Task<int> M%d(int a) {\n  await Task.Yield();\n  return a + %d;\n}\n", i, i
        else if (i % 10 == 5)
            printf "public static IEnumerable<int> M%d(int a) {\n  yield return a;\n  yield return %d;\n}\n", i, i
        else
            printf "public static int M%d(int a) {\n  var local%d = a * %d;\n\n  return local%d - 1;\n}\n", i, i, i, i
    }
    print "}"
}' >"$out/Generated.cs"

    # One run of MSBuild builds all: project, flavour, properties.
    {
        echo '<Project><ItemGroup>'
        while read -r project flavour properties; do
            echo "<P Include=\"$here/$project\" AdditionalProperties=\"Flavour=$flavour;$properties\" />"
        done <<END
PdbDump/PdbDump.csproj PdbDump Configuration=Release
CSharp/CSharp.csproj cs-debug Configuration=Debug;DebugType=portable
CSharp/CSharp.csproj cs-embedded Configuration=Release;DebugType=embedded;Embed=true;WithSourceLink=true
FSharp/FSharp.fsproj fs-debug Configuration=Debug;DebugType=portable
FSharp/FSharp.fsproj fs-embedded Configuration=Release;DebugType=embedded;EmbedAllSources=true
Large/Large.csproj large Configuration=Release;DebugType=portable
END
        for target in Restore Build; do
            echo "</ItemGroup><Target Name=\"$target\"><MSBuild Projects=\"@(P)\" Targets=\"$target\" /></Target><ItemGroup>"
        done
        echo '</ItemGroup></Project>'
    } >"$out/all.proj"
    # shellcheck disable=SC2086 # several words
    if ! dotnet msbuild "$out/all.proj" -restore -t:Build -nologo -v:q -m:1 "-p:SymbolsOut=$out" ${BUILD_WITH:-} >"$out/build.log" 2>&1; then
        tail -n 5 "$out/build.log"
        echo "not ok: the assemblies do not build"
        exit 1
    fi

    # A PDB that is only in a folder given.
    rm -rf "$out/cs-apart" "$out/cs-apart-pdb"
    mkdir -p "$out/cs-apart" "$out/cs-apart-pdb"
    cp "$out/cs-debug/CSharp.dll" "$out/cs-apart"
    cp "$out/cs-debug/CSharp.pdb" "$out/cs-apart-pdb"
}

if [ "$1" = build ]; then
    build
    exit
fi
dump=$(realpath "$1")
status=0
compare() { # flavour, assembly, [folder]
    name=$1
    shift
    dotnet "$out/PdbDump/PdbDump.dll" "$@" >"$out/$name.sdk"
    "$dump" "$@" >"$out/$name.ours" 2>"$out/$name.err" || { cat "$out/$name.err"; status=1; }
    if cmp -s "$out/$name.sdk" "$out/$name.ours" && grep -q '^point' "$out/$name.ours"; then
        echo "ok: $name: $(sed -n 's/^methods //p' "$out/$name.ours") methods," \
            "$(grep -c '^document' "$out/$name.ours") documents, $(grep -c '^point' "$out/$name.ours") points," \
            "$(grep -c '^line' "$out/$name.ours") lines"
    else
        diff "$out/$name.sdk" "$out/$name.ours" | head -n 10
        echo "not ok: $name"
        status=1
    fi
}

compare cs-debug "$out/cs-debug/CSharp.dll"
compare cs-embedded "$out/cs-embedded/CSharp.dll"
compare fs-debug "$out/fs-debug/FSharp.dll"
compare fs-embedded "$out/fs-embedded/FSharp.dll"
compare large "$out/large/Large.dll"
compare cs-apart "$out/cs-apart/CSharp.dll" "$out/cs-apart-pdb"
exit $status
