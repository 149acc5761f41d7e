#!/usr/bin/env bash
# Packages of a built tree, in build/packages: Debian packages of allot, allot-torch, allot-slurm, allot-elastic and
# allot-dev, and, as root with mmdebstrap and umoci, an OCI image in which `allot` runs: image.tar, for
# `docker load`, `podman load` or `skopeo copy oci-archive:...`.
#
#   tools/package.sh [BUILD]     default: build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

readonly BUILD=${1:-build/release}
readonly OUT=build/packages

say() { printf '==> %s\n' "$*"; }

debian_packages() {
  rm -rf "$OUT"
  mkdir -p "$OUT"
  say "Debian packages (log: $OUT/cpack.log)"
  cpack --config "$BUILD/CPackConfig.cmake" -B "$OUT/work" >"$OUT/cpack.log" 2>&1 || {
    tail -n 15 "$OUT/cpack.log" >&2
    exit 1
  }
  mv "$OUT"/work/*.deb "$OUT"
  rm -rf "$OUT/work"
  ls -l "$OUT"/*.deb
}

# The root of a small Debian in which only the package allot is installed: it simulates, evaluates and serves.
image() {
  local release version root package
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  package=$(compgen -G "$OUT/allot_*.deb")
  version=$(dpkg-deb -f "$package" Version)
  root=$(mktemp -d)
  say "OCI image of Debian $release with allot $version (log: $OUT/image.log)"
  {
    mmdebstrap --mode=root --variant=minbase --include=ca-certificates \
      --customize-hook="copy-in '$package' /tmp" \
      --customize-hook="chroot \"\$1\" sh -c 'apt-get install -y --no-install-recommends /tmp/*.deb && rm /tmp/*.deb'" \
      "$release" "$root/rootfs"
    rm -rf "$root"/rootfs/var/lib/apt/lists/* "$root"/rootfs/usr/share/{doc,man,locale}/*
    umoci init --layout "$root/image"
    umoci new --image "$root/image:$version"
    umoci insert --image "$root/image:$version" "$root/rootfs" /
    umoci config --image "$root/image:$version" --config.user 10000 --config.entrypoint allot \
      --config.label "org.opencontainers.image.version=$version"
    tar --create --file "$OUT/image.tar.part" --directory "$root/image" .
  } >"$OUT/image.log" 2>&1 || {
    tail -n 15 "$OUT/image.log" >&2
    rm -rf "$root" "$OUT/image.tar.part"
    exit 1
  }
  rm -rf "$root"
  mv "$OUT/image.tar.part" "$OUT/image.tar"
  ls -l "$OUT/image.tar"
}

debian_packages
if ((EUID == 0)) && command -v mmdebstrap umoci >/dev/null; then
  image
else
  say "no image is made: that takes root and the packages mmdebstrap and umoci"
fi
