#!/usr/bin/env bash
# Runs a command on another Debian release, in a copy of this clone.
#
#   tools/debian_root.sh trixie                  make the root of Debian 13, once; prints its folder
#   tools/debian_root.sh trixie ./dev demo       run the command in the copy inside of it
#   tools/debian_root.sh --has trixie            whether the root is there
#
# A root is a folder below ALLOT_DEBIAN_ROOTS (default /var/cache/allot/roots), outside of the clone,
# that holds the release with the packages of cmake/apt-packages.txt under `build`. Making one takes
# the network, mmdebstrap, root, 4 minutes and 1.6 GB. Running a command takes root, but no network.
# The copy holds what git knows or would add. Its build/ stays there from one run to the next.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly ROOTS=${ALLOT_DEBIAN_ROOTS:-/var/cache/allot/roots}
readonly CLONE=/srv/allot  # the copy, inside of a root

fail() {
  printf 'debian_root: %s\n' "$@" >&2
  exit 2
}

make_root() {  # make_root RELEASE
  local root=$ROOTS/$1 packages
  command -v mmdebstrap >/dev/null || fail "the package mmdebstrap is not installed"
  packages=$(awk '/^# [a-z]+$/ { on = $2 == "build"; next } /^#/ || NF == 0 { next } on { print $1 }' \
    cmake/apt-packages.txt | paste -sd,)
  mkdir -p "$ROOTS"
  rm -rf --one-file-system "$root.part"
  mmdebstrap --mode=root --variant=apt --include="$packages" "$1" "$root.part" >"$root.part.log" 2>&1 || {
    tail -n 15 "$root.part.log" >&2
    fail "no root of '$1' was made; the whole log is $root.part.log"
  }
  mv "$root.part" "$root"
  rm -f "$root.part.log"
}

# The files of the clone with their times, so that only what changed is built again. A file that is
# gone here goes there too.
copy_clone() {  # copy_clone ROOT
  local copy=$1$CLONE
  mkdir -p "$copy"
  find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory="$copy"
}

# In namespaces of its own, which end with the command: no mount and no process stays behind.
run_in() {  # run_in ROOT COMMAND...
  local root=$1
  shift
  # shellcheck disable=SC2016  # expanded inside
  exec unshare --mount --pid --fork --kill-child bash -c '
    mount -t proc proc "$1/proc"
    mount --rbind /dev "$1/dev"
    exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      TERM="${TERM:-dumb}" CCACHE_DIR=/var/cache/ccache ${JOBS:+JOBS="$JOBS"} \
      bash -c '\''cd "$1"; shift; exec "$@"'\'' bash "${@:2}"
  ' bash "$root" "$CLONE" "$@"
}

main() {
  if [[ ${1:-} == --has ]]; then
    [[ -d $ROOTS/${2:?"--has needs a release"} ]]
    return
  fi
  local release=${1:-}
  [[ $release =~ ^[a-z]+$ ]] || fail "usage: tools/debian_root.sh RELEASE [COMMAND...], for example: trixie ./dev demo"
  shift
  ((EUID == 0)) || fail "only root can make a root or enter it"
  [[ -d $ROOTS/$release ]] || make_root "$release"
  if (($# == 0)); then
    echo "$ROOTS/$release"
    return
  fi
  copy_clone "$ROOTS/$release"
  run_in "$ROOTS/$release" "$@"
}

main "$@"
