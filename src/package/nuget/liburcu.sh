#!/bin/sh
# Debian's source package of liburcu, of the version whose headers are installed, unpacked into FOLDER.
#
# usage: liburcu.sh FOLDER
#
# Debian's own liburcu needs the glibc of its release. apt reads its lists into a folder of their own here: nothing of the
# machine changes, and it need not be root.
set -e
mkdir -p "$1"
cd "$1"
version=$(dpkg-query -W -f '${source:Version}' liburcu-dev 2>/dev/null) ||
    { echo "liburcu.sh: the package needs Debian's liburcu-dev; run make deps" >&2; exit 1; }
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
mkdir -p apt/lists/partial apt/cache/archives/partial
echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian $release main" >apt/sources.list
get="apt-get -q -o Dir::Etc::sourcelist=$PWD/apt/sources.list -o Dir::Etc::sourceparts=- -o Dir::State::lists=$PWD/apt/lists \
    -o Dir::Cache=$PWD/apt/cache -o APT::Sandbox::User= -o Acquire::Retries=1"
if ! { $get update && $get source --only-source "liburcu=$version"; } >apt/said 2>&1; then
    echo "liburcu.sh: the source of liburcu $version cannot be had: $(grep -m 1 '^[EW]: ' apt/said || tail -n 1 apt/said)" >&2
    exit 1
fi
rm -rf source apt/lists
mv liburcu-*/ source
