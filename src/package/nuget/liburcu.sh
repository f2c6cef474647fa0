#!/bin/sh
# Debian's source package of liburcu, of the version whose headers are installed, unpacked into FOLDER.
#
# usage: liburcu.sh FOLDER
#
# Debian's own liburcu needs the glibc of its release. apt reads the lists of source packages into a
# separate directory: the system does not change, and root is not needed.
set -e
[ -z "${OFFLINE:-}" ] || { echo 'liburcu.sh: OFFLINE=1: the source of liburcu is not downloaded' >&2; exit 1; }
mkdir -p "$1"
cd "$1"
version=$(dpkg-query -W -f '${source:Version}' liburcu-dev 2>/dev/null) ||
    { echo "liburcu.sh: the package needs Debian's liburcu-dev; run make deps" >&2; exit 1; }
mkdir -p apt/lists/partial apt/cache/archives/partial apt/sources
for file in /etc/apt/sources.list.d/*.sources; do
    [ ! -e "$file" ] || sed 's/^Types:.*/Types: deb-src/' "$file" >"apt/sources/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ ! -e "$file" ] || sed -n 's/^deb /deb-src /p' "$file" >"apt/sources/${file##*/}.list"
done
get="apt-get -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts=$PWD/apt/sources -o Dir::State::lists=$PWD/apt/lists \
    -o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User= -o Acquire::Retries=1"
if ! { $get update && $get source --only-source "liburcu=$version"; } >apt/said 2>&1; then
    echo "liburcu.sh: the source of liburcu $version is not available: $(grep -m 1 '^[EW]: ' apt/said || tail -n 1 apt/said)" >&2
    exit 1
fi
rm -rf source apt/lists
mv liburcu-*/ source
