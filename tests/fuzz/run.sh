#!/bin/sh
# Many mutated inputs for the programs of a build with sanitizers and FUZZING=1, which hold memory and branches to the size of each.
#
# usage: run.sh FOLDER INPUTS SEED
#
# 45 in 100 are logs for the readers, as many are logs for the commands, the rest are replies of a traced process. Short stacks and
# a small quarantine make it twice as fast; to learn more of an input, run it without them, with its seed and --only.
set -e
corpus=$(cd "$(dirname "$0")" && pwd)/corpus
cd "$1"
export ASAN_OPTIONS=malloc_context_size=3:quarantine_size_mb=16:allocator_release_to_os_interval_ms=-1
for part in log:45 readers:45 client:10; do
    "./fuzz_${part%:*}" --grow --mutate $(($2 / 100 * ${part#*:})) --seed "$3" "$corpus/${part%:*}"
done
