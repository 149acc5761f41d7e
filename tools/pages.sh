#!/usr/bin/env bash
# pages.sh: runs the commands of the pages that train, and compares what the pages show (./dev pages; ./dev test leaves these
# pages out).
# shellcheck source=tools/common.sh
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

python_environment
[[ -x build/release/allot ]] || ./dev build
say "running the commands of the tour and of learning"
"${VENV}/bin/python" tests/integration/pages.py docs/tour.md docs/learning.md || fail 1 "a page shows what is not printed"
