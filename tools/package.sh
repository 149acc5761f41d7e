#!/usr/bin/env bash
# package.sh: Debian packages of allot, allot-torch, allot-slurm, allot-elastic and allot-dev, a wheel, and, as root, an OCI
# image in which `allot` runs, in build/packages (./dev package). The image is image.tar, for `docker load`, `podman load` or
# `skopeo copy oci-archive:...`.
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly OUT=build/packages

debian_packages() {
  say "packing (log: ${OUT}/cpack.log)"
  cpack --config build/release/CPackConfig.cmake -B "${OUT}/work" >"${OUT}/cpack.log" 2>&1 || {
    tail -n 15 "${OUT}/cpack.log" >&2
    fail 1 "cpack failed"
  }
  mv "${OUT}"/work/*.deb "$OUT"
  rm -rf "${OUT}/work"
}

# image FOLDER: in this empty folder, a small Debian in which only the package allot is installed. It simulates, evaluates and
# serves.
image() {
  local folder=$1 release version package
  release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
  package=$(compgen -G "${OUT}/allot_*.deb")
  version=$(dpkg-deb -f "$package" Version)
  mmdebstrap --mode=root --variant=minbase --include=ca-certificates \
    --customize-hook="copy-in '${package}' /tmp" \
    --customize-hook="chroot \"\$1\" sh -c 'apt-get install -y --no-install-recommends /tmp/*.deb && rm /tmp/*.deb'" \
    "$release" "${folder}/rootfs"
  rm -rf "${folder}"/rootfs/var/lib/apt/lists/* "${folder}"/rootfs/usr/share/{doc,man,locale}/*
  umoci init --layout "${folder}/image"
  umoci new --image "${folder}/image:${version}"
  umoci insert --image "${folder}/image:${version}" "${folder}/rootfs" /
  umoci config --image "${folder}/image:${version}" --config.user 10000 --config.entrypoint allot \
    --config.label "org.opencontainers.image.version=${version}"
  tar --create --file "${OUT}/image.tar.part" --directory "${folder}/image" .
}

require build test
configure release
compile release
rm -rf "$OUT"
mkdir -p "$OUT"
debian_packages
./dev wheel 3.11
cp build/wheels/*.whl "$OUT"
if ((EUID == 0)); then
  require images
  say "making the image (log: ${OUT}/image.log)"
  scratch=$(mktemp -d)
  if ! (image "$scratch") >"${OUT}/image.log" 2>&1; then
    rm -rf "$scratch"
    tail -n 15 "${OUT}/image.log" >&2
    fail 1 "no image was made"
  fi
  rm -rf "$scratch"
  mv "${OUT}/image.tar.part" "${OUT}/image.tar"
else
  say "no image: only root can make one"
fi
ls -l "$OUT"
