#!/usr/bin/env bash
# The measurements behind kernels/WALKTHROUGH.md, on a GPU machine that has
# PyTorch and need not have LLVM.
#
#   tools/peers/walkthrough.sh FOLDER [bench] [torch] [agreement]
#
# FOLDER holds attn-bench and causal/, the bundle made by
# `attnc kernels/causal.attn -o FOLDER/causal --targets=sm_90a --bind D=128`.
# Results go to $OUT, or FOLDER/results without it: put them into the page with
# `tools/peers/walkthrough.py --collect RESULTS/*.json`. The tables come last.
# Exit code: the worst of the steps'; 2 when FOLDER is not complete.
set -uo pipefail
folder=${1:-}
if [ ! -x "$folder/attn-bench" ] || [ ! -f "$folder/causal/manifest.json" ]; then
  sed -n '2,12p' "$0" | sed 's/^# \{0,1\}//' >&2
  echo "walkthrough.sh: FOLDER needs attn-bench and causal/" >&2
  exit 2
fi
shift
steps=${*:-bench torch agreement}
here=$(cd "$(dirname "$0")" && pwd)
results=${OUT:-$folder/results}
mkdir -p "$results"
binds=B=4,H=16,M=4096,N=4096
status=0

# Runs a step; its output is kept for the end.
step() {
  local name=$1 start=$SECONDS
  shift
  "$@" >"$results/$name.txt" 2>"$results/$name.err"
  local code=$?
  [ -s "$results/$name.err" ] && tail -n 3 "$results/$name.err"
  rm -f "$results/$name.err"
  echo "$name: exit code $code after $((SECONDS - start)) s"
  [ "$code" -gt "$status" ] && status=$code
}

for name in $steps; do
  case "$name" in
    bench)
      step bench "$folder/attn-bench" "$folder/causal" --bind "$binds" --kernels \
        --profile --json "$results/bench.json" --trace "$results/bench.trace.json"
      ;;
    torch)
      step torch "$here/torch_levels.py" "$folder/causal" --bind "B=4,H=16,L=4096,D=128" \
        --json "$results/torch.json" --trace "$results/torch.trace.json"
      ;;
    agreement)
      step agreement "$here/agreement.py" "$folder/causal" --bind "B=4,H=16,L=2048" \
        --levels=naive,fused,flash,pipelined,specialized --bench "$folder/attn-bench" --json "$results/agreement.json"
      ;;
    *)
      echo "walkthrough.sh: no step '$name'; there are bench, torch, agreement" >&2
      exit 2
      ;;
  esac
done
for name in $steps; do
  printf '\n== %s\n' "$name"
  cat "$results/$name.txt"
done
exit "$status"
