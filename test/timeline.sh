#!/usr/bin/env bash
# Records phases of attention kernels on a GPU machine that has a driver and
# nothing else, and checks what was recorded.
#
#   test/timeline.sh --pack FOLDER BUILD    make FOLDER here (attnc, attn-bench)
#   test/timeline.sh FOLDER [LENGTH]        run it there (default length: 4096)
#
# JSON and traces go to $OUT when it is set. The table comes last: what the
# stamps cost, and each role's waiting share. Exit code 1 when a stamped kernel
# differs from the reference, a trace breaks the format's rules, or a recording
# is missing or does not add up.
set -uo pipefail
here=$(dirname "$(readlink -f "$0")")

if [ "${1:-}" = --pack ]; then
  folder=${2:?folder} build=${3:?build folder}
  if [ -n "$(ls -A "$folder" 2>/dev/null)" ] && [ ! -x "$folder/bin/attn-bench" ]; then
    echo "timeline.sh: '$folder' holds something else than an older pack; name another folder" >&2
    exit 2
  fi
  rm -rf "$folder" && mkdir -p "$folder/bin" "$folder/bundles" || exit 2
  cp "$build/bin/attn-bench" "$here/timeline.sh" "$here/Report/trace_rules.py" "$folder/bin/" || exit 2
  for spec in causal full; do
    for dim in 64 128; do
      "$build/bin/attnc" "$here/../kernels/$spec.attn" -o "$folder/bundles/$spec.$dim.sm_90a" \
        --targets=sm_90a --levels=pipelined,specialized --bind D=$dim --timeline || exit 2
      "$build/bin/attnc" "$here/../kernels/$spec.attn" -o "$folder/bundles/$spec.$dim.sm_80" \
        --targets=sm_80 --levels=flash,pipelined --bind D=$dim --timeline --cubin=sm_90 || exit 2
    done
  done
  echo "packed $(du -sh "$folder" | cut -f1) in $folder"
  exit 0
fi

folder=${1:?folder} length=${2:-4096} status=0
logs=${OUT:-$(mktemp -d)}
for bundle in "$folder"/bundles/*/; do
  name=$(basename "$bundle")
  "$folder/bin/attn-bench" "$bundle" --timeline --repeats=21 \
    --bind "B=4,H=16,M=$length,N=$length" --json "$logs/$name.json" \
    --trace "$logs/$name.trace.json" > "$logs/$name.log" 2>&1 || { status=1; echo "== $name"; cat "$logs/$name.log"; }
  sed -n '/^phases of/,/GHz$/p' "$logs/$name.log" | sed "s/^phases of/$name:/"
  grep -h "not told: phases" "$logs/$name.log" && status=1
done
command -v python3 > /dev/null || { echo "no python3 here: recordings and traces were not checked"; exit $status; }
python3 "$folder/bin/trace_rules.py" "$logs"/*.trace.json || status=1
python3 - "$logs" <<'PYTHON' || status=1
import glob, json, os, sys

# Phases that a role must have passed through, and what it never does.
must = {"producer": {"slot_wait", "copy"}, "consumer": {"load_wait", "score", "softmax", "value", "epilogue"},
        "warps": {"load_wait", "score", "softmax", "value", "epilogue"}}
wrong = []
print(f"\n{'bundle':<18} {'level':<12} {'cost':>7} {'GHz':>5} {'blocks':>10} {'recorded':>9}  waiting, by role")
for path in sorted(glob.glob(sys.argv[1] + "/*.json")):
    if path.endswith(".trace.json"):
        continue
    name = os.path.basename(path)[:-5]
    for level in json.load(open(path))["levels"]:
        t = level["kernels"][0]["timeline"]
        at = f"{name} {level['name']}"
        if not t:
            wrong.append(f"{at}: no recording ({level['failure']})")
            continue
        for role in t["roles"]:
            missing = must[role["role"].split()[0]] - set(role["shares"])
            if missing:
                wrong.append(f"{at}: {role['role']} never came to {sorted(missing)}")
            if abs(sum(role["shares"].values()) - 1) > 1e-6:
                wrong.append(f"{at}: shares of {role['role']} add up to {sum(role['shares'].values())}")
            # A lane is within its kernel: no longer than the stamped run, save a cold start.
            if role["time"] > 1.05 * t["stamped"]["most"]:
                wrong.append(f"{at}: a lane of {role['role']} takes {role['time']} ms, the kernel {t['stamped']['most']} ms")
        if not 0.3 < t["gigahertz"] < 3:
            wrong.append(f"{at}: a clock of {t['gigahertz']} GHz")
        waiting = ", ".join(f"{r['role']} {100 * r['waiting']:.0f} %" for r in t["roles"])
        print(f"{name:<18} {level['name']:<12} {100 * t['overhead']:+6.1f}% {t['gigahertz']:5.2f}"
              f" {t['blocks']:>4}/{t['launched']:<5} {100 * (1 - t['dropped'] / t['stamps']):>7.1f} %  {waiting}")
print("\n".join(wrong) or "every recording adds up")
sys.exit(bool(wrong))
PYTHON
exit $status
