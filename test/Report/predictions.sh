#!/usr/bin/env bash
# Predictions against a GPU, over specs and lengths: which kernels' times and
# bytes were told beforehand. Needs a driver, python3 and, for bytes, CUPTI.
#
#   test/Report/predictions.sh FOLDER [--seconds=N] [--lengths=N,...]
#
# FOLDER holds attn-bench and bundles/, a bundle a spec and head size, each made
# by `attnc kernels/S.attn -o FOLDER/bundles/SD --targets=sm_80 --cubin=sm_90
# --bind D=D`. A lease may end at any time: results go to $OUT (predictions.tgz)
# after every run, the summary comes last.
set -uo pipefail
folder="" seconds=240 lengths=512,2048,8192,16384
for argument in "$@"; do
  case "$argument" in
    --seconds=*) seconds=${argument#*=} ;;
    --lengths=*) lengths=${argument#*=} ;;
    -*) sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//'; exit 2 ;;
    *) folder=$argument ;;
  esac
done
if [ ! -x "$folder/attn-bench" ] || [ ! -d "$folder/bundles" ]; then
  echo "predictions.sh: FOLDER needs attn-bench and bundles/" >&2
  exit 2
fi
here=$(cd "$(dirname "$0")" && pwd)
results=$(mktemp -d)
trap 'rm -rf "$results"' EXIT
SECONDS=0
# The longest last: what a lease cuts off is then the slowest.
for length in ${lengths//,/ }; do
  batch=$((16384 / length)) # Much the same work at every length.
  [ "$batch" -gt 4 ] && batch=4
  [ "$batch" -lt 1 ] && batch=1
  for bundle in "$folder"/bundles/*/; do
    [ "$SECONDS" -ge "$seconds" ] && echo "stopped after $SECONDS s" && break 2
    name=$(basename "$bundle")-$length
    window=""
    case "$name" in sliding_window*) window=,window=1024 ;; esac
    "$folder/attn-bench" "$bundle" --no-check --profile --repeats=7 --warmup=3 \
      --bind "B=$batch,H=16,M=$length,N=$length$window" \
      --json "$results/$name.json" >/dev/null || echo "$name: exit code $?"
    [ -n "${OUT:-}" ] && tar -czf "$OUT/predictions.tgz" -C "$results" .
  done
done
python3 "$here/predictions.py" "$results"/*.json
