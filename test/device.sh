#!/usr/bin/env bash
# Device tests in one command, for a GPU machine without LLVM.
#
#   test/device.sh FOLDER
#
# FOLDER holds bin/attn-check and bin/attn-bench and the bundles check/* and
# bench/* (test/make-device-folder.sh makes it where the compiler is). Checks
# every bundle against the float64 reference, then times the bench bundles beside
# PyTorch's own levels where PyTorch is present, and prints the tables last. Logs
# go to $OUT when it is set.
set -uo pipefail
folder=${1:?usage: test/device.sh FOLDER (see test/make-device-folder.sh)}
here=$(cd "$(dirname "$0")/.." && pwd)
logs=${OUT:-$folder/logs}
mkdir -p "$logs"
status=0

echo "== checks against float64"
"$folder/bin/attn-check" "$folder"/check/* --device=cuda --target=sm_80 \
  ${CHECK_OPTIONS:-} --json "$logs/check.json" >"$logs/check.log" 2>&1 || status=1
grep -vE '(, ok \()' "$logs/check.log" | head -60
tail -1 "$logs/check.log"

if compgen -G "$folder/bench/*" >/dev/null; then
  echo "== speed, B4 H16 L4096"
  for bundle in "$folder"/bench/*; do
    name=$(basename "$bundle")
    "$folder/bin/attn-bench" "$bundle" --target=sm_80 --bind B=4,H=16,M=4096,N=4096 \
      --kernels ${BENCH_OPTIONS:-} --json "$logs/$name.json" >"$logs/$name.log" 2>&1 || status=1
    echo "-- $name"
    grep -E '^(level|reference|naive|inplace|fused|flash|pipelined|[A-Za-z]* *FAILED)' "$logs/$name.log" ||
      tail -3 "$logs/$name.log"
  done
  for D in 64 128; do
    for mask in "" --plain; do
      echo "-- PyTorch, D=$D ${mask:-causal}"
      python3 "$here/tools/peers/torch_levels.py" --bind "B=4,H=16,L=4096,D=$D" $mask \
        --json "$logs/torch_D$D$mask.json" 2>&1 | tail -8
    done
  done
fi
exit $status
