#!/usr/bin/env bash
# run_halves.sh PRESET RESULTS JOBS [PROGRAM...]: runs the C++ test programs of build/PRESET, all or those named, JOBS processes
# at a time. Each program is two processes with every other one of its tests: a process for each test would take longer than
# the tests. Leaves RESULTS/PRESET-PROGRAM-HALF.xml (JUnit), .log and .status, and prints the end of the log of what failed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

run_half() {  # run_half PRESET RESULTS PROGRAM/HALF
  local program=${3%/*} half=${3#*/} status=0
  local result=$2/$1-${program}-${half}
  export GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=$((half - 1)) GTEST_OUTPUT=xml:${result}.xml GTEST_BRIEF=1
  export LSAN_OPTIONS=suppressions=${PWD}/tests/lsan.supp
  (cd "build/$1/tests" && timeout --foreground 1800 "./${program}") >"${result}.log" 2>&1 || status=$?
  if ((status == 0)); then
    echo "    ${program} ${half}/2"
  else
    printf '    %s %s/2: exit status %s\n%s\n' "$program" "$half" "$status" "$(tail -n 60 "${result}.log")"
  fi
  echo "$status" >"${result}.status"
}

if [[ $1 == --half ]]; then
  run_half "${@:2}"
  exit
fi
preset=$1 jobs=$3
results=$(mkdir -p "$2" && cd "$2" && pwd)
shift 3
programs=("$@")
(($#)) || mapfile -t programs < <(find "build/${preset}/tests" -maxdepth 1 -name '*_test' -printf '%f\n' | sort)
rm -f "${results}/${preset}"-*
printf '%s\0' "${programs[@]/%//1}" "${programs[@]/%//2}" |
  xargs -0 -n 1 -P "$jobs" "tests/$(basename "${BASH_SOURCE[0]}")" --half "$preset" "$results" || true
failed=0
for half in "${programs[@]/%/-1}" "${programs[@]/%/-2}"; do
  status=${results}/${preset}-${half}.status
  [[ -f $status ]] || echo 1 >"$status"  # its process was killed
  [[ $(<"$status") == 0 ]] || failed=1
done
exit "$failed"
