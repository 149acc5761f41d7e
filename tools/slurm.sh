#!/usr/bin/env bash
# slurm.sh [RELEASE ...]: unpacks Slurm of other Debian releases (default: trixie sid) for tests/integration/slurm_api_test.py,
# once and outside of the tree, as root (./dev slurm).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

require unpacking
(($#)) || set -- trixie sid
for release in "$@"; do
  say "unpacking Slurm of Debian ${release}"
  folder=$("$PYTHON" tests/live/slurm_releases.py "$release") || fail 1 "Slurm of Debian ${release} was not unpacked"
  say "there: ${folder}"
done
