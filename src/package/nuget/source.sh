#!/bin/sh
# Unpacks Debian's source package NAME, of the version whose headers are installed, into FOLDER/source. FOLDER gets files that
# configure would create, or that differ here.
#
# usage: source.sh NAME HEADERS FOLDER        source.sh liburcu liburcu-dev build/package/liburcu
#
# Debian's own libraries need the glibc of its release, and functions that musl does not have. apt asks the machine's own sources
# for source packages, and reads their lists into a separate folder: nothing of the machine changes, and it need not be root.
set -e
name=$1 headers=$2
[ -z "${OFFLINE:-}" ] || { echo "source.sh: OFFLINE=1: the source of $name is not downloaded" >&2; exit 1; }
mkdir -p "$3"
cd "$3"
version=$(dpkg-query -W -f '${source:Version}' "$headers" 2>/dev/null) ||
    { echo "source.sh: the package needs Debian's $headers; run make deps" >&2; exit 1; }
mkdir -p apt/lists/partial apt/cache/archives/partial apt/sources
for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/sources/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"apt/sources/${file##*/}.list"
done
get="apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$PWD/apt/sources -o Dir::State::lists=$PWD/apt/lists \
    -o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User= -o Acquire::Retries=1"
if ! { $get update && $get source --only-source "$name=$version"; } >apt/said 2>&1; then
    echo "source.sh: cannot download the source of $name $version: $(grep -m 1 '^[EW]: ' apt/said || tail -n 1 apt/said)" >&2
    exit 1
fi
rm -rf source apt/lists
mv "$name"-*/ source

case $name in
liburcu)
    # With TLS descriptors, a reader takes part of the static TLS that the library needs: unaligned it has 48 bytes, not 384.
    mkdir -p urcu/static
    sed 's/ *__attribute__((aligned(CAA_CACHE_LINE_SIZE)))//' source/include/urcu/static/urcu-common.h >urcu/static/urcu-common.h
    ;;
jansson)
    { echo 'libjansson.so.4 {'; sed '1s/.*/global:/; s/[a-z0-9_]$/&;/' source/src/jansson.def; echo 'local: *; };'; } >version.map
    : >jansson_private_config.h
    ;;
esac
