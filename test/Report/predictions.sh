#!/usr/bin/env bash
# Predictions against a GPU, over specs, head sizes and lengths: which kernels'
# times and bytes were told beforehand.
#
#   test/Report/predictions.sh FOLDER --make=BUILD [--targets=T,...] [--specs=S,...] [--dims=D,...]
#   test/Report/predictions.sh FOLDER [--lengths=N,...] [--seconds=N] [--targets=...] [--specs=...] [--dims=...]
#
# The first form fills FOLDER from a build folder: attn-bench, and bundles/, one
# a spec, head size and target. The second needs FOLDER, a driver, python3 and, for
# bytes, CUPTI; a part of the lengths is a part of the work. A machine may be
# taken away at any time: results go to $OUT (predictions.tgz) or FOLDER/results
# after every bundle, and `predictions.py RESULTS/*.json` reads them again later.
# The summary comes last. Exit code: 0; 1 a run failed; 2 wrong usage.
set -uo pipefail
folder="" make="" targets="" seconds=170 lengths=512,1024,2048,4096,8192,16384
specs=causal,full,alibi,sliding_window dims=64,128
# The comment above: lines 2 on, up to the first that is none.
usage() {
  sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0"
}
wrong() {
  usage >&2
  exit 2
}
for argument in "$@"; do
  case "$argument" in
    --make=*) make=${argument#*=} ;;
    --targets=*) targets=${argument#*=} ;;
    --specs=*) specs=${argument#*=} ;;
    --dims=*) dims=${argument#*=} ;;
    --seconds=*) seconds=${argument#*=} ;;
    --lengths=*) lengths=${argument#*=} ;;
    --help | -h) usage && exit 0 ;;
    -*) echo "predictions.sh: unknown option $argument" >&2 && wrong ;;
    *) [ -z "$folder" ] && folder=$argument || wrong ;;
  esac
done
[ -n "$folder" ] || wrong
here=$(cd "$(dirname "$0")" && pwd)

if [ -n "$make" ]; then
  mkdir -p "$folder/bundles" && cp "$make/bin/attn-bench" "$folder/" || exit 2
  targets=${targets:-sm_80,sm_90a}
  for target in ${targets//,/ }; do
    case "$target" in sm_80) cubin=--cubin=sm_90 ;; *) cubin= ;; esac
    for spec in ${specs//,/ }; do
      for dim in ${dims//,/ }; do
        "$make/bin/attnc" "$here/../../kernels/$spec.attn" -o "$folder/bundles/$spec$dim.$target" \
          --targets="$target" $cubin --bind "D=$dim" || exit 2
      done
    done
  done
  exit 0
fi

if [ ! -x "$folder/attn-bench" ] || [ ! -d "$folder/bundles" ]; then
  echo "predictions.sh: $folder needs attn-bench and bundles/; make them with --make=BUILD" >&2
  exit 2
fi
results=$folder/results
[ -n "${OUT:-}" ] && results=$(mktemp -d) && trap 'rm -rf "$results"' EXIT
mkdir -p "$results"
status=0
SECONDS=0
# Options for the lengths that a run of `part` takes.
sizes() { # part, spec
  local length batch window
  for length in ${lengths//,/ }; do
    [ $((length > 4096)) = $(($1 == long)) ] || continue
    batch=$((16384 / length)) # Much the same work at every length.
    [ "$batch" -gt 4 ] && batch=4
    [ "$batch" -lt 1 ] && batch=1
    window=""
    [ "$2" = sliding_window ] && window=,window=$((length < 1024 ? length / 2 : 1024))
    echo "--at B=$batch,H=16,M=$length,N=$length$window"
  done
}
long=1 short=0
# One process a bundle: a device takes longer to open than a size to measure. The
# longest last: what a machine that goes away cuts off is then the slowest.
for part in short long; do
  repeats=7
  [ "$part" = long ] && repeats=3
  for spec in ${specs//,/ }; do
    mapfile -t at < <(sizes "$part" "$spec")
    [ "${#at[@]}" -gt 0 ] || continue
    for dim in ${dims//,/ }; do
      for bundle in "$folder/bundles/$spec$dim".*/; do
        name=$(basename "$bundle")
        [ -d "$bundle" ] && [[ -z $targets || ,$targets, == *,${name#*.},* ]] || continue
        if [ "$SECONDS" -ge "$seconds" ]; then
          echo "stopped before the $part lengths of $name after $SECONDS s; run the rest with --lengths="
          break 4
        fi
        # shellcheck disable=SC2068 # each line holds two words
        "$folder/attn-bench" "$bundle" --no-check --profile --counters=bytes --warmup=3 \
          --repeats=$repeats ${at[@]} --json "$results/$name.$part.json" >/dev/null ||
          { echo "$name: exit code $?" && status=1; }
        [ -n "${OUT:-}" ] && tar -czf "$OUT/predictions.tgz" -C "$results" .
      done
    done
  done
done
echo "$SECONDS s"
python3 "$here/predictions.py" "$results"/*.json || status=1
exit "$status"
