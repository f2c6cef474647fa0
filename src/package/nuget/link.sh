#!/bin/sh
# Links a program of the package: NATIVE/NAME, stripped, and its symbols where debuggers look for them by its build id,
# DEBUG/.build-id/XX/YYYY.debug.
#
# usage: link.sh NAME NATIVE DEBUG LINK-COMMAND...
#
# The build id is a hash of what is loaded. The linker's own would also be of the debug information, which holds the path
# of this folder: the same sources would make another package elsewhere.
set -e
name=$1 native=$2 debug=$3
shift 3
mkdir -p "$native"
full=$native.full/$name
mkdir -p "$native.full"

"$@" -o "$full" -Wl,--build-id=none
"${OBJCOPY:-objcopy}" --strip-all "$full" "$full.stripped"
id=$(sha256sum "$full.stripped" | cut -c1-40)
rm "$full.stripped"

"$@" -o "$full" -Wl,--build-id=0x"$id"
[ ! -e "$full.symbols" ] || rm -f "$(cat "$full.symbols")" # those of the build before
symbols=$debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" | cut -c3-).debug
mkdir -p "$(dirname "$symbols")"
echo "$symbols" >"$full.symbols"
"${OBJCOPY:-objcopy}" --only-keep-debug "$full" "$symbols"
"${OBJCOPY:-objcopy}" --strip-all "$full" "$native/$name.new"
mv -f "$native/$name.new" "$native/$name"
