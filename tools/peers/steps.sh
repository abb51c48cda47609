#!/usr/bin/env bash
# What each step of a schedule is worth, and what lies near it, beside cuDNN.
#
#   tools/peers/steps.sh --pack FOLDER BUILD   make FOLDER here (with attnc)
#   tools/peers/steps.sh steps FOLDER          there: each step changed alone
#   tools/peers/steps.sh search FOLDER         there: neighbours of plain attention
#   tools/peers/steps.sh tune FOLDER           there: the same by attn-bench, with
#                                              the rows of MeasuredRows.h
#
# All but tune need PyTorch there. The last lines are tables: a row a schedule, a column a
# length, speed against cuDNN. JSON goes to $OUT when it is set.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")

# Each is a change of the measured schedule; one that it has already is left out.
steps='rotate=0;persistent=0;persistent=1;persistent=2;turns=0;turns=1;turns=2;vote=0;vote=1;vote=2'
steps+=';groups=2;groups=3;stages=2;stages=3;stages=4'

if [ "${1:-}" = --pack ]; then
  folder=${2:?folder} build=${3:?build folder}
  if [ -n "$(ls -A "$folder" 2>/dev/null)" ] && [ ! -x "$folder/attn-bench" ]; then
    echo "steps.sh: '$folder' holds something else than an older pack; name another folder" >&2
    exit 2
  fi
  rm -rf "$folder" && mkdir -p "$folder/steps" "$folder/search" || exit 2
  cp "$here"/*.py "$here/steps.sh" "$build/bin/attn-bench" "$folder/" || exit 2
  for spec in causal full; do
    for dim in 64 128; do
      "$build/bin/attnc" "$here/../../kernels/$spec.attn" -o "$folder/steps/$spec.$dim" --quiet \
        --targets=sm_90a --levels=pipelined,specialized --bind D=$dim --schedules="$steps" || exit 2
    done
  done
  for dim in 64 128; do
    "$build/bin/attnc" "$here/../../kernels/full.attn" -o "$folder/search/full.$dim" --quiet \
      --targets=sm_90a --levels=specialized --bind D=$dim --schedules=search || exit 2
  done
  # The driver loads the cubins; PTX is for people.
  find "$folder" -name '*.ptx' -delete
  echo "packed $(du -sh "$folder" | cut -f1) in $folder"
  exit 0
fi

if [ $# -ne 2 ]; then
  sed -n '2,$ { /^#/!q; s/^# \{0,1\}//p; }' "$0" >&2
  exit 2
fi
what=$1 folder=$2
out=${OUT:-$(mktemp -d)}
quick=(--variants --peers=cudnn --sets=1 --warmup=4 --seed=1)
case $what in
steps)
  python3 "$folder/sdpa.py" "$folder"/steps/*/ --levels=pipelined,specialized --sweep=main \
    --fitting --rounds=3 --rep=15 "${quick[@]}" --json "$out/steps.json"
  ;;
search)
  python3 "$folder/sdpa.py" "$folder"/search/full.128/ --levels=specialized --sweep=main --case=plain \
    --fitting --rounds=5 --rep=12 "${quick[@]}" --json "$out/search128.json" &&
    python3 "$folder/sdpa.py" "$folder"/search/full.64/ --levels=specialized --sweep=main --case=plain \
      --fitting --rounds=5 --rep=12 "${quick[@]}" --json "$out/search64.json"
  ;;
tune)
  "$folder/attn-bench" "$folder/search/full.128" --tune --levels=specialized --bind H=16 \
    --at B=16,M=1024,N=1024 --at B=4,M=4096,N=4096 --repeats=15 --json "$out/tune128.json" &&
    "$folder/attn-bench" "$folder/search/full.64" --tune --levels=specialized --bind H=32 \
      --at B=4,M=4096,N=4096 --repeats=15 --json "$out/tune64.json"
  ;;
*)
  echo "steps.sh: '$what' is none of steps, search and tune" >&2
  exit 2
  ;;
esac
