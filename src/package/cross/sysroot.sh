#!/bin/sh
# Unpacks Debian packages of another architecture, and their dependencies, into FOLDER, for a cross compiler and qemu-user.
#
# usage: sysroot.sh ARCHITECTURE FOLDER PACKAGE...
#
# apt reads its lists into a separate folder: nothing of the machine changes, and it need not be root. SOURCE, a line of
# sources.list(5), is one more place where it looks.
set -eu
[ -z "${OFFLINE:-}" ] || { echo "sysroot.sh: OFFLINE=1: the libraries for $1 are not downloaded" >&2; exit 1; }
arch=$1 folder=$(mkdir -p "$2" && cd "$2" && pwd)
shift 2

state=$folder/.apt
mkdir -p "$state/lists/partial" "$state/cache/archives/partial" "$state/debs"
: >"$state/status"
apt="-o APT::Architecture=$arch -o APT::Architectures=$arch -o Dir::State=$state -o Dir::State::status=$state/status -o Dir::Cache=$state/cache \
  -o Dir::State::lists=$state/lists -o APT::Install-Recommends=false -o Debug::NoLocking=true -o APT::Sandbox::User=root \
  -o Acquire::Languages=none -o pkgCacheGen::Essential=none"
if [ -n "${SOURCE:-}" ]; then
  mkdir -p "$state/sources.list.d"
  cp /etc/apt/sources.list.d/* "$state/sources.list.d" 2>/dev/null || :
  echo "$SOURCE" >"$state/sources.list.d/more.list"
  apt="$apt -o Dir::Etc::sourceparts=$state/sources.list.d"
fi
apt-get $apt -qq update
(cd "$state/debs" && rm -f ./*.deb && apt-get $apt -qq -y --download-only -o Dir::Cache::archives="$state/debs" install "$@" >/dev/null)
# FOLDER/var/lib/dpkg says which package each file came from, for dpkg-shlibdeps.
info=$folder/var/lib/dpkg/info
mkdir -p "$info"
: >"$info/../status"
echo 1 >"$info/format" # names with the architecture
for deb in "$state"/debs/*.deb; do
  dpkg-deb -x "$deb" "$folder"
  name=$(dpkg-deb -f "$deb" Package)
  [ "$(dpkg-deb -f "$deb" Multi-Arch)" != same ] || name=$name:$arch
  dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n "s|^\./\(.*[^/]\)$|$folder/\1|p" >"$info/$name.list"
  dpkg-deb --ctrl-tarfile "$deb" | tar -x -O ./symbols >"$info/$name.symbols" 2>/dev/null || rm "$info/$name.symbols"
  dpkg-deb --ctrl-tarfile "$deb" | tar -x -O ./shlibs >"$info/$name.shlibs" 2>/dev/null || rm "$info/$name.shlibs"
  { dpkg-deb -f "$deb"; echo 'Status: install ok installed'; echo; } >>"$info/../status"
done
# Links to absolute paths lead into the folder, wherever that is.
find "$folder" -type l -lname '/*' | while read -r link; do
  ln -sfn "$(realpath -m --relative-to="$(dirname "$link")" "$folder$(readlink "$link")")" "$link"
done
rm -rf "$state"
