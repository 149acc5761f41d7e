#!/usr/bin/env bash
# sanitized_half.sh PRESET RESULTS PROGRAM/HALF: runs one half (1, 2: every other one) of a test program's tests and leaves
# RESULTS/PRESET-PROGRAM-HALF.xml and .status. What failed, and what a sanitizer said, is printed.
set -u
preset=$1 program=${3%/*} half=${3#*/}
result=${PWD}/$2/${preset}-${program}-${half}
export LSAN_OPTIONS=suppressions=${PWD}/tests/lsan.supp
cd "build/${preset}/tests" || exit 1
export GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$((half - 1)) GTEST_OUTPUT=xml:${result}.xml GTEST_BRIEF=1
timeout --foreground 1800 "./${program}" >"${result}.log" 2>&1
status=$?
echo "$status" >"${result}.status"
if ((status == 0)); then
  echo "    ${program} ${half}/2"
else
  echo "    ${program} ${half}/2: exit status ${status}"
  tail -n 60 "${result}.log"
fi
