#!/usr/bin/env bash
# ci.sh: all that a submission must pass, whatever fails first (./dev ci): the tests, then, within CI_MINUTES, the other checks.
# A check that found no time is named, but did not fail. The last line adds up all tests; a check that found a fault counts as
# one failed test.
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly CI_MINUTES=${CI_MINUTES:-80}  # .ci/run has ten more
readonly OTHER_DEBIAN=trixie           # where the demo runs too, if a root of it was made
export CI_BEGAN=$EPOCHSECONDS CI=true
left_out=() faults=()

seconds_left() { echo $((CI_BEGAN + 60 * CI_MINUTES - EPOCHSECONDS)); }

# in_time COMMAND...: its exit status; 124 if the minutes of CI were over before it ended or began.
in_time() {
  local left
  left=$(seconds_left)
  ((left > 0)) || return 124
  timeout "$left" "$@"
}

check() {  # check NAME COMMAND...
  local name=$1 status=0
  shift
  in_time "$@" || status=$?
  case $status in
    0) ;;
    124) left_out+=("$name") ;;
    *)
      faults+=("$name")
      echo "$status" >"${RESULTS}/check-${name}.status"
      ;;
  esac
}

# Prints the commit at which lint last found no fault in the whole tree; nothing if this clone does not reach back so far.
linted_commit() {
  local commit
  commit=$(<.ci/linted)
  ! git merge-base --is-ancestor "$commit" HEAD 2>/dev/null || echo "$commit"
}

# Prints the commit that brought the rule of subjects; nothing in a shallow clone or a copy without git.
subjects_commit() { git log --diff-filter=A --format=%H -- docs/adr/0031-what-ci-runs-and-which-libraries.md | tail -n 1; }

require build test lint bench
rm -rf "$RESULTS"
mkdir -p build
# Most of CI is compiling. The tests leave cores idle, so the programs under sanitizers are compiled while the tests run.
background build/sanitizers.log nice -n 19 tools/sanitize.sh --build-only
./dev test || true
[[ -f $RESULTS/pytest.status ]] || { mkdir -p "$RESULTS" && echo 1 >"${RESULTS}/check-build.status"; }

linted=$(linted_commit)
check lint ./dev lint ${linted:+--since "$linted"}
check wheel ./dev wheel 3.11
check docs ./dev docs
ruled=$(subjects_commit || true)
[[ -z $ruled ]] || check subjects ./dev subjects "$ruled"
while kill -0 "$BACKGROUND" 2>/dev/null && (($(seconds_left) > 0)); do sleep 1; done
end_background
status=0
in_time ./dev sanitize || status=$?
((status != 124)) || left_out+=("tests under sanitizers that had not yet run")
check pages ./dev pages
if tools/debian_root.sh --has "$OTHER_DEBIAN"; then
  check "debian-${OTHER_DEBIAN}" ./dev debian "$OTHER_DEBIAN"
else
  say "no demo on Debian ${OTHER_DEBIAN}: there is no root of it (./dev debian ${OTHER_DEBIAN} makes one)"
fi
say "all of CI${faults:+; faults of: ${faults[*]}}${left_out:+; no time for: ${left_out[*]}}"
totals ""
