#!/usr/bin/env bash
# Checks and times bundles on a GPU machine that has a driver and nothing else.
#
#   test/device.sh FOLDER [--check|--bench] [--seconds=N] [--levels=L,...]
#                         [--lengths=N,...] [--cases=N] [--seed=N]
#
# FOLDER is made by `test/Run/grid.py --pack=FOLDER --targets=sm_80`: bin/ holds
# attn-check and attn-bench, bundles.tar.gz (or bundles/) the bundles. Logs and JSON go to $OUT when
# it is set. Tables come last. Exit code 1 when a check failed, 2 or 3 when a
# tool could not run.
set -uo pipefail

usage() {
  sed -n '2,11p' "$0" | sed 's/^# \{0,1\}//'
  exit 2
}

folder="" check=1 bench=1 seconds=420 seed=1 cases=44 levels=all
lengths=0,1,2,63,64,65,127,128,129,137,257,1000,1025,4096
for argument in "$@"; do
  case "$argument" in
    --check) bench=0 ;;
    --bench) check=0 ;;
    --seconds=*) seconds=${argument#*=} ;;
    --levels=*) levels=${argument#*=} ;;
    --lengths=*) lengths=${argument#*=} ;;
    --cases=*) cases=${argument#*=} ;;
    --seed=*) seed=${argument#*=} ;;
    -*) usage ;;
    *) [ -z "$folder" ] && folder=$argument || usage ;;
  esac
done
[ -n "$folder" ] || usage
for tool in attn-check attn-bench; do
  if [ ! -x "$folder/bin/$tool" ]; then
    echo "device.sh: $folder/bin/$tool is missing; make the folder with test/Run/grid.py --pack=$folder" >&2
    exit 2
  fi
done
bundles=("$folder"/bundles/*/)
if [ -f "$folder/bundles.tar.gz" ]; then
  unpacked=$(mktemp -d)
  trap 'rm -rf "$unpacked"' EXIT
  tar -xzf "$folder/bundles.tar.gz" -C "$unpacked" || exit 2
  bundles=("$unpacked"/bundles/*/)
fi
if [ ! -f "${bundles[0]}manifest.json" ]; then
  echo "device.sh: no bundle in $folder" >&2
  exit 2
fi
logs=${OUT:-$(mktemp -d)}
status=0

# Runs a command into a log, which is shown; remembers the worst exit code.
logged() {
  local log=$1
  shift
  "$@" 2>&1 | tee "$logs/$log"
  local code=${PIPESTATUS[0]}
  [ "$code" -gt "$status" ] && status=$code
}

if [ "$check" = 1 ]; then
  echo "== the grid: ${#bundles[@]} bundles"
  logged check.log "$folder/bin/attn-check" "${bundles[@]%/}" --device=cuda \
    --levels="$levels" --lengths="$lengths" --cases="$cases" --seed="$seed" \
    --seconds="$seconds" --json="$logs/check.json"
  echo "== more than 65535 heads in the batch"
  small=()
  for bundle in "${bundles[@]%/}"; do
    case "$bundle" in *.8 | *.40 | *.64) small+=("$bundle") ;; esac
  done
  if [ ${#small[@]} -gt 0 ]; then
    logged heads.log "$folder/bin/attn-check" "${small[@]}" --device=cuda \
      --levels="$levels" --batch-heads --work=1e11 --lengths=1,3,65 --cases=3 --seed="$seed" \
      --seconds="$((seconds / 4))" --json="$logs/heads.json"
  else
    echo "(no bundle of a small head dim)"
  fi
fi

if [ "$bench" = 1 ]; then
  echo "== profiles"
  for bundle in "${bundles[@]%/}"; do
    name=$(basename "$bundle")
    case "$name" in causal.bf16.64 | causal.bf16.128 | full.bf16.64 | full.bf16.128) ;; *) continue ;; esac
    logged "bench.$name.log" "$folder/bin/attn-bench" "$bundle" --levels="$levels" \
      --bind B=4,H=16,M=4096,N=4096 --kernels --json "$logs/bench.$name.json"
  done
fi

if [ "$check" = 1 ]; then
  echo "== outcome"
  for log in check heads; do
    [ -f "$logs/$log.log" ] && tail -n 1 "$logs/$log.log"
  done
fi
exit "$status"
