#!/usr/bin/env python3
"""Whether attn-bench, PyTorch's profiler and ncu tell the same of the same kernels.

  tools/peers/agreement.py BUNDLE --bind B=4,H=16,L=1024,D=128 [--levels=NAME,...] [--json FILE]

Four readings of every kernel of the bundle's levels, on one GPU, one after the other:
  events    attn-bench: time between two events around the launch
  activity  attn-bench --profile: CUPTI's activity record
  PyTorch   torch.profiler, over launches of the same code through tools/peers/driver.py
  ncu       over attn-bench, clocks left alone; absent where ncu is not installed
Before each run the device rests for --rest milliseconds in all of them, as ncu lets it do anyway: without a
pause a GPU that works at its power limit lowers its clock, by more than 10 % on an H200.
attn-bench runs before and after the others: "again" is how far its own two readings are apart. The
other columns are differences from its activity record in percent; those over 3 % (or over "again", when
that is more) are marked "!". Registers and shared memory must be equal, bytes are counted ones.

Exit code: 0 all agree; 1 something is marked; 2 the request cannot be met, as on a machine without a
GPU or without PyTorch; 3 a kernel hung.
"""
import argparse
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import cases
import measure
import traffic
from bundle import Bundle, fixed
from files import spare, write_json
from problem import Problem, exit_code
from sdpa import DTYPES, describe, dtype_of, import_torch, parse_binds
from torch_levels import ERROR_LIMIT, choose_levels

BOUND = 0.03
BYTES_BOUND = 0.03
BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "build", "bin", "attn-bench")
REPEATS = 20


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", metavar="BUNDLE", help="folder made by attnc, of one of the cases of sdpa.py")
    parser.add_argument("--bind", default="B=4,H=16,L=1024")
    parser.add_argument("--levels", default="all")
    parser.add_argument("--bench", metavar="PATH", help="attn-bench; left out: build/bin's, else the one on the PATH")
    parser.add_argument("--ncu", default="", metavar="PATH")
    parser.add_argument("--rest", type=int, default=20, metavar="MS")
    parser.add_argument("--hang", type=int, default=20, help="seconds after which a kernel hangs")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args(arguments)
    places = [options.bench] if options.bench else [BUILT, shutil.which("attn-bench") or ""]
    options.bench = next((path for path in places if os.access(path, os.X_OK)), None)
    if not options.bench:
        raise Problem(f"no attn-bench at {places[0]}; build it, or say where it is with --bench")
    return options


def by_target(levels):
    """{target: names of levels}: attn-bench runs one target at a time."""
    found = {}
    for _, _, level in levels:
        found.setdefault(level["target"], []).append(level["name"])
    return found


def bench_command(options, target, names, lengths, scalars):
    binds = ",".join(f"{name}={value}" for name, value in {**lengths, **scalars}.items())
    return [options.bench, options.bundle, f"--target={target}", f"--levels={','.join(names)}", "--no-check",
            "--bind", binds]


def read_bench(options, levels, lengths, scalars):
    """{level: attn-bench's kernels} with activity records and counters."""
    found = {}
    for target, names in by_target(levels).items():
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            done = subprocess.run([*bench_command(options, target, names, lengths, scalars), "--profile", "--counters=bytes",
                                   f"--repeats={REPEATS}", f"--rest={options.rest}", "--json", path],
                                  capture_output=True, text=True)
            if done.returncode:
                raise Problem(f"attn-bench failed on {target}: {done.stderr.strip()}")
            with open(path, encoding="utf-8") as file:
                run = json.load(file)
        for level in run["levels"]:
            if level["failure"]:
                raise Problem(f"attn-bench: level {level['name']}: {level['failure']}")
            found[level["name"]] = [kernel for kernel in level["kernels"] if kernel["blocks"]]
        for missing in run["missing"]:
            print(f"agreement: {target}: no {missing['what']}: {missing['why']}", file=sys.stderr)
    return found


def read_ncu(options, ncu, levels, lengths, scalars):
    """{level: [medians of each kernel's metrics]}, the kernels in the level's order. Caches are left as the run
    leaves them, as for the other readings."""
    metrics = [traffic.TIME, traffic.REGISTERS, *traffic.SHARED, traffic.READ, traffic.WRITTEN]
    found = {}
    for _, _, level in levels:
        symbols = [kernel["symbol"] for kernel in level["kernels"]]
        command = bench_command(options, level["target"], [level["name"]], lengths, scalars)
        rows, _ = traffic.run_ncu(ncu, metrics, [*command, "--warmup=2", "--repeats=2"], 60,
                                  ["--kernel-name-base", "mangled", "--cache-control", "none",
                                   "--launch-skip", str(len(symbols)), "--launch-count", str(6 * len(symbols))])
        found[level["name"]] = [medians([row for row in rows if row[traffic.NAME] == symbol], metrics)
                                for symbol in symbols]
    return found


def medians(rows, metrics):
    columns = {metric: [row[metric] for row in rows if row.get(metric) is not None] for metric in metrics}
    return {metric: statistics.median(values) if values else None for metric, values in columns.items()}


def read_torch(torch, options, levels, case, lengths, scalars):
    """{level: launches}, by turns on two input sets, as attn-bench does where one would stay in the cache."""
    import kineto
    from driver import Driver
    from levels import LevelContestant
    torch.zeros(1, device="cuda")  # Makes the context that the driver calls use.
    driver = Driver()
    dtype = getattr(torch, DTYPES[options.dtype])
    sets = [cases.make_inputs(torch, case, lengths, scalars, dtype) for _ in range(2)]
    truths = [measure.truths(torch, inputs) for inputs in sets]
    forwards = {}
    for parts in levels:
        entry = measure.Entry(LevelContestant(torch, driver, *parts, parts[2]["name"]))
        entry.check(torch, sets, truths, ERROR_LIMIT, options.hang)
        if entry.fault:
            raise Problem(f"level {entry.name}: {entry.fault}")
        turns = itertools.cycle(entry.runs)
        forwards[entry.name] = lambda turns=turns: next(turns)()
    recorded = kineto.record(torch, forwards, REPEATS, options.rest * 1e-3)
    return {name: kineto.typical(name, runs) for name, runs in recorded.items()}


def apart(value, base):
    return value / base - 1 if value is not None and base else None


def rows_of(levels, before, after, ncu, torch_launches):
    made = []
    for _, _, level in levels:
        name = level["name"]
        ours, again, theirs = before[name], after[name], torch_launches[name]
        if len(theirs) != len(ours):
            raise Problem(f"level {name}: attn-bench launches {len(ours)} kernels, PyTorch's profiler saw {len(theirs)}")
        counted = ncu.get(name, [{}] * len(ours)) if ncu else [{}] * len(ours)
        for kernel, second, launch, other in zip(ours, again, theirs, counted):
            if launch.name != kernel["name"]:
                raise Problem(f"level {name}: attn-bench ran {kernel['name']}, PyTorch's profiler saw {launch.name}")
            made.append(row_of(name, kernel, second, launch, other))
    return made


def row_of(level, kernel, second, launch, other):
    """Times in microseconds, differences as fractions of attn-bench's activity record (else its events)."""
    own, mine = kernel["activity"] or {}, second["activity"] or {}
    times = [run["time"] * 1e3 for run in (own, mine) if run]
    events = statistics.fmean((kernel["measured"], second["measured"])) * 1e3
    base = statistics.fmean(times) if times else events
    noise = abs(times[1] / times[0] - 1) if len(times) == 2 else abs(second["measured"] / kernel["measured"] - 1)
    shared = [other.get(metric) for metric in traffic.SHARED]
    counted = kernel["counted"] or {}
    # ncu leaves the caches as the run does, so the bytes of the run are compared, not those of a launch alone.
    moved = None if counted.get("run_bytes_read") is None or counted.get("run_bytes_written") is None \
        else counted["run_bytes_read"] + counted["run_bytes_written"]
    ncu_bytes = traffic.bytes_of(other) if other else None
    ncu_us = other[traffic.TIME] * 1e-3 if other.get(traffic.TIME) else None
    row = {"level": level, "kernel": kernel["label"], "symbol": kernel["name"], "us": base, "again": noise,
           "activity": bool(times),
           "times": {"events": apart(events, base), "PyTorch": apart(launch.duration, base), "ncu": apart(ncu_us, base)},
           "registers": {"attn-bench": kernel["registers"], "PyTorch": launch.registers,
                         "activity": own.get("registers"), "ncu": other.get(traffic.REGISTERS)},
           "shared": {"attn-bench": kernel["shared_bytes"], "PyTorch": launch.shared,
                      "activity": own.get("shared_bytes"), "ncu": None if None in shared else sum(shared)},
           "bytes": moved, "bytes_ncu": apart(moved, ncu_bytes)}
    row["marks"] = marks(row)
    return row


def marks(row):
    """What does not agree, in words."""
    found = []
    bound = max(BOUND, row["again"])
    found += [f"time by {who}" for who, apart_ in row["times"].items() if apart_ is not None and abs(apart_) > bound]
    for what in ("registers", "shared"):
        told = {value for value in row[what].values() if value is not None}
        if len(told) > 1:
            found.append(what)
    if row["bytes_ncu"] is not None and abs(row["bytes_ncu"]) > BYTES_BOUND:
        found.append("bytes")
    return found


def percent(row, who):
    value = row["times"][who]
    mark = "!" if f"time by {who}" in row["marks"] else " "
    return f"{'-':>7} " if value is None else f"{100 * value:+6.1f}%{mark}"


def one_or_all(row, what):
    told = {who: int(value) for who, value in row[what].items() if value is not None}
    if len(set(told.values())) == 1:
        return str(next(iter(told.values())))
    return "/".join(map(str, told.values())) + "!" if told else "-"


def table(rows):
    lines = [f"{'level':12} {'kernel':10} {'activity':>10} {'again':>6} {'events':>7}  {'PyTorch':>7}  {'ncu':>7}  "
             f"{'registers':>9} {'shared':>8} {'counted':>9} {'of ncu':>7}"]
    for r in rows:
        moved = "-" if r["bytes"] is None else f"{r['bytes'] / 1e6:.1f} MB"
        share = "-" if r["bytes_ncu"] is None else f"{100 * r['bytes_ncu']:+.1f}%" + ("!" if "bytes" in r["marks"] else "")
        lines.append(f"{r['level']:12} {r['kernel']:10} {r['us']:7.1f} us {100 * r['again']:5.1f}% {percent(r, 'events')} "
                     f"{percent(r, 'PyTorch')} {percent(r, 'ncu')} {one_or_all(r, 'registers'):>9} "
                     f"{one_or_all(r, 'shared'):>8} {moved:>9} {share:>7}")
    marked = [r for r in rows if r["marks"]]
    lines.append(f"\n{len(rows) - len(marked)} of {len(rows)} kernels agree")
    lines += [f"  {r['level']} {r['kernel']}: {', '.join(r['marks'])}" for r in marked]
    return "\n".join(lines)


def compare(options):
    bundle = Bundle(options.bundle)
    spare({"--json": options.json}, [options.bundle])
    program = bundle.programs[0]
    case = next((case for case in cases.CASES.values() if case.spec == program["name"]), None)
    if not case:
        raise Problem(f"program {program['name']} is none of the cases of sdpa.py --help")
    dtype = dtype_of(program)
    if dtype not in DTYPES:
        raise Problem(f"program {program['name']} is of {dtype}; PyTorch's side takes {' or '.join(sorted(DTYPES))}")
    lengths, scalars = cases.sizes(case, {**fixed(program), **parse_binds(options.bind)})
    torch = import_torch()
    device = describe(torch)
    options.dtype = dtype
    levels = choose_levels(options, [bundle], case, lengths, int(device["capability"].replace(".", "")))
    ncu = traffic.find_ncu(options.ncu)
    missing = "" if ncu else "ncu is not installed here"
    told = {name: scalars[name] for name in case.scalars}
    before = read_bench(options, levels, lengths, told)
    launches = read_torch(torch, options, levels, case, lengths, scalars)
    torch.cuda.empty_cache()
    readings = {}
    if ncu:
        try:
            readings = read_ncu(options, ncu, levels, lengths, told)
        except Problem as problem:
            missing = str(problem)
    after = read_bench(options, levels, lengths, told)
    rows = rows_of(levels, before, after, readings, launches)
    if options.json:
        write_json(options.json, {"device": device, "case": case.name, "dtype": dtype, "binds": {**lengths, **scalars},
                                  "date": time.strftime("%Y-%m-%d", time.gmtime()), "missing": missing,
                                  "kernels": rows})
    binds = " ".join(f"{name}={value}" for name, value in {**lengths, **scalars}.items())
    print(f"{device['name']}, PyTorch {device['torch']}; {case.name} {dtype} {binds}"
          + (f"; without ncu: {missing}" if missing else "") + "\n")
    print(table(rows))
    return int(any(r["marks"] for r in rows))


def main(arguments=None):
    return exit_code("agreement", lambda: compare(parse_options(arguments)))


if __name__ == "__main__":
    sys.exit(main())
