#!/usr/bin/env bash
# lint.sh [--since REF]: clang-format, clang-tidy and shellcheck, on all files or on those changed since a git revision, and
# then also the subjects of the commits since (./dev lint).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

since=''
while (($#)); do
  case $1 in
    --since) since=${2:?"--since needs a git revision"}; shift 2 ;;
    --since=*) since=${1#*=}; shift ;;
    *) fail 2 "lint: unknown argument '$1'" ;;
  esac
done

# own_files PATTERN...: prints the matching files of the repository, or only those changed since the revision.
own_files() {
  {
    if [[ -n $since ]]; then
      git diff --name-only "$since" -- "$@"
      git ls-files --others --exclude-standard -- "$@"
    else
      git ls-files --cached --others --exclude-standard -- "$@"
    fi
  } | sort -u | while read -r file; do [[ ! -f $file ]] || echo "$file"; done
}

git rev-parse --git-dir >/dev/null || fail 1 "lint asks git which files there are"
require build test lint bench
python_environment
configure lint -DALLOT_WITH_PYTHON=ON

failed=0
mapfile -t scripts < <(own_files '*.sh' dev .ci/run)
mapfile -t formatted < <(own_files '*.h' '*.cc')
mapfile -t sources < <(own_files '*.cc')
if [[ -n $since ]]; then
  say "subjects of the commits since ${since}"
  tools/subjects.sh "$since" || failed=1
fi
if ((${#scripts[@]})); then
  say "shellcheck on ${#scripts[@]} files"
  shellcheck --external-sources "${scripts[@]}" || failed=1
fi
if ((${#formatted[@]})); then
  say "clang-format on ${#formatted[@]} files"
  clang-format --dry-run -Werror "${formatted[@]}" || failed=1
fi
if ((${#sources[@]})); then
  # Sixteen files share one pass over their headers: the batches of the unity build that hold one of these files.
  mapfile -t units < <(printf '"%s"\n' "${sources[@]/#/${PWD}/}" |
    grep -rlFf - --include='unity_*.cxx' build/lint | sort)
  mapfile -O "${#units[@]}" -t units < <(printf '%s\n' "${sources[@]}" | grep '^python/bindings/')  # each on its own
  say "clang-tidy on ${#sources[@]} files in ${#units[@]} batches"
  ((${#units[@]} == 0)) || printf '%s\0' "${units[@]}" |
    xargs -0 -r -n 1 -P "$(jobs)" clang-tidy --quiet -p build/lint || failed=1
fi
((failed == 0)) || fail 1 "lint found faults"
say "no faults"
