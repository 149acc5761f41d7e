#!/usr/bin/env bash
# subjects.sh REF: fails if a commit since this git revision has a subject longer than 72 letters (./dev subjects).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

readonly LONGEST_SUBJECT=72

since=${1:?"subjects needs a git revision"}
long=$(git log --format=%s "${since}..HEAD" | awk -v most="$LONGEST_SUBJECT" 'length($0) > most')
[[ -z $long ]] || fail 1 "subjects of commits have at most ${LONGEST_SUBJECT} letters:" "$long"
