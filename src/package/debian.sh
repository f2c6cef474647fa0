#!/bin/sh
# Builds the Debian package in FOLDER from the source package SOURCE.tar.gz. FOLDER/log has the output.
#
# usage: DEBFULLNAME=NAME DEBEMAIL=ADDRESS debian.sh FOLDER SOURCE.tar.gz VERSION EPOCH [OPTION OF dpkg-buildpackage]...
#
# For another architecture (-aARCHITECTURE -d), SYSROOT is the folder that cross/sysroot.sh made.
# Reproducible: the same source and the same EPOCH give the same bytes.
set -e
folder=$1 source=$2 version=$3 epoch=$4
shift 4
maintainer="$DEBFULLNAME <$DEBEMAIL>"

rm -rf "$folder"
mkdir -p "$folder"
tar -xzf "$source" -C "$folder"
cd "$folder/$(basename "$source" .tar.gz)"
cp -R src/package/debian debian
sed -i "s/@VERSION@/$version/; s/@MAINTAINER@/$maintainer/; s/@DATE@/$(LC_ALL=C date -Rud @"$epoch")/" \
    debian/changelog.in debian/control
mv debian/changelog.in debian/changelog
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS SOURCE_DATE_EPOCH="$epoch" dpkg-buildpackage -us -uc -b "$@" >../log 2>&1 || {
    tail -30 ../log >&2
    exit 1
}
ls "$folder"/*.deb
