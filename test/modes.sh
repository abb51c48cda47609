#!/usr/bin/env bash
# The hard cases of the checks, one command: exact integers (canary), repeats,
# slices, many heads, more than 2^31 scores, dead first tiles, jumping scores,
# every length up to three tiles, rounding steps, tf32, PTX alone, and
# compute-sanitizer.
#
#   test/modes.sh pack FOLDER [--cpu]   compiles the bundles; needs attnc
#   test/modes.sh run FOLDER [--jobs=N] [--only=MODE,...] [--skip=MODE,...]
#                            [--seconds=N]   of each job; default 60
#   test/modes.sh sanitize FOLDER [--tools=memcheck,synccheck,racecheck]
#                            [--seconds=N]   of each tool and bundle; default 40
#
# FOLDER travels to a GPU machine that has a driver and nothing else. --cpu makes
# CPU bundles for short forms of the same modes, which CI runs. Logs go to $OUT
# when it is set. A table comes last. Exit code 1 when anything failed, ended
# early or did not run.
set -uo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)

# Bundles: name, spec, dtype, binds, target, levels, further options of attnc.
bundles() {
  cat <<'LIST'
causal64.h     kernels/causal              bf16 D=64  sm_90a specialized --cubin=sm_90a
causal128.h    kernels/causal              bf16 D=128 sm_90a specialized --cubin=sm_90a
full64.h       kernels/full                bf16 D=64  sm_90a specialized --cubin=sm_90a
full128.h      kernels/full                f16  D=128 sm_90a specialized --cubin=sm_90a
full256.h      kernels/full                bf16 D=256 sm_90a specialized --cubin=sm_90a
window.h       kernels/sliding_window      bf16 D=128 sm_90a specialized --cubin=sm_90a
grouped.h      kernels/grouped_heads       bf16 D=64  sm_90a specialized --cubin=sm_90a
document.h     kernels/document_mask       bf16 D=64  sm_90a specialized --cubin=sm_90a
bmhd.h         kernels/bmhd                bf16 D=128 sm_90a specialized --cubin=sm_90a
bias.h         kernels/bias_tensor         bf16 D=64  sm_90a specialized --cubin=sm_90a
alibi.h        kernels/alibi               bf16 D=128 sm_90a specialized --cubin=sm_90a
lse.h          kernels/lse                 bf16 D=64  sm_90a specialized --cubin=sm_90a
dead.h         test/Run/Inputs/dead_first_tile bf16 D=64 sm_90a specialized --cubin=sm_90a
frozen64.h     kernels/causal              bf16 D=64  sm_90a specialized --cubin=sm_90a --schedule=vote=2
frozen128.h    kernels/full                f16  D=128 sm_90a specialized --cubin=sm_90a --schedule=vote=2,persistent=1
frozenwin.h    kernels/sliding_window      f16  D=64  sm_90a specialized --cubin=sm_90a --schedule=vote=2
frozenlse.h    kernels/lse                 bf16 D=64  sm_90a specialized --cubin=sm_90a --schedule=vote=2
cluster64.h    kernels/full                bf16 D=64  sm_90a specialized --cubin=sm_90a --schedule=cluster=2
cluster128.h   kernels/full                f16  D=128 sm_90a specialized --cubin=sm_90a --schedule=persistent=1,cluster=2
cluster256.h   kernels/full                bf16 D=256 sm_90a specialized --cubin=sm_90a --schedule=cluster=2
clustercausal.h kernels/causal             bf16 D=128 sm_90a specialized --cubin=sm_90a --schedule=persistent=1,cluster=2
steps.h        test/Run/Inputs/elementwise bf16 D=8   sm_90a specialized --cubin=sm_90a
steps16.h      test/Run/Inputs/elementwise f16  D=80  sm_90a specialized --cubin=sm_90a
causal64.a     kernels/causal              bf16 D=64  sm_80 flash,pipelined --cubin=sm_90
full64.a       kernels/full                bf16 D=64  sm_80 flash,pipelined --cubin=sm_90
full128.a      kernels/full                f16  D=128 sm_80 flash,pipelined --cubin=sm_90
bias.a         kernels/bias_tensor         bf16 D=64  sm_80 flash,pipelined --cubin=sm_90
dead.a         test/Run/Inputs/dead_first_tile bf16 D=64 sm_80 flash,pipelined --cubin=sm_90
steps.a        test/Run/Inputs/elementwise bf16 D=8   sm_80 naive,flash,pipelined --cubin=sm_90
steps16.a      test/Run/Inputs/elementwise f16  D=80  sm_80 naive,flash,pipelined --cubin=sm_90
naive.a        kernels/causal              bf16 D=64  sm_80 naive --cubin=sm_90
tf32.a         kernels/causal              f32  D=64  sm_80 flash,pipelined --cubin=sm_90 --tf32
ptx.h          kernels/causal              bf16 D=64  sm_90a specialized
ptx.a          kernels/causal              bf16 D=64  sm_80 flash,pipelined
LIST
}
bundles_cpu() {
  cat <<'LIST'
causal64.c     kernels/causal              bf16 D=64  cpu flash
full64.c       kernels/full                f16  D=64  cpu flash
bias.c         kernels/bias_tensor         bf16 D=64  cpu flash
naive.c        kernels/causal              f32  D=64  cpu naive
dead.c         test/Run/Inputs/dead_first_tile bf16 D=64 cpu flash
steps.c        test/Run/Inputs/elementwise bf16 D=8   cpu flash
LIST
}

# Modes: the mode, the bundles it runs (a pattern of names), arguments of
# attn-check. 65536 x 65536 and 47000 x 46000 scores are more than 2^31.
modes() {
  local by_one=$1 long=$2
  cat <<LIST
big       causal64.*  --lengths=65536 --cases=1 --bind=B=1,H=1 --input=normal
big       bias.*      --cases=1 --bind=B=1,H=1,M=47000,N=46000 --input=normal
big       naive.*     --cases=1 --bind=B=1,H=1,M=47000,N=46000 --input=normal
canary    [cfwgdbla]* --input=canary --lengths=$long --cases=3 --repeats=20
repeats   [cfwgdbla]* --input=normal --lengths=$long --cases=2 --repeats=100
sliced    [cfwgdbla]* --input=sliced --lengths=1,63,64,129,257,1000 --cases=8
heads     *64.*       --batch-heads --lengths=3,17 --cases=2
dead      dead.*      --lengths=1,63,64,65,128,129,130,131,200,257,1000 --cases=16
jumps     [cfwgdla]*  --input=jumps --lengths=64,65,128,129,200,257,1000,4096 --cases=10 --work=2e9
wild      [cfwgdla]*  --input=wild --lengths=64,65,129,257,1000,2000 --cases=20 --work=1e9
lengths   causal64.*  --bind=M=130 --lengths=$by_one --cases=$(tr ',' '\n' <<<"$by_one" | wc -l)
lengths   full64.*    --bind=M=130 --lengths=$by_one --cases=$(tr ',' '\n' <<<"$by_one" | wc -l)
steps     steps*      --input=huge --lengths=4096 --cases=4 --seed=13
tf32      tf32.*      --lengths=0,1,64,129,257,1000 --cases=14
ptx       ptx.*       --lengths=1,129,1000 --cases=4
LIST
}
# The short forms, for a CPU.
modes_cpu() {
  cat <<LIST
long      causal64.*  --cases=1 --bind=B=1,H=1,M=2,N=70000 --input=normal
canary    [cfb]*      --input=canary --lengths=1,129,512 --cases=3 --repeats=3
repeats   [cfb]*      --input=normal --lengths=257 --cases=1 --repeats=100 --work=1e7
sliced    *           --input=sliced --lengths=1,63,64,129 --cases=4 --work=1e7
heads     causal64.*  --batch-heads --lengths=3 --cases=1
dead      dead.*      --lengths=1,64,65,130,131,257 --cases=8 --work=1e7
jumps     [cfd]*      --input=jumps --lengths=64,65,129,1000 --cases=6 --work=1e8
wild      [cfd]*      --input=wild --lengths=65,129,300 --cases=10 --work=1e8
lengths   causal64.*  --bind=M=70 --lengths=$(seq -s, 0 193) --cases=194 --work=1e6
steps     steps*      --input=huge --lengths=1025 --cases=2
LIST
}

usage() {
  sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0"
  exit 2
}

pack() {
  local folder=$1 kind=$2 bin=${ATTN_BIN:-$here/build/bin} failed=0
  [ -x "$bin/attnc" ] || { echo "modes.sh: $bin/attnc is missing; build it with tools/quickstart.sh --build-only" >&2; exit 2; }
  mkdir -p "$folder/bin" "$folder/bundles" "$folder/specs"
  while read -r name spec dtype binds target levels rest; do
    sed "s/\bbf16\b/$dtype/g" "$here/$spec.attn" >"$folder/specs/$name.attn"
    rm -rf "$folder/bundles/$name"
    # shellcheck disable=SC2086
    "$bin/attnc" "$folder/specs/$name.attn" -o "$folder/bundles/$name" --quiet \
      --targets="$target" --levels="$levels" --bind="$binds" $rest \
      2>"$folder/specs/$name.log" || { echo "NOT COMPILED $name"; cat "$folder/specs/$name.log"; failed=1; }
    rm -f "$folder/bundles/$name"/*.h
    case "$rest" in *--cubin*) rm -f "$folder/bundles/$name"/*.ptx ;; esac
  done < <("$kind")
  rm -rf "$folder/specs"
  cp "$bin/attn-check" "$folder/bin/" && strip "$folder/bin/attn-check" 2>/dev/null
  cp "$here/test/modes.sh" "$folder/"
  echo "modes.sh: $(ls "$folder/bundles" | wc -l) bundles in $folder ($(du -sh "$folder" | cut -f1))"
  return $failed
}

# One job: mode, bundle, command. Leaves a line of the table in $logs.
job() {
  local mode=$1 bundle=$2 began=$SECONDS
  shift 2
  local log=$logs/$mode.$bundle.$$.log code
  timeout -k 5 "$limit" "$@" >"$log" 2>&1
  code=$?
  local counts verdict=ok why
  counts=$(sed -n 's/^attn-check: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' "$log" | tail -n 1)
  why=$(grep -m 1 -E "^FAIL|^attn-check: (nothing|stopped|.*refused)|ERROR SUMMARY: [1-9]|RACECHECK SUMMARY: [1-9]" "$log")
  if [ $code = 124 ] || [ $code = 137 ]; then
    verdict="TOO SLOW" why="ended after $limit s"
  elif grep -q "^attn-check: stopped" "$log"; then
    verdict="NOT COMPLETE"
  elif [ $code != 0 ]; then
    verdict="FAILED ($code)" why=${why:-$(tail -n 1 "$log")}
  else
    why=""
  fi
  read -r passed failed <<<"${counts:-0 0}"
  printf '%-10s %-12s %6s %6s %5s s  %-13s %s\n' "$mode" "$bundle" "$passed" "$failed" \
    $((SECONDS - began)) "$verdict" "${why:0:260}" >>"$logs/table.txt"
}
export -f job

table() {
  echo "mode       bundle       passed failed    time  outcome"
  sort "$logs/table.txt"
  local bad
  bad=$(grep -cvE " s  ok" "$logs/table.txt")
  echo "modes.sh: $(wc -l <"$logs/table.txt") jobs, $bad not ok, $SECONDS s"
  [ "$bad" = 0 ]
}

verb=${1:-}
folder=${2:-}
[ -n "$folder" ] || usage
shift 2
cpu=0 jobs=$(nproc) only="" skip="" seconds="" tools=memcheck,synccheck,racecheck
for argument in "$@"; do
  case "$argument" in
    --cpu) cpu=1 ;;
    --jobs=*) jobs=${argument#*=} ;;
    --only=*) only=,${argument#*=}, ;;
    --skip=*) skip=,${argument#*=}, ;;
    --seconds=*) seconds=${argument#*=} ;;
    --tools=*) tools=${argument#*=} ;;
    *) usage ;;
  esac
done
if [ "$verb" = pack ]; then
  list=bundles
  [ $cpu = 1 ] && list=bundles_cpu
  pack "$folder" $list
  exit
fi
check=$folder/bin/attn-check
[ -x "$check" ] || { echo "modes.sh: $check is missing; make the folder with test/modes.sh pack $folder" >&2; exit 2; }
logs=${OUT:-$(mktemp -d)}/$verb
mkdir -p "$logs" && : >"$logs/table.txt"
device=cuda list=modes
ls "$folder/bundles" | grep -q '\.c$' && device=cpu list=modes_cpu
export logs

case "$verb" in
  run)
    export limit=${seconds:-60}
    # Longest first; each job in a few threads of its own.
    while read -r mode pattern arguments; do
      [ -z "$only" ] || [[ $only == *",$mode,"* ]] || continue
      [[ $skip == *",$mode,"* ]] && continue
      for bundle in "$folder"/bundles/$pattern; do
        name=$(basename "$bundle")
        case "$mode:$name" in
          big:*|long:*|heads:*|steps:*|tf32:*|ptx:*|lengths:*|dead:*) ;;
          *:steps*|*:tf32*|*:naive*|*:ptx*) [ "$mode" = sliced ] && [ $device = cpu ] || continue ;;
        esac
        [ -d "$bundle" ] && printf '%s %s %s %s --device=%s --seconds=%s %s\0' \
          "$mode" "$name" "$check" "$bundle" $device "$limit" "$arguments"
      done
    done < <($list "$(seq -s, 0 385)" 1000,2048,1024) |
      xargs -0 -P "$jobs" -I{} bash -c 'job {}'
    ;;
  sanitize)
    export limit=${seconds:-40}
    tool=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    [ -x "$tool" ] || { echo "modes.sh: compute-sanitizer is missing; install the CUDA Toolkit" >&2; exit 2; }
    for kind in ${tools//,/ }; do
      # The runtime asks the driver for a kernel's parameters until there is none.
      flags=""
      [ "$kind" = memcheck ] && flags=--report-api-errors=no
      for name in causal64.h full128.h window.h causal64.a full64.a; do
        [ -d "$folder/bundles/$name" ] && printf '%s %s %s --tool=%s %s --error-exitcode=9 %s %s --device=cuda --lengths=65,300 --bind=B=1 --cases=2\0' \
          "$kind" "$name" "$tool" "$kind" "$flags" "$check" "$folder/bundles/$name"
      done
    done | xargs -0 -P "$jobs" -I{} bash -c 'job {}'
    ;;
  *) usage ;;
esac
table
