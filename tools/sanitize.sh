#!/usr/bin/env bash
# sanitize.sh [--build-only] [PRESET ...]: builds the C++ test programs under asan-ubsan and tsan, or the presets named, and
# runs them (./dev sanitize). Under tsan only the folders that use threads are tested.
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly -a THREADED_FOLDERS=(core sim envs sweep clients_kubernetes_api live live_runtimes_kubernetes live_runtimes_local)

# programs_of PRESET: prints the test programs that run under it; nothing: all.
programs_of() { [[ $1 != tsan ]] || printf '%s\n' "${THREADED_FOLDERS[@]/%/_test}"; }

build() {  # build PRESET
  local -a targets
  mapfile -t targets < <(programs_of "$1")
  ((${#targets[@]})) || targets=(test_programs)
  configure "$1" && compile "$1" "${targets[@]}"
}

build_only=''
if [[ ${1:-} == --build-only ]]; then
  build_only=1
  shift
fi
presets=("$@")
((${#presets[@]})) || presets=(asan-ubsan tsan)
require build
if [[ -n $build_only ]]; then
  for preset in "${presets[@]}"; do (build "$preset") || true; done
  exit
fi
mkdir -p "$RESULTS"
for preset in "${presets[@]}"; do
  rm -f "${RESULTS}/${preset}"-*
  if (build "$preset"); then
    say "C++ tests under ${preset}"
    mapfile -t programs < <(programs_of "$preset")
    tests/run_halves.sh "$preset" "$RESULTS" "$(jobs)" "${programs[@]}" || true
  else
    echo 1 >"${RESULTS}/${preset}-build.status"
  fi
done
totals "${presets[@]/%/-}"
