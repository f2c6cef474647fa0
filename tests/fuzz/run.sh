#!/bin/sh
# Many mutated inputs for the programs of a build with sanitizers and FUZZING=1, which hold memory and branches to the size of each.
#
# usage: run.sh FOLDER INPUTS SEED
#
# INPUTS for each reader of foreign input: logs (the readers and the commands), logs that are followed, live objects,
# budgets, rows, heap dumps, replies of a traced process. A line is too long from 16 KiB on. Short stacks and a small quarantine
# make it twice as fast; to learn more of an input, run it without them, with its seed and --only.
set -e
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
cd "$1"
export ASAN_OPTIONS=malloc_context_size=3:quarantine_size_mb=16:allocator_release_to_os_interval_ms=-1
for part in log:--grow readers:--grow follow: live: budget: rows: heap: client:--grow; do
    name=${part%:*}
    echo "fuzz_$name"
    # shellcheck disable=SC2086 # no word if it is empty
    "./fuzz_$name" ${part#*:} --mutate "$2" --seed "$3" "$corpus/$name"
done
