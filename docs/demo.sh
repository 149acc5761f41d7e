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
learn() {  # learn NAME OPTIONS...: prints, and keeps what it printed
  run learn "${@:2}" --out "$out/$1" | tee "$out/$1.txt"
}

step "1. A real trace: four weeks of Microsoft's Philly cluster"
run trace inspect embedded

# The trace does not say how its jobs scale: models are drawn. Iterations instead of minutes, so that all machines find the same.
step "2. From the trace to an accepted policy: tuned on the first half, chosen on a fifth, tested on the last weeks"
learn philly --cluster 16x8 --elastic --load 1.0 --iterations 8

step "3. The same in the world of the paper DL2: arrivals of Google's cluster, workers and parameter servers, test on new arrivals"
learn dl2 --setting dl2:size=S --iterations 1000

step "4. The report"
run report "$out/dl2/evaluate" "$out/philly/evaluate" --training "$out/dl2/train" "$out/philly/train" \
  --title "What learning gives" --command "./dev demo" --out "$out/report.html"

step "5. Live: three jobs that really train on this machine, with imaginary GPUs, resized by the policy of step 2"
mkdir -p "$out/live"
counter=$(cd "$(dirname "$allot")" && pwd)/examples/elastic_counter
job() {  # job NAME GPUS MAX STEPS SECONDS-A-STEP-IN-MS AFTER
  printf '[[job]]\nname = "%s"\ngpus = %d\nmin = 1\nmax = %d\nafter = %d\n' "$1" "$2" "$3" "$6"
  printf 'command = ["%s", "--steps", "%d", "--pace-ms", "%d"]\n' "$counter" "$4" "$5"
}
{ job first 2 8 1500 20 0; job second 1 4 500 20 3; job third 2 4 300 20 6; } >"$out/live/jobs.toml"
run serve --runtime "local:cluster=2x4,jobs=$out/live/jobs.toml" --checkpoint "$out/philly/policy" \
  --state "$out/live/state" --interval 1 --until-idle --watch
printf '\nWhat happened to the first job, from its journal and its log:\n'
grep -h '"what":"trains","job":"first"' "$out/live/state/journal.jsonl" |
  sed -E 's/.*"at":([0-9]+\.?[0-9]{0,1})[^,]*.*"workers":([0-9]+),"step":([0-9]+),"took":([0-9]+\.?[0-9]{0,2})[^,}]*.*/  \1 s: trains on \2 GPUs from step \3, \4 s after the decision/'
grep -h '^step=' "$out"/live/state/local/jobs/first/log/*.log | sort -t= -k2 -n |
  awk 'NR % 15 == 1 { print "  " $0 }'

step "What was learned, on jobs that nothing was made from"
for world in philly dl2; do
  printf '%s\n' "$world:"
  sed -n '/^Average JCT of the accepted policy/,/^repeat:/{/^repeat:/!s/^/  /p}' "$out/$world.txt"
done
printf 'report: %s\n' "$out/report.html"
