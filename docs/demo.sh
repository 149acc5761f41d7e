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

# Every run starts from the beginning; a folder that no demo made is left alone.
if [[ -e $out && ! -e $out/.demo ]] && [[ -n $(ls -A "$out" 2>/dev/null) ]]; then
  printf 'demo: %s exists and was not made by a demo: choose another folder\n' "$out" >&2
  exit 2
fi
rm -rf "$out"
mkdir -p "$out"
touch "$out/.demo"
world=(--cluster 16x8 --elastic)  # the trace does not say how its jobs scale: models are drawn
training=(--to 2017-11-13)   # two weeks to learn from
unseen=(--from 2017-11-13)   # the two weeks after, for the test

step "1. The trace: four weeks of Microsoft's Philly cluster"
run trace inspect embedded

step "2. The best heuristic of the training weeks: the numbers of 'index', by search"
run tune "${world[@]}" "${training[@]}" --load 1.0 --workloads 4 | tee "$out/tune.txt"
best=$(tail -n 1 "$out/tune.txt")

step "3. It and well-known schedulers on the training weeks; their decisions are logged"
schedulers=fifo,las,srtf,drf,optimus,srtf:sizing=hull,index
run compare "${world[@]}" "${training[@]}" --load 1.0 --workloads 2 --policies "$schedulers,tuned=$best" \
  --title "Training weeks" --out "$out/compare" --log "$out/logs"

step "4. The network learns from the logged decisions of the best heuristic"
run pretrain --log "$out/logs/cluster/tuned-v0" --out "$out/pretrain"

step "5. Reinforcement learning"
run train --start "$out/pretrain/checkpoint" --teacher "$best" "${world[@]}" "${training[@]}" --training-cluster 12x8 \
  --method policy-gradient:learning-rate=0.0003,average-decay=0.97 --iterations 16 --validate-every 4 \
  --validation-workloads 24 --out "$out/train"

step "6. Test on weeks that training never saw"
run evaluate --checkpoint "$out/train/best" "${world[@]}" "${unseen[@]}" --load 1.0 --workloads 12 --span 3.5d \
  --seed 1000 --against "$schedulers,tuned=$best" --title "Unseen weeks" --out "$out/evaluate"

step "7. The report"
run report "$out/evaluate" "$out/compare" --training "$out/pretrain" "$out/train" \
  --title "A scheduler trained on Philly" --command "./dev demo" --out "$out/report.html"

step "8. Live: three jobs that really train on this machine, with imaginary GPUs, resized by the trained policy"
mkdir -p "$out/live"
counter=$(cd "$(dirname "$allot")" && pwd)/examples/elastic_counter
job() {  # job NAME GPUS MAX STEPS SECONDS-A-STEP-IN-MS AFTER
  printf '[[job]]\nname = "%s"\ngpus = %d\nmin = 1\nmax = %d\nafter = %d\n' "$1" "$2" "$3" "$6"
  printf 'command = ["%s", "--steps", "%d", "--pace-ms", "%d"]\n' "$counter" "$4" "$5"
}
{ job first 2 8 1500 20 0; job second 1 4 500 20 3; job third 2 4 300 20 6; } >"$out/live/jobs.toml"
run serve --runtime "local:cluster=2x4,jobs=$out/live/jobs.toml" --checkpoint "$out/train/best" \
  --state "$out/live/state" --interval 1 --until-idle --watch
printf '\nWhat happened to the first job, from its journal and its log:\n'
grep -h '"what":"trains","job":"first"' "$out/live/state/journal.jsonl" |
  sed -E 's/.*"at":([0-9]+\.?[0-9]{0,1})[^,]*.*"workers":([0-9]+),"step":([0-9]+),"took":([0-9]+\.?[0-9]{0,2})[^,}]*.*/  \1 s: trains on \2 GPUs from step \3, \4 s after the decision/'
grep -h '^step=' "$out"/live/state/local/jobs/first/log/*.log | sort -t= -k2 -n |
  awk 'NR % 15 == 1 { print "  " $0 }'
