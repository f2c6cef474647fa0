#!/bin/sh
# Runs COMMAND, which builds PACKAGE, with its output in FOLDER/said. If it fails, PACKAGE is removed and tests/e2e/test_nupkg.py
# decides: it skips its tests if something could not be downloaded, and fails otherwise.
#
# usage: for_tests.sh FOLDER PACKAGE COMMAND...
folder=$1 package=$2
shift 2
mkdir -p "$folder"
"$@" >"$folder/said" 2>&1 || {
    tail -n 3 "$folder/said"
    rm -f "$package"
}
