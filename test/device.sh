#!/usr/bin/env bash
# Checks and times bundles on a GPU machine that has a driver and nothing else.
#
#   test/device.sh FOLDER [--check|--bench] [--seconds=N] [--levels=L,...]
#                         [--lengths=N,...] [--cases=N] [--seed=N] [--jobs=N]
#                         [--device=cpu]
#
# FOLDER is made by `test/Run/grid.py --pack=FOLDER --targets=sm_80`: bin/ holds
# attn-check and attn-bench, bundles.tar.gz (or bundles/) the bundles. --seconds
# bounds each of the two check passes; --jobs bundles are checked at a time (the
# reference is the slow part, and runs on the host). Logs and JSON go to $OUT when
# it is set. Tables come last. Exit code 1 when a check failed or the time ended
# first, 2 or 3 when a tool could not run. --device=cpu runs bundles of target cpu
# instead, to try this script out.
set -uo pipefail

usage() {
  sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0"
  exit 2
}

folder="" check=1 bench=1 seconds=420 seed=1 cases=44 levels=all jobs=$(nproc) device=cuda
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
    --jobs=*) jobs=${argument#*=} ;;
    --device=*) device=${argument#*=} ;;
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

# One bundle's checks: options, bundle. Its log, its exit code and its JSON stay in
# $pass, where the outcome is counted. SIGTERM ends what runs past the deadline.
check_one() {
  local bundle=$1 name left=$((deadline - $(date +%s)))
  shift
  name=$(basename "$bundle")
  if [ "$left" -le 0 ]; then
    echo "attn-check: not begun, the time was over" >"$pass/$name.log"
    echo 1 >"$pass/$name.code"
    return
  fi
  timeout -k 5 $((left + 5)) "$check_tool" "$bundle" --device=$device --threads=2 \
    --seconds="$left" --json="$pass/$name.json" "$@" >"$pass/$name.log" 2>&1
  echo $? >"$pass/$name.code"
  grep -hE "^FAIL| checks, " "$pass/$name.log" | sed "s|[^ ]*/bundles/||"
}
export -f check_one

# A pass over bundles: name, options of attn-check, --, bundles.
check_pass() {
  local title=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  export device pass=$logs/$title check_tool=$folder/bin/attn-check
  export deadline=$(($(date +%s) + seconds))
  mkdir -p "$pass"
  printf '%s\0' "$@" |
    xargs -0 -P "$jobs" -I{} bash -c 'check_one "$@"' _ {} "${options[@]}" | cut -c1-500
  local passed=0 failed=0 unfinished=0 code counts bundle
  for bundle in "$@"; do
    code=$(cat "$pass/$(basename "$bundle").code" 2>/dev/null || echo 3)
    counts=$(sed -n 's/^attn-check: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
      "$pass/$(basename "$bundle").log" | tail -n 1)
    set -- ${counts:-0 0}
    passed=$((passed + $1)) failed=$((failed + $2))
    if [ -z "$counts" ] || grep -q "^attn-check: stopped" "$pass/$(basename "$bundle").log"; then
      unfinished=$((unfinished + 1))
      case "$code" in 0 | 124 | 137) code=1 ;; esac
      echo "NOT COMPLETE $(basename "$bundle"): $(tail -n 1 "$pass/$(basename "$bundle").log" | cut -c1-300)"
    fi
    [ "$code" -gt "$status" ] && status=$code
  done
  echo "$title: $passed passed, $failed failed, $unfinished of the bundles not complete" |
    tee -a "$logs/outcome.txt"
}

if [ "$check" = 1 ]; then
  : >"$logs/outcome.txt"
  echo "== the grid: ${#bundles[@]} bundles"
  check_pass check --levels="$levels" --lengths="$lengths" --cases="$cases" \
    --seed="$seed" -- "${bundles[@]%/}"
  echo "== more than 65535 heads in the batch"
  small=()
  for bundle in "${bundles[@]%/}"; do
    case "$bundle" in *.8 | *.40 | *.64) small+=("$bundle") ;; esac
  done
  if [ ${#small[@]} -gt 0 ]; then
    check_pass heads --levels="$levels" --batch-heads --work=1e11 --lengths=1,3,65 \
      --cases=3 --seed="$seed" -- "${small[@]}"
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
  cat "$logs/outcome.txt"
fi
exit "$status"
