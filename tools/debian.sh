#!/usr/bin/env bash
# debian.sh [RELEASE]: builds and runs the demo on another Debian release (default: trixie), in a root that the first call
# makes as root (debian_root.sh; ./dev debian).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

release=${1:-trixie}
(($# < 2)) || fail 2 "debian: unknown argument '$2'"
if ! tools/debian_root.sh --has "$release"; then
  require roots
  say "making a root of Debian ${release}"
  tools/debian_root.sh "$release" >/dev/null || fail 1 "the root of Debian ${release} was not made"
fi
say "building and running the demo on Debian ${release}"
JOBS=$(jobs) tools/debian_root.sh "$release" ./dev demo || fail 1 "the demo failed on Debian ${release}"
