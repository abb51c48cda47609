#!/usr/bin/env python3
"""PyTorch's own levels of attention beside a bundle's, in one process on one GPU.

  tools/peers/torch_levels.py [BUNDLE...] --bind B=4,H=16,L=4096,D=64 [--plain] [--json FILE] [--trace FILE]

PyTorch's: eager with separate operations (naive: the mask makes a new tensor; in place), torch.compile
of the naive form, each backend of scaled_dot_product_attention (math, efficient, flash, cuDNN) and
FlexAttention. The bundle's levels are launched through the driver on the same tensors.

Each form is checked against a float32 reference of two heads, then profiled and timed. One table:
  kernels   that one forward launches, from PyTorch's profiler; "+1" more are copies or sets
  device    median time of a forward between two events, the cache emptied and launches queued before
  x naive   device time over that of eager naive in the same rounds
  host      median time of the call when the device is idle; ours goes through Python here
  bytes     of device memory, counted by ncu where it is installed, else predicted ("~"): every operand
            of every operator read and written once
--trace writes one forward of each in the format of attn-bench --trace.

Exit code: 0; 1 a level of ours is wrong or does not run; 2 the request cannot be met, as on a machine
without a GPU or without PyTorch; 3 a kernel hung.
"""
import argparse
import json
import math
import random
import re
import statistics
import sys
import time

import cases
import measure
import report
import traffic
from bundle import Bundle, gpu_levels, levels_here, resolve_lengths
from files import spare, write_json
from problem import Problem, exit_code
from sdpa import DTYPES, describe, fits, import_torch, level_choice, parse_binds

ERROR_LIMIT = 2e-2  # Scores in bf16 between operators cost up to 6e-3.
MOST_SLEEP = 40_000_000  # Clock ticks.


def parse_options(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundles", nargs="*", metavar="BUNDLE", help="folder made by attnc; none: PyTorch alone")
    parser.add_argument("--bind", default="B=4,H=16,L=4096,D=64")
    parser.add_argument("--levels", default="all", help="of the bundles: all or names")
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="bf16")
    parser.add_argument("--plain", action="store_true", help="no causal mask")
    parser.add_argument("--skip", default="", metavar="REGEX", help="forms to leave out")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--runs", type=int, default=5, help="recorded runs of each form in PyTorch's profiler")
    parser.add_argument("--hang", type=int, default=20, help="seconds after which one of our kernels hangs")
    parser.add_argument("--count", choices=["auto", "ncu", "none"], default="auto",
                        help="count bytes with ncu: where it is there (auto), surely, or not")
    parser.add_argument("--ncu", default="", metavar="PATH")
    parser.add_argument("--kernels", action="store_true", help="a row for each kernel as well")
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--trace", metavar="FILE")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)  # What ncu watches.
    options = parser.parse_args(arguments)
    if min(options.rounds, options.runs, options.hang) < 1:
        raise Problem("--rounds, --runs and --hang are at least 1")
    return options


def choose_levels(options, bundles, case, lengths, capability):
    """(bundle, program, level), one a name: where several targets have it, the newest that runs here."""
    chosen, names = {}, level_choice(options)
    for bundle in bundles:
        programs = [p for p in bundle.programs if fits(p, case, options.dtype, lengths)]
        if not programs:
            raise Problem(f"bundle {bundle.folder} has no program {case.spec} of {options.dtype} for these lengths; "
                          "change --bind, --dtype or --plain")
        for level in levels_here(gpu_levels(programs[0], names), names, capability):
            held = chosen.get(level["name"])
            if not held or held[2]["target"] <= level["target"]:
                chosen[level["name"]] = (bundle, programs[0], level)
    return list(chosen.values())


class Session:
    """The forms, bound to one set of inputs and checked."""

    def __init__(self, torch, options, case, lengths, levels):
        from driver import Driver
        from levels import LevelContestant
        from torch_forms import forms
        self.torch, self.options = torch, options
        torch.zeros(1, device="cuda")  # Makes the context that the driver calls use.
        driver = Driver()
        self.hints, contestants = {}, []
        for form in forms(torch):
            contestants.append(form.contestant)
            self.hints[form.contestant.name] = form.bytes
        contestants += [LevelContestant(torch, driver, *parts, f"attn {parts[2]['name']}") for parts in levels]
        contestants = [c for c in contestants if not (options.skip and re.search(options.skip, c.name))]
        self.inputs = cases.make_inputs(torch, case, lengths, {}, getattr(torch, DTYPES[options.dtype]))
        truth = measure.truths(torch, self.inputs)
        self.live = cases.work(torch, self.inputs)["live"]
        self.entries = [measure.Entry(contestant) for contestant in contestants]
        for entry in self.entries:
            entry.check(torch, [self.inputs], [truth], ERROR_LIMIT, options.hang)
            torch.cuda.empty_cache()
        self.alive = [entry for entry in self.entries if not entry.fault]

    def host_times(self, runs=15):
        """Median microseconds of a call that finds the device idle."""
        found = {}
        for entry in self.alive:
            samples = []
            for _ in range(runs):
                self.torch.cuda.synchronize()
                start = time.perf_counter()
                entry.runs[0]()
                samples.append(time.perf_counter() - start)
            self.torch.cuda.synchronize()
            found[entry.name] = statistics.median(samples) * 1e6
        return found

    def device_times(self, host):
        """Milliseconds of each round, in a new order each. The device sleeps until the host has launched
        everything, so that a slow host shows in its own column only."""
        torch = self.torch
        cold = torch.empty(64 << 20, dtype=torch.int32, device="cuda")
        ticks = {name: min(int(3 * us * 2000) + 100_000, MOST_SLEEP) for name, us in host.items()}  # At 2 GHz.
        for _ in range(self.options.rounds):
            for entry in random.sample(self.alive, len(self.alive)):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                cold.zero_()
                torch.cuda._sleep(ticks[entry.name])
                start.record()
                entry.runs[0]()
                end.record()
                with measure.watch(entry.name, self.options.hang):
                    end.synchronize()
                entry.times.append(start.elapsed_time(end))

    def predicted_bytes(self, entry):
        hint = self.hints.get(entry.name)
        if entry.ours:
            lengths = resolve_lengths(entry.contestant.program, self.inputs.bound_to(entry.contestant.program))
            return level_bytes(entry.contestant.level, lengths, self.live)
        return hint(self.inputs) if hint else traffic.operand_bytes(self.torch, entry.runs[0])

    def run_once(self):
        """Each form once between marks, for ncu."""
        torch = self.torch
        torch.cuda.synchronize()
        torch.cuda.profiler.start()
        for entry in self.alive:
            torch.cuda._sleep(1)
            entry.runs[0]()
            torch.cuda.synchronize()
        torch.cuda._sleep(1)
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()
        print(json.dumps([entry.name for entry in self.alive]))


def level_bytes(level, lengths, live):
    """The manifest's terms at these lengths: operands once. attn-bench's prediction knows the cache as well."""
    total = 0.0
    for kernel in level["kernels"]:
        for term in kernel["prediction"]["bytesRead"] + kernel["prediction"]["bytesWritten"]:
            total += term["coefficient"] * math.prod(lengths[axis] for axis in term["axes"]) * (
                live if term.get("live") else 1)
    return total


def count_bytes(options, arguments):
    """{form: counted bytes} by ncu over this script, and why there are none."""
    ncu = traffic.find_ncu(options.ncu) if options.count != "none" else None
    if not ncu:
        if options.count == "ncu":
            raise Problem("--count=ncu: ncu is not installed here; give --ncu PATH or use --count=auto")
        return {}, "--count=none" if options.count == "none" else "ncu is not installed here"
    command = [sys.executable, __file__, *arguments, "--once"]
    try:
        # What this process compiled is cached; workers would only be more processes under ncu.
        rows, said = traffic.run_ncu(ncu, [traffic.READ, traffic.WRITTEN], command, 150,
                                     ["--profile-from-start", "off"], {"TORCHINDUCTOR_COMPILE_THREADS": "1"})
        names = json.loads(said.strip().splitlines()[-1])
    except (Problem, ValueError, IndexError) as problem:
        if options.count == "ncu":
            raise Problem(f"--count=ncu: {problem}")
        return {}, str(problem)
    parts = traffic.segments(rows)[:len(names)]
    counted = {}
    for name, part in zip(names, parts):
        moved = [traffic.bytes_of(row) for row in part]
        if moved and None not in moved:
            counted[name] = sum(moved)
    return counted, ""


def row(session, entry, launches, host, counted):
    made = {"name": entry.name, "ours": entry.ours, "error": report.finite(entry.error), "fault": entry.fault}
    if entry.fault:
        return made
    kernels = [launch for launch in launches if launch.kind == "kernel"]
    made.update(ms=statistics.median(entry.times), ms_all=entry.times, host_us=host[entry.name],
                kernels=len(kernels), others=len(launches) - len(kernels),
                bytes=counted.get(entry.name), predicted_bytes=session.predicted_bytes(entry),
                launches=[{"kind": launch.kind, "name": launch.name, "us": launch.duration, "blocks": launch.blocks,
                           "threads": launch.threads, "registers": launch.registers, "shared_bytes": launch.shared}
                          for launch in launches])
    return made


def scaled(value):
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.0f} B"


def bytes_text(entry):
    return scaled(entry["bytes"]) if entry.get("bytes") is not None else "~" + scaled(entry["predicted_bytes"])


def table(rows, kernels):
    base = next((r["ms"] for r in rows if r["name"] == "eager naive" and not r["fault"]), None)
    lines = [f"{'form':17} {'kernels':>7} {'device':>10} {'x naive':>8} {'host':>9} {'bytes':>9} {'error':>8}"]
    for r in rows:
        if r["fault"]:
            lines.append(f"{r['name']:17} {r['fault']}")
            continue
        count = f"{r['kernels']}" + (f"+{r['others']}" if r["others"] else "")
        lines.append(f"{r['name']:17} {count:>7} {r['ms']:7.3f} ms {r['ms'] / base if base else float('nan'):8.3f} "
                     f"{r['host_us']:6.0f} us {bytes_text(r):>9} {r['error']:8.1e}")
        for launch in r["launches"] if kernels else []:
            lines.append(f"    {launch['us']:9.1f} us {launch['blocks']:>6} x {launch['threads']:<4} "
                         f"{launch['registers']:>3} registers {launch['shared_bytes']:>6} B shared  {launch['name'][:90]}")
    return "\n".join(lines)


def write_trace(path, device, session, recorded):
    import chrome_trace
    import kineto
    forwards = {}
    for entry in session.alive:
        launches = kineto.example(entry.name, recorded[entry.name])
        labels = [kernel["label"] for kernel in entry.contestant.level["kernels"]] if entry.ours else None
        if labels and len(labels) != len(launches):
            labels = None  # An empty grid is not launched.
        forwards[entry.name] = (launches, labels, {"device_ms": statistics.median(entry.times)})
    chrome_trace.write(path, "attention in PyTorch and attn", device, forwards)


def compare(options, arguments):
    case = cases.CASES["plain" if options.plain else "causal"]
    bundles = [Bundle(folder) for folder in options.bundles]
    spare({"--json": options.json, "--trace": options.trace}, options.bundles)
    lengths, _ = cases.sizes(case, parse_binds(options.bind))
    torch = import_torch()
    device = describe(torch)
    levels = choose_levels(options, bundles, case, lengths, int(device["capability"].replace(".", "")))
    random.seed(1)
    torch.manual_seed(1)
    with torch.no_grad():
        session = Session(torch, options, case, lengths, levels)
        if options.once:
            session.run_once()
            return 0
        import kineto
        recorded = kineto.record(torch, {entry.name: entry.runs[0] for entry in session.alive}, options.runs)
        host = session.host_times()
        session.device_times(host)
        # The child needs the memory; what is bound here stays.
        torch.cuda.empty_cache()
        counted, why = count_bytes(options, arguments)
        rows = [row(session, entry, [] if entry.fault else kineto.typical(entry.name, recorded.get(entry.name, [])),
                    host, counted) for entry in session.entries]
    result = {"device": device, "case": case.name, "dtype": options.dtype, "binds": lengths,
              "date": time.strftime("%Y-%m-%d", time.gmtime()), "not_counted": why, "forms": rows}
    if options.json:
        write_json(options.json, result)
    if options.trace:
        write_trace(options.trace, device["name"], session, recorded)
    binds = " ".join(f"{name}={length}" for name, length in lengths.items())
    print(f"{device['name']}, PyTorch {device['torch']}, cuDNN {device['cudnn']}; {case.name} {options.dtype} {binds}; "
          f"{options.rounds} rounds; bytes {'counted by ncu' if counted else 'predicted: ' + why}\n")
    print(table(rows, options.kernels))
    return int(any(r["ours"] and r["fault"] for r in rows))


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    return exit_code("torch_levels", lambda: compare(parse_options(arguments), arguments))


if __name__ == "__main__":
    sys.exit(main())
