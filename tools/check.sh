#!/usr/bin/env bash
# The quick start, then every test that needs no GPU. Ends with the runners' own
# summaries.
set -euo pipefail
cd "$(dirname "$0")/.."
tools/quickstart.sh

# The report's page is looked at in a real browser; its test is skipped without.
if ! command -v chromium >/dev/null && [ "$(id -u)" -eq 0 ]; then
  DEBIAN_FRONTEND=noninteractive apt-get install -y chromium >/dev/null ||
    echo "note: chromium cannot be installed; the report's browser test will be skipped"
fi

status=0
printf '\n== unit tests\n'
(cd build && ctest --output-on-failure -j "$(nproc)") || status=1
printf '\n== text tests\n'
cmake --build build --target check-lit || status=1
exit $status
