#!/usr/bin/env bash
# wheel.sh [3.11 ...]: builds wheels of the Python package into build/wheels, one for 3.11 and one for 3.12 and later (stable
# ABI), and imports each in every Python of these versions, or of all from 3.11 on, that is installed (./dev wheel).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# pythons VERSION...: prints one interpreter of each version that is installed.
pythons() {
  local version python
  for version in "$@"; do
    for python in "/usr/bin/python${version}" "${HOME}/.pyenv/versions/${version}."*/bin/python; do
      [[ ! -x $python ]] || { echo "$python"; break; }
    done
  done
}

(($#)) || set -- 3.11 3.12 3.13 3.14
require build test
rm -rf build/wheels
mkdir -p build/wheels
for python in $(pythons "$@"); do
  version=$("$python" -c 'import sys; print("%d%d" % sys.version_info[:2])')
  tag=cp${version}
  ((version < 312)) || tag=abi3
  if ! compgen -G "build/wheels/*${tag}*.whl" >/dev/null; then
    say "building a wheel with Python ${version}"
    "$python" -m venv "build/wheels/build-${version}"
    # The other builds call the compiler by these names, and ccache tells compilers apart by name.
    CC=cc CXX=c++ "build/wheels/build-${version}/bin/pip" wheel --quiet --no-deps \
      ${CI:+--config-settings=cmake.define.ALLOT_WARNINGS_ARE_ERRORS=ON} --wheel-dir build/wheels . ||
      fail 1 "no wheel was built with ${python}"
  fi
  wheel=$(compgen -G "build/wheels/*${tag}*.whl")
  say "importing ${wheel} with Python ${version}"
  "$python" -m venv "build/wheels/venv-${version}"
  "build/wheels/venv-${version}/bin/pip" install --quiet "$wheel"
  (cd build/wheels && "venv-${version}/bin/python" -c \
    'import allot, gymnasium; gymnasium.make("allot/Dl2S-v0").reset(seed=1); print("allot", allot.__version__)')
done
rm -rf build/wheels/venv-* build/wheels/build-*
