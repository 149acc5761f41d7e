#!/usr/bin/env bash
# kubernetes.sh: builds the control plane of Kubernetes that tests/live/control_plane.py starts, once and outside of the tree
# (./dev kubernetes). Needs Go 1.26 or later. Modules and objects are removed again; only the binary stays.
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

binary=$("$PYTHON" -c 'import sys; sys.path.insert(0, "tests/live"); import control_plane; print(control_plane.BINARY)')
if [[ -x $binary ]]; then
  say "there already: ${binary}"
  exit
fi
command -v go >/dev/null || fail 2 "the control plane is built with Go 1.26 or later, which is not installed"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say "building ${binary} ($(jobs) jobs)"
cp -r tests/live/kubernetes/kcp "${scratch}/source"
(cd "${scratch}/source" && GOPATH="${scratch}/modules" GOCACHE="${scratch}/cache" GOTOOLCHAIN=local \
  GOFLAGS="-mod=mod -modcacherw" go build -p "$(jobs)" -trimpath -ldflags "-s -w" -o "${scratch}/kcp" .) ||
  fail 1 "the control plane was not built"
mkdir -p "$(dirname "$binary")"
mv "${scratch}/kcp" "${binary}.part"
mv "${binary}.part" "$binary"
say "built ${binary}"
