#!/bin/sh
# Packs the source into FILE: from git or, in a source package, which has no git, all files of the current directory.
#
# usage: dist.sh NAME-VERSION EPOCH FILE
#
# Reproducible: the same files and the same EPOCH give the same bytes.
set -e
name=$1 epoch=$2 file=$3

list() {
    if [ -e .git ]; then
        git ls-files -z
    else
        find . '(' -path ./build -o -path ./debian -o -name __pycache__ ')' -prune -o -type f -printf '%P\0'
    fi
}

mkdir -p "$(dirname "$file")"
list | LC_ALL=C sort -z | tar -c --null -T - --transform "s,^,$name/," --format=gnu --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX --mtime=@"$epoch" | gzip -9n >"$file.new"
mv "$file.new" "$file"
