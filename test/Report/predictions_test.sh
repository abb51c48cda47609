#!/usr/bin/env bash
# predictions.sh from a build folder to a summary, on the CPU at small lengths.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() {
  echo "FAILED: $*"
  exit 1
}
unset OUT
script=$here/predictions.sh
"$script" "$folder" --make="$1" --targets=cpu --specs=causal,sliding_window --dims=32
"$script" "$folder" --dims=32 --lengths=16,40 >"$folder/said"
grep -q '^sliding_window32.cpu.short.json: time ' "$folder/said" || fail "a line for each file"
grep -q '^flash: time . of 4 ' "$folder/said" || fail "a line for each level"
tail -n 1 "$folder/said" | grep -q '^all: time within 15 %: .* of 88 ' || fail "the summary comes last"
mkdir "$folder/out"
OUT=$folder/out "$script" "$folder" --dims=32 --lengths=16 --specs=causal >"$folder/said"
[ "$(tar -tzf "$folder/out/predictions.tgz" | grep -c json)" = 1 ] || fail "results are packed"
"$script" "$folder" --dims=32 --lengths=16 --seconds=0 >"$folder/said"
grep -q '^stopped before the short lengths of causal32.cpu ' "$folder/said" || fail "the time is kept"
# A failing run is told, and the others are still summed up.
echo '{' >"$folder/bundles/causal32.cpu/manifest.json"
if "$script" "$folder" --dims=32 --lengths=16 >"$folder/said"; then fail "a failure has an exit code"; fi
grep -q '^causal32.cpu: exit code 2' "$folder/said" || fail "the run that failed is named"
if "$script" "$folder/none" 2>"$folder/said"; then fail "an empty folder"; fi
grep -q 'make them with --make=BUILD' "$folder/said" || fail "how to make the folder"
# Usage is the comment, no line of the script.
if "$script" --nonsense 2>"$folder/said"; then fail "an unknown option"; fi
grep -q '^predictions.sh: unknown option --nonsense' "$folder/said" || fail "the option is named"
tail -n 1 "$folder/said" | grep -q '^The summary comes last' || fail "usage ends with the comment"
"$script" --help | grep -q '^  test/Report/predictions.sh FOLDER --make=BUILD' || fail "--help"
