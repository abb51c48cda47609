#!/usr/bin/env python3
"""Checks traces against the published rules of the Trace Event Format.

  trace_rules.py FILE...            check files
  trace_rules.py --bench PATH ...   make traces on the CPU and check them
  trace_rules.py --unit PATH ...    have ProfileTest write one with warp groups' lanes

Perfetto's own importer is a program that its Python package fetches from a
network when it first runs, so a test cannot rely on it; the rules it applies to
this format are checked here: every event has its fields, slices of a lane nest,
each arrow starts and ends inside a slice and never goes back in time, counters
are numbers, every lane has a name.
"""
import argparse
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def problems(trace):
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        return ["no traceEvents array"]
    found, lanes, named, arrows, counters = [], {}, set(), {}, {}
    for i, event in enumerate(trace["traceEvents"]):
        at = f"event {i}"
        if not isinstance(event, dict) or not isinstance(event.get("name"), str):
            found.append(f"{at}: no name")
            continue
        phase, lane = event.get("ph"), (event.get("pid"), event.get("tid"))
        if not isinstance(event.get("pid"), int):
            found.append(f"{at}: pid is no integer")
        if phase == "M":
            if event["name"] == "thread_name":
                named.add(lane)
            if not isinstance(event.get("args", {}).get("name"), str):
                found.append(f"{at}: metadata without a name")
            continue
        if not number(event.get("ts")) or event["ts"] < 0:
            found.append(f"{at}: ts is {event.get('ts')}")
            continue
        if phase == "X":
            if not number(event.get("dur")) or event["dur"] < 0:
                found.append(f"{at}: dur is {event.get('dur')}")
            else:
                lanes.setdefault(lane, []).append((event["ts"], event["ts"] + event["dur"], event["name"]))
        elif phase in ("s", "f"):
            key = (event.get("cat"), event["name"], event.get("id"))
            ends = arrows.setdefault(key, {})
            if phase in ends:
                found.append(f"{at}: a second '{phase}' of arrow {key}")
            ends[phase] = (lane, event["ts"])
            if phase == "f" and event.get("bp") != "e":
                found.append(f"{at}: the arrow's end is not bound to the slice around it")
        elif phase == "C":
            values = event.get("args")
            if not values or not all(number(v) for v in values.values()):
                found.append(f"{at}: a counter that is no number")
            counters.setdefault((event["pid"], event["name"]), []).append(event["ts"])
        else:
            found.append(f"{at}: phase {phase!r}")
    for lane, slices in lanes.items():
        if lane not in named:
            found.append(f"lane {lane} has no name")
        open_until = []
        for start, end, name in sorted(slices, key=lambda s: (s[0], -s[1])):
            while open_until and open_until[-1] <= start + 1e-9:
                open_until.pop()
            if open_until and end > open_until[-1] + 1e-6:
                found.append(f"lane {lane}: '{name}' overlaps the slice before it")
            open_until.append(end)
    for key, ends in arrows.items():
        if set(ends) != {"s", "f"}:
            found.append(f"arrow {key} has one end")
            continue
        if ends["f"][1] < ends["s"][1]:
            found.append(f"arrow {key} goes back in time")
        for lane, ts in ends.values():
            if not any(start <= ts <= end for start, end, _ in lanes.get(lane, [])):
                found.append(f"arrow {key} has an end outside every slice")
    for key, times in counters.items():
        if times != sorted(times):
            found.append(f"counter {key} goes back in time")
    return found


def self_test():
    """Each rule finds its fault."""
    name = lambda tid: {"ph": "M", "pid": 1, "tid": tid, "name": "thread_name", "args": {"name": "lane"}}
    x = lambda ts, dur: {"ph": "X", "pid": 1, "tid": 1, "name": "x", "ts": ts, "dur": dur}
    flow = lambda ph, ts: {"ph": ph, "pid": 1, "tid": 1, "name": "a", "cat": "a", "id": 1, "ts": ts, "bp": "e"}
    count = lambda ts, v: {"ph": "C", "pid": 1, "name": "c", "ts": ts, "args": {"value": v}}
    good = [name(1), x(0, 10), x(2, 3), flow("s", 1), flow("f", 4), count(0, 1), count(2, 0)]
    assert not problems({"traceEvents": good}), problems({"traceEvents": good})
    for fault in ([x(0, 1)], [name(1), x(0, 5), x(3, 5)], [name(1), x(0, -1)], [name(1), x(0, 9), flow("s", 1)],
                  [name(1), x(0, 9), flow("s", 4), flow("f", 1)], [name(1), x(0, 9), flow("s", 1), flow("f", 12)],
                  [count(0, float("nan"))], [count(2, 1), count(0, 1)], [{"ph": "Q", "pid": 1, "name": "q", "ts": 0}]):
        assert problems({"traceEvents": fault}), fault


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--bench")
    parser.add_argument("--unit")
    parser.add_argument("--source")
    parser.add_argument("--cc", default="cc")
    options = parser.parse_args()
    self_test()
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        files = list(options.files)
        if options.bench:
            bundle = shutil.copytree(options.source + "/test/Tools/Inputs/bench", folder + "/bundle")
            subprocess.run([options.cc, "-shared", "-fPIC", "-O2", "-o", bundle + "/kernels.so",
                            bundle + "/kernels.c", "-lm"], check=True)
            jobs = [[bundle, "--no-check", "--bind", "H=2,M=65,N=130"], [bundle, "--no-check", "--bind", "M=0,N=5"]]
            if os.path.exists(os.path.join(os.path.dirname(options.bench), "attnc")):
                jobs.append([options.source + "/kernels/causal.attn", "--bind", "B=1,H=2,M=128,N=128,D=64"])
            for i, job in enumerate(jobs):
                report = f"{folder}/report{i}"
                subprocess.run([options.bench, *job, "--target=cpu", "--repeats=3", "--report", report],
                               check=True, stdout=subprocess.DEVNULL)
                traces = [f for f in os.listdir(report) if f.startswith("trace")]
                assert "trace.json" in traces and len(traces) > 1, traces
                files += [f"{report}/{f}" for f in sorted(traces)]
        if options.unit:
            files.append(folder + "/timeline.json")
            subprocess.run([options.unit, "--gtest_filter=Timeline.TraceHas*"], check=True,
                           stdout=subprocess.DEVNULL, env={**os.environ, "ATTN_TEST_TRACE": files[-1]})
        for path in files:
            with open(path) as file:
                found = problems(json.load(file))
            print(f"{os.path.basename(path)}: {'; '.join(found[:10]) or 'ok'}")
            status |= bool(found)
    return status


if __name__ == "__main__":
    sys.exit(main())
