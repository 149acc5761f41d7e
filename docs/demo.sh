#!/usr/bin/env bash
# The main job, end to end: `./dev demo` builds allot and runs this. Every command is echoed, so that it can be
# repeated by hand. Usage: docs/demo.sh PROGRAM [OUT]
set -euo pipefail

allot=$1
out=${2:-runs/demo}

step() {
  if [[ -t 1 && -z ${NO_COLOR:-} ]]; then printf '\n\033[1m== %s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}
run() {
  local word
  printf '$ allot'
  for word in "$@"; do
    if [[ $word =~ ^[A-Za-z0-9_./:=,+-]+$ ]]; then printf ' %s' "$word"; else printf " '%s'" "$word"; fi
  done
  printf '\n'
  "$allot" "$@"
}

# A run begins anew; a folder that no demo made is left alone.
if [[ -e $out && ! -e $out/.demo ]] && [[ -n $(ls -A "$out" 2>/dev/null) ]]; then
  printf 'demo: %s exists and was not made by a demo: choose another folder\n' "$out" >&2
  exit 2
fi
rm -rf "$out"
mkdir -p "$out"
touch "$out/.demo"
world=(--cluster 16x8)
training=(--to 2017-11-13)   # two weeks to learn from
unseen=(--from 2017-11-13)   # the two weeks after, for the proof

step "1. The trace: four weeks of Microsoft's Philly cluster"
run trace inspect embedded

step "2. The well-known schedulers on the training weeks; their decisions are logged"
run compare --policies fifo,las,srtf,drf,optimus "${world[@]}" "${training[@]}" --load 1.0 --workloads 2 \
  --title "Training weeks" --out "$out/compare" --log "$out/logs"

step "3. The network learns from the logged decisions of a teacher"
run pretrain --log "$out/logs/cluster/drf-v0" --out "$out/pretrain"

step "4. Reinforcement learning from there"
run train --start "$out/pretrain/checkpoint" --teacher drf "${world[@]}" "${training[@]}" --training-cluster 8x8 \
  --iterations 40 --out "$out/train"

step "5. The proof: weeks that the policy has never seen"
run evaluate --checkpoint "$out/train/best" "${world[@]}" "${unseen[@]}" --load 1.0 --workloads 8 --seed 1000 \
  --against fifo,las,srtf,drf,optimus --title "Unseen weeks" --out "$out/evaluate"

step "6. The report"
run report "$out/evaluate" "$out/compare" --training "$out/pretrain" "$out/train" \
  --title "A scheduler trained on Philly" --command "./dev demo" --out "$out/report.html"
