# Functions of ./dev and of the scripts in tools/, which read this file with `source`. They run in the root of the repository.
# shellcheck shell=bash
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly PACKAGE_LIST=cmake/apt-packages.txt
readonly PYTHON=/usr/bin/python3  # Debian's, whatever else a PATH may offer
readonly VENV=build/venv
readonly RESULTS=build/results  # of tests: NAME.xml in JUnit's format and NAME.status

# Under ./dev ci, each line begins with the minutes and seconds since CI began.
say() {
  local at=''
  [[ -z ${CI_BEGAN:-} ]] || printf -v at '[%d:%02d] ' $(((EPOCHSECONDS - CI_BEGAN) / 60)) $(((EPOCHSECONDS - CI_BEGAN) % 60))
  printf '==> %s%s\n' "$at" "$*"
}

fail() {  # fail CODE MESSAGE...
  local code=$1
  shift
  printf 'dev: %s\n' "$@" >&2
  exit "$code"
}

# Prints one job a core, but fewer when memory is short: a file that includes libtorch takes 1.5 GiB to compile.
jobs() {
  if [[ -n ${JOBS:-} ]]; then
    echo "$JOBS"
    return
  fi
  local cores fit
  cores=$(nproc)
  fit=$(awk '/^MemAvailable:/ {print int($2 / 1572864)}' /proc/meminfo)
  echo $((fit < 1 ? 1 : fit < cores ? fit : cores))
}

# packages_of SECTION...: prints the names that the list file holds under "# SECTION".
packages_of() {
  awk -v wanted=" $* " '
    /^# [a-z]+$/ { on = index(wanted, " " $2 " ") > 0; next }
    /^#/ || NF == 0 { next }
    on { print $1 }' "$PACKAGE_LIST"
}

# require SECTION...: installs the missing packages of these sections, or says what to do.
require() {
  local -a wanted missing=() root=()
  mapfile -t wanted < <(packages_of "$@")
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian system: what these Debian packages hold must be installed: ${wanted[*]}"
    return
  fi
  local installed package
  installed=$(dpkg-query -W -f='${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
  for package in "${wanted[@]}"; do
    grep -qx "installed ${package}" <<<"$installed" || missing+=("$package")
  done
  ((${#missing[@]})) || return 0

  if ((EUID != 0)); then
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [[ -z ${CI:-} && -t 0 ]]; }; then
      root=(sudo)
    else
      fail 2 "missing Debian packages, and neither root nor sudo to install them: ${missing[*]}" \
        "as root, run: apt-get update && apt-get install --no-install-recommends ${missing[*]}"
    fi
  fi
  mkdir -p build
  local log=build/apt.log
  say "installing ${#missing[@]} Debian packages (log: ${log}): ${missing[*]}"
  local -a apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -o Acquire::Retries=3)
  if ! { "${apt[@]}" update && "${apt[@]}" install --no-install-recommends "${missing[@]}"; } \
    >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    fail 1 "apt-get failed; the whole log is ${log}"
  fi
}

# prefer SECTION...: as require, for packages that the build and the tests can do without.
prefer() {
  (require "$@") || say "going on without: tests that need these packages are skipped and say so"
}

# Warnings end a build in CI only (CI=true): another compiler than CI's has others.
configure() {  # configure PRESET [-D...]
  local cache="build/$1/CMakeCache.txt"
  local -a strict=()
  [[ -z ${CI:-} ]] || strict=(-DALLOT_WARNINGS_ARE_ERRORS=ON)
  if [[ -f $cache ]] && ! grep -qx "CMAKE_HOME_DIRECTORY:INTERNAL=${PWD}" "$cache"; then
    fail 1 "build/ was made in another folder, $(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$cache"):" \
      "after moving a clone, ./dev clean removes it"
  fi
  say "configuring build/$1"
  # The log is shown on failure only: the build's own configure step repeats what matters.
  mkdir -p build
  local log="build/configure-$1.log"
  if ! cmake --preset "$@" "${strict[@]}" >"$log" 2>&1; then
    cat "$log" >&2
    fail 1 "cmake failed"
  fi
}

compile() {  # compile PRESET [TARGET...]
  local preset=$1
  shift
  say "building ${*:-everything} in build/${preset} ($(jobs) jobs)"
  cmake --build "build/${preset}" --parallel "$(jobs)" ${1:+--target "$@"}
}

# A virtual environment with exactly tests/requirements.txt, made again only when that file changed.
python_environment() {
  local stamp="${VENV}/requirements.sha256" hash
  hash=$(cat tests/requirements*.txt | sha256sum)
  [[ -f $stamp && $(<"$stamp") == "$hash" ]] && return
  say "installing Python packages into ${VENV}"
  "$PYTHON" -m venv --clear "$VENV"
  "${VENV}/bin/pip" install --quiet --disable-pip-version-check --requirement tests/requirements.txt
  say "installing PyTorch and packages that need it (3 GB; log: build/torch.log)"
  "${VENV}/bin/pip" install --quiet --disable-pip-version-check --requirement tests/requirements-torch.txt \
    >build/torch.log 2>&1 || say "going on without: tests of learning in Python are skipped"
  echo "$hash" >"$stamp"
}

# background LOG COMMAND...: starts it in a process group of its own, which ends with this script; its id is BACKGROUND.
background() {
  local log=$1
  shift
  set -m
  "$@" >"$log" 2>&1 </dev/null &
  BACKGROUND=$!
  set +m
  trap end_background EXIT
}

end_background() { kill -- "-${BACKGROUND}" 2>/dev/null || true; }

# totals PREFIX...: prints "N passed, N failed" of the results whose names begin so ("": all).
totals() { "$PYTHON" tests/junit_totals.py "$RESULTS" "$@"; }
