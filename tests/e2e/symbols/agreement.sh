#!/bin/sh
# symbols: src/tool/symbols says the same as System.Reflection.Metadata for all methods of the assemblies built here:
# C# and F#, Debug and Release, PDB beside the assembly, embedded and in a separate folder, with Source Link and
# embedded sources, and one with wide heaps.
#
#   tests/e2e/symbols/agreement.sh PDB_DUMP [OUT]     PDB_DUMP: tests/e2e/symbols/pdb_dump.c, built
#   BUILD_WITH: more options of the builds
#
# Exit status: 0 all agree, 1 not, 77 skipped (why is on stdout).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
dump=$(realpath "$1")
out=$(realpath -m "${2:-$here/../../../build/e2e/symbols}")
METHODS=${METHODS:-3000}

command -v dotnet >/dev/null || { echo "skipped: no dotnet"; exit 77; }
export DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 MSBUILDDISABLENODEREUSE=1
mkdir -p "$out"

build() { # flavour, project, properties
    flavour=$1
    project=$2
    shift 2
    # shellcheck disable=SC2086 # several words
    if ! dotnet build "$here/$project" -nologo -v quiet "-p:SymbolsOut=$out" "-p:Flavour=$flavour" "$@" ${BUILD_WITH:-} \
        >"$out/build-$flavour.log" 2>&1; then
        tail -n 5 "$out/build-$flavour.log"
        echo "not ok: $flavour does not build"
        exit 1
    fi
}

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

build PdbDump PdbDump/PdbDump.csproj -c Release
build cs-debug CSharp/CSharp.csproj -c Debug -p:DebugType=portable
build cs-embedded CSharp/CSharp.csproj -c Release -p:DebugType=embedded -p:Embed=true -p:WithSourceLink=true
build fs-debug FSharp/FSharp.fsproj -c Debug -p:DebugType=portable
build fs-embedded FSharp/FSharp.fsproj -c Release -p:DebugType=embedded -p:EmbedAllSources=true
build large Large/Large.csproj -c Release -p:DebugType=portable

# A PDB that is only in a folder given.
rm -rf "$out/cs-apart" "$out/cs-apart-pdb"
mkdir -p "$out/cs-apart" "$out/cs-apart-pdb"
cp "$out/cs-debug/CSharp.dll" "$out/cs-apart"
cp "$out/cs-debug/CSharp.pdb" "$out/cs-apart-pdb"

status=0
compare() { # flavour, assembly, [folder]
    name=$1
    shift
    dotnet "$out/PdbDump/PdbDump.dll" "$@" >"$out/$name.sdk"
    "$dump" "$@" >"$out/$name.ours" 2>"$out/$name.err" || { cat "$out/$name.err"; status=1; }
    if cmp -s "$out/$name.sdk" "$out/$name.ours" && grep -q '^point' "$out/$name.ours"; then
        echo "ok: $name: $(sed -n 's/^methods //p' "$out/$name.ours") methods," \
            "$(grep -c '^document' "$out/$name.ours") documents, $(grep -c '^point' "$out/$name.ours") points," \
            "$(grep -c '^line' "$out/$name.ours") lines, $(grep -c '^kickoff' "$out/$name.ours") state machines"
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
