#!/usr/bin/env bash
# The measurements behind kernels/WALKTHROUGH.md, on a GPU machine that has
# PyTorch and need not have LLVM.
#
#   tools/peers/walkthrough.sh FOLDER [--length=N] [bench] [torch] [agreement]
#
# FOLDER holds attn-bench and causal/, the bundle made by
# `attnc kernels/causal.attn -o FOLDER/causal --targets=sm_90a --bind D=128`.
# Results go to FOLDER/results, or packed into $OUT/walkthrough.tgz after every
# step: put them into the page with
# `tools/peers/walkthrough.py --collect RESULTS/{bench,torch,agreement}.json`.
# The tables come last. Exit code: the worst of the steps'; 2 for wrong usage.
set -uo pipefail
folder="" length=4096 steps=()
usage() {
  sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0" >&2
  [ $# -gt 0 ] && echo "walkthrough.sh: $*" >&2
  exit 2
}
for argument in "$@"; do
  case "$argument" in
    --length=*) length=${argument#*=} ;;
    bench | torch | agreement) steps+=("$argument") ;;
    -*) usage ;;
    *) [ -z "$folder" ] && folder=$argument || usage "no step '$argument'" ;;
  esac
done
[ ${#steps[@]} -gt 0 ] || steps=(bench torch agreement)
if [ ! -x "$folder/attn-bench" ] || [ ! -f "$folder/causal/manifest.json" ]; then
  usage "FOLDER needs attn-bench and causal/"
fi
here=$(cd "$(dirname "$0")" && pwd)
results=$folder/results
[ -n "${OUT:-}" ] && results=$(mktemp -d) && trap 'rm -rf "$results"' EXIT
mkdir -p "$results"
status=0

# Runs a step; its table is kept for the end.
step() {
  local name=$1 start=$SECONDS
  shift
  "$@" >"$results/$name.txt" 2>"$results/$name.err"
  local code=$?
  tail -n 5 "$results/$name.err"
  [ -s "$results/$name.err" ] || rm "$results/$name.err"
  echo "$name: exit code $code after $((SECONDS - start)) s"
  [ "$code" -gt "$status" ] && status=$code
  [ -n "${OUT:-}" ] && tar -czf "$OUT/walkthrough.tgz" -C "$results" .
}

for name in "${steps[@]}"; do
  case "$name" in
    bench)
      step bench "$folder/attn-bench" "$folder/causal" --bind "B=4,H=16,M=$length,N=$length" --kernels \
        --profile --json "$results/bench.json" --trace "$results/bench.trace.json"
      ;;
    torch)
      step torch "$here/torch_levels.py" "$folder/causal" --bind "B=4,H=16,L=$length,D=128" \
        --json "$results/torch.json" --trace "$results/torch.trace.json"
      ;;
    agreement)
      # Shorter: many launches under three profilers.
      step agreement "$here/agreement.py" "$folder/causal" --bind "B=4,H=16,L=$((length / 2))" \
        --levels=naive,fused,flash,pipelined,specialized --bench "$folder/attn-bench" \
        --json "$results/agreement.json"
      ;;
  esac
done
for name in "${steps[@]}"; do
  printf '\n== %s\n' "$name"
  cat "$results/$name.txt"
done
exit "$status"
