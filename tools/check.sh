#!/usr/bin/env bash
# The quick start, then every test that needs no GPU. Ends with the runners' own
# summaries.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/quickstart.sh

status=0
printf '\n== unit tests\n'
(cd build && ctest --output-on-failure -j "$(nproc)") || status=1
printf '\n== text tests\n'
cmake --build build --target check-lit || status=1
exit $status
