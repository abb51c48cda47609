#!/usr/bin/env python3
"""Runs a bundle's levels beside the fused attentions of PyTorch, in one process on one GPU.

  tools/peers/sdpa.py BUNDLE... [--levels=best|all|NAME,...] [--case=NAME,...] [--bind B=4,L=4096,...]
  tools/peers/sdpa.py BUNDLE... --sweep=main|variants|documents [--prototype=FOLDER] [--json=FILE]

Peers: cuDNN and FlashAttention-2 through scaled_dot_product_attention, FlexAttention compiled for
the case (its block mask made beforehand, untimed), and the flash_attn packages that are installed.
Our kernels are loaded from the bundle through the CUDA driver and read PyTorch's tensors in place.

Every contestant is first checked against a float32 reference of two heads, on every input set and
with poisoned outputs; a wrong one is not timed. Then each is timed once a round, in a new order
each round, each round on the next input set. The table gives the median; time and speed are against
cuDNN where it can do the case, else FlashAttention-2, else FlexAttention. FLOPs count live pairs
only, tiles are 128 x 128. Exit code: 0; 1 a contestant of ours is wrong or does not run; 2 the
request cannot be met; 3 a kernel hung.
"""
import argparse
import itertools
import random
import re
import sys
import time

import cases
import measure
import report
from bundle import Bundle, fixed, gpu_levels, levels_here
from files import spare
from problem import Problem, exit_code

DTYPES = {"bf16": "bfloat16", "f16": "float16"}
TOKENS, WIDTH = 16384, 2048  # Sweep main: B * L and H * D.


def main_sweep():
    for name, dim, length in itertools.product(("plain", "causal"), (64, 128, 256), (1024, 4096, 16384)):
        yield name, {"B": TOKENS // length, "H": WIDTH // dim, "L": length, "D": dim}


def variants_sweep():
    names = [name for name in cases.CASES if name != "lse"]
    for dim, name in itertools.product((64, 128), names):
        yield name, {"L": 4096, "D": dim}


def documents_sweep():
    """Time a live tile as documents become shorter, beside causal attention."""
    for dim in (64, 128):
        yield "causal", {"L": 4096, "D": dim}
        for count in (1, 4, 16, 64):
            yield "document", {"L": 4096, "D": dim, "documents": count}


SWEEPS = {"main": main_sweep, "variants": variants_sweep, "documents": documents_sweep}


def parse_binds(text):
    binds = {}
    for item in filter(None, text.split(",")):
        name, separator, value = item.partition("=")
        if not separator or not re.fullmatch(r"\d+", value):
            raise Problem(f"--bind: '{item}' is not NAME=NUMBER")
        if name in binds:
            raise Problem(f"--bind: {name} is given twice; give it one value")
        binds[name] = int(value)
    return binds


def parse_options(arguments):
    listed = "\n".join(f"  {case.name:13} {case.spec + '.attn':25} {case.about}" for case in cases.CASES.values())
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog=f"cases:\n{listed}\n\nsweeps:\n  main          plain and causal, D 64, 128, 256, L 1024, 4096, "
               f"16384 (B*L = {TOKENS}, H*D = {WIDTH})\n"
               "  variants      every case but lse at B4 H16 L4096, D 64 and 128\n"
               "  documents     causal, and 1, 4, 16 and 64 packed documents, at B4 H16 L4096, D 64 and 128")
    parser.add_argument("bundles", nargs="*", metavar="BUNDLE", help="folder made by attnc; none: peers alone")
    parser.add_argument("--levels", default="best", help="best (the last one, the default), all, or names")
    parser.add_argument("--variants", action="store_true",
                        help="also each level's variants (attnc --schedules=...), named by their schedule")
    parser.add_argument("--case", default="", help="cases to run; left out: those of the bundles' specs")
    parser.add_argument("--bind", default="", help="lengths and scalars; L sets M and N")
    parser.add_argument("--sweep", choices=sorted(SWEEPS), help="a list of cases and sizes; --case narrows it")
    parser.add_argument("--fitting", action="store_true", help="leave out runs that none of the bundles fits")
    parser.add_argument("--dtype", choices=sorted(DTYPES), default="bf16")
    parser.add_argument("--peers", default="cudnn,fa2,flex,packages", help="which of cudnn,fa2,flex,packages, or none")
    parser.add_argument("--flex-autotune", action="store_true", help="compile FlexAttention with max-autotune")
    parser.add_argument("--prototype", metavar="FOLDER", help="hand-written kernels: NAME.cubin and NAME.json")
    parser.add_argument("--skip", default="", metavar="REGEX", help="contestants to leave out")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sets", type=int, default=3, help="input sets")
    parser.add_argument("--warmup", type=int, default=15, help="ms before each timing")
    parser.add_argument("--rep", type=int, default=50, help="ms of each timing")
    parser.add_argument("--hang", type=int, default=20, help="seconds after which one of our kernels hangs")
    parser.add_argument("--seed", type=int, help="of inputs and order; left out: the clock")
    parser.add_argument("--json", metavar="FILE", help="everything measured, kept up to date after each run")
    options = parser.parse_args(arguments)
    if min(options.rounds, options.sets, options.rep, options.hang) < 1:
        raise Problem("--rounds, --sets, --rep and --hang are at least 1")
    return options


def dtype_of(program):
    return next((tensor["dtype"] for tensor in program["tensors"] if tensor["name"] == "q"), "")


def fits(program, case, dtype, lengths):
    return (program["name"] == case.spec and dtype_of(program) == dtype
            and all(lengths.get(axis, extent) == extent for axis, extent in fixed(program).items()))


def plan(options, bundles):
    """The runs asked for: (case, lengths, scalars)."""
    wanted = list(filter(None, options.case.split(",")))
    unknown = [name for name in wanted if name not in cases.CASES]
    if unknown:
        raise Problem(f"--case: '{unknown[0]}' is unknown; use {', '.join(cases.CASES)}")
    binds = parse_binds(options.bind)
    programs = [program for bundle in bundles for program in bundle.programs]
    if options.sweep:
        asked = [(name, {**own, **binds}) for name, own in SWEEPS[options.sweep]() if not wanted or name in wanted]
    else:
        if not wanted:
            specs = {program["name"] for program in programs}
            wanted = [name for name, case in cases.CASES.items() if case.spec in specs]
        asked = []
        for name in wanted:
            # A bundle is made for a head dim; without --bind D each of them is a run.
            spec = cases.CASES[name].spec
            extents = [fixed(p) for p in programs if p["name"] == spec and dtype_of(p) == options.dtype]
            own = [{**extent, **binds} for extent in extents if "D" not in binds] or [binds]
            asked += [(name, bind) for i, bind in enumerate(own) if bind not in own[:i]]
    if not asked:
        raise Problem("nothing to run: give a bundle of a known spec, --case or --sweep (--help lists them)")
    return [(cases.CASES[name], *cases.sizes(cases.CASES[name], bind)) for name, bind in asked]


def level_choice(options):
    return list(filter(None, options.levels.split(","))) or ["best"]


def match(options, bundles, runs):
    """For each run the (bundle, program, levels) that fit it. A bundle that fits none is a mistake."""
    names = level_choice(options)
    fitting = [[] for _ in runs]
    for bundle in bundles:
        used = False
        for program in bundle.programs:
            levels = gpu_levels(program, names)
            for found, (case, lengths, _) in zip(fitting, runs):
                if fits(program, case, options.dtype, lengths):
                    found.append((bundle, program, levels))
                    used = True
        if not used:
            have = "; ".join(f"{p['name']} {dtype_of(p)} " + " ".join(f"{a}={n}" for a, n in fixed(p).items())
                             for p in bundle.programs)
            raise Problem(f"bundle {bundle.folder} ({have}) fits none of the runs; change --case, --bind or --dtype")
    return fitting


def with_variants(levels):
    """Each level followed by the schedules that attnc --schedules made of it."""
    return [each for level in levels for each in (level, *level.get("variants", []))]


def level_names(found):
    """Level, target and schedule where one was asked for, with the bundle's name where that leaves a doubt."""
    plain = [" ".join(filter(None, (level["name"], level["target"], level.get("schedule"))))
             for _, _, level in found]
    return [f"{name} {bundle.name}" if plain.count(name) > 1 else name
            for name, (bundle, _, _) in zip(plain, found)]


def chosen_levels(levels, options, capability):
    here = levels_here(levels, level_choice(options), capability)
    return with_variants(here) if options.variants else here


def import_torch():
    try:
        import torch
    except ImportError:
        raise Problem("PyTorch is not installed here; nothing to compare with")
    if not torch.cuda.is_available():
        raise Problem("PyTorch sees no GPU")
    return torch


def describe(torch):
    properties = torch.cuda.get_device_properties(0)
    return {"name": properties.name, "capability": f"{properties.major}.{properties.minor}",
            "multiprocessors": properties.multi_processor_count, "torch": torch.__version__,
            "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version()}


class Session:
    """One GPU, one list of runs."""

    def __init__(self, torch, options):
        from driver import Driver
        from prototype import configurations
        self.torch, self.options = torch, options
        torch.zeros(1, device="cuda")  # Makes the context that the driver calls use.
        self.driver = Driver()
        self.prototypes = list(configurations(options.prototype)) if options.prototype else []

    def contestants(self, case, lengths, found):
        import prototype
        import torch_peers
        from levels import LevelContestant
        options = self.options
        wanted = [] if options.peers == "none" else list(filter(None, options.peers.split(",")))
        made = torch_peers.contestants(self.torch, case, wanted, options.flex_autotune)
        made += [LevelContestant(self.torch, self.driver, *parts, name)
                 for parts, name in zip(found, level_names(found))]
        made += [prototype.PrototypeContestant(self.torch, self.driver, cubin, config)
                 for cubin, config in self.prototypes if prototype.fits(config, case, options.dtype, lengths)]
        return [c for c in made if not (options.skip and re.search(options.skip, c.name))]

    def run(self, case, lengths, scalars, found):
        torch, options = self.torch, self.options
        dtype = getattr(torch, DTYPES[options.dtype])
        contestants = self.contestants(case, lengths, found)
        if not contestants:
            raise Problem(f"case {case.name}: no contestant is left")
        sets = [cases.make_inputs(torch, case, lengths, scalars, dtype) for _ in range(options.sets)]
        work = cases.work(torch, sets[0])
        answers = [measure.truths(torch, inputs) for inputs in sets]
        entries = [measure.Entry(contestant) for contestant in contestants]
        for entry in entries:
            entry.check(torch, sets, answers, measure.ERROR_LIMITS[options.dtype], options.hang)
        answers.clear()
        with measure.Power(torch) as power:
            base = measure.rounds(torch, entries, options.rounds, options.warmup, options.rep, options.hang)
        return {"case": case.name, "spec": case.spec, "dtype": options.dtype, "binds": {**lengths, **scalars}, **work,
                "gpu": power.summary(), "contestants": [report.row(entry, base, work) for entry in entries]}


def compare(options):
    bundles = [Bundle(folder) for folder in options.bundles]
    spare({"--json": options.json}, options.bundles)
    runs = plan(options, bundles)
    fitting = match(options, bundles, runs)
    if options.fitting:
        runs, fitting = map(list, zip(*[pair for pair in zip(runs, fitting) if pair[1]]))
    if options.variants and not any(level.get("variants") for found in fitting for _, _, levels in found
                                    for level in levels):
        raise Problem("--variants: no level asked for has any; make the bundle with attnc --schedules=search")
    torch = import_torch()
    device = describe(torch)
    capability = int(device["capability"].replace(".", ""))
    fitting = [[(bundle, program, level) for bundle, program, levels in found
                for level in chosen_levels(levels, options, capability)] for found in fitting]
    seed = options.seed if options.seed is not None else int(time.time())
    random.seed(seed)
    torch.manual_seed(seed)
    session = Session(torch, options)
    results = []
    for number, ((case, lengths, scalars), found) in enumerate(zip(runs, fitting), 1):
        results.append(session.run(case, lengths, scalars, found))
        print(f"sdpa: {number} of {len(runs)}: {report.title(results[-1])}", file=sys.stderr, flush=True)
        if options.json:
            report.write(options.json, device, {**vars(options), "seed": seed}, results)
        torch.cuda.empty_cache()
    print(f"{device['name']}, PyTorch {device['torch']}, cuDNN {device['cudnn']}; {options.rounds} rounds, "
          f"{options.sets} input sets, seed {seed}")
    for result in results:
        print("\n" + report.table(result))
    if options.variants:
        print("\n" + "\n\n".join(report.grids(results)))
    if summary := report.means(results):
        print("\n" + "\n".join(summary))
    return int(any(c["ours"] and c["fault"] for result in results for c in result["contestants"]))


def main(arguments=None):
    return exit_code("sdpa", lambda: compare(parse_options(arguments)))


if __name__ == "__main__":
    sys.exit(main())
