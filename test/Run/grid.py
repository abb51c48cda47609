#!/usr/bin/env python3
"""Compiles specs at many dtypes and head dims and checks every level of each.

  test/Run/grid.py                        what CI runs: each spec once, on the CPU
  test/Run/grid.py --set=pairs            each spec at each dtype
  test/Run/grid.py --set=pairs --shift=4  the same, each with another head dim; shifts
                                          0 to 8 together are the full set
  test/Run/grid.py --set=full             each spec, dtype and head dim; hours
  test/Run/grid.py --set=pairs --targets=sm_80 --cubin=sm_90 --pack=carry
      compiles only, into a folder that test/device.sh runs on a GPU machine;
      with cubins the PTX stays behind, so that many bundles travel

The specs are the library in kernels/ and the harder ones in test/Run/Inputs/.
Their dtype varies by replacing bf16 in the text, their head dims by --bind.
The last line is the outcome; exit code 1 when anything failed.
"""
import argparse
import concurrent.futures
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
DTYPES = ["bf16", "f16", "f32"]
DIMS = [64, 40, 128, 8, 96, 256, 80, 192, 72]
SPLIT_DIMS = [(192, 128), (64, 64), (40, 72), (128, 256), (96, 8)]

# attn-check's options by set. A CPU takes seconds for one 4096 x 4096 case at
# the unfused levels, so those run once a spec, in the pass "long".
LENGTHS = {
    "quick": ["--lengths=0,1,2,63,64,65,129,257", "--cases=14"],
    "pairs": ["--lengths=0,1,2,63,64,65,127,128,129,137,257,1000,1025",
              "--cases=30", "--work=2e8"],
    "full": ["--lengths=0,1,2,63,64,65,127,128,129,137,257,1000,1025",
             "--cases=30", "--work=2e8"],
}
LONG = ["--lengths=4096,1025,1000", "--cases=3", "--work=1"]
BATCH_HEADS = ["--batch-heads", "--lengths=1,3", "--cases=2"]


def bound_dims(text):
    """The head dims that a spec's where clauses bind: ["D"] or ["Dqk", "Dv"]."""
    return [d for d in ("D", "Dqk", "Dv")
            if re.search(r"\b%s\s*=\s*\d+" % d, text)]


def dims_of(text):
    names = bound_dims(text)
    if names == ["D"]:
        return [{"D": d} for d in DIMS]
    if names == ["Dqk", "Dv"]:
        return [dict(zip(names, pair)) for pair in SPLIT_DIMS]
    return [{}]


def variants(which, specs, shift):
    """(spec, dtype, binds) of a set, every dtype and dim among them; `shift` goes on
    that many dims for each spec and dtype."""
    for i, spec in enumerate(specs):
        dims = dims_of(spec.read_text())
        if which == "quick":
            yield spec, DTYPES[(i + i // len(DIMS)) % 3], dims[(i + shift) % len(dims)]
        elif which == "pairs":
            for j, dtype in enumerate(DTYPES):
                yield spec, dtype, dims[(3 * j + i + shift) % len(dims)]
        else:
            yield from itertools.product([spec], DTYPES, dims)


class Grid:
    def __init__(self, options):
        self.o = options
        self.passed = self.failed = self.broken = 0
        self.left_out = []  # What a target says it has no schedule for.
        self.out = pathlib.Path(options.pack or options.out)
        (self.out / "specs").mkdir(parents=True, exist_ok=True)

    @staticmethod
    def name(spec, dtype, binds):
        return ".".join([spec.stem, dtype, "x".join(map(str, binds.values()))]).rstrip(".")

    def compile(self, spec, dtype, binds):
        """Returns the bundle's folder, or None after saying why not."""
        name = self.name(spec, dtype, binds)
        text = re.sub(r"\bbf16\b", dtype, spec.read_text())
        source = self.out / "specs" / (name + ".attn")
        source.write_text(text)
        bundle = self.out / "bundles" / name
        bundle.parent.mkdir(exist_ok=True)
        command = [self.o.attnc, source, "-o", bundle, "--quiet",
                   "--targets=" + self.o.targets, "--levels=" + self.o.levels]
        if binds:
            command.append("--bind=" + ",".join(f"{k}={v}" for k, v in binds.items()))
        if self.o.cubin:
            command.append("--cubin=" + self.o.cubin)
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            return bundle
        errors = [l for l in done.stderr.splitlines() if "error" in l]
        if errors and "no schedule: " in errors[0]:
            self.left_out.append(f"{name}: " + errors[0].split("no schedule: ")[1])
            return None
        print(f"NOT COMPILED {name}: {errors[0] if errors else done.stderr.strip()[-300:]}"
              f" -- {' '.join(map(str, command))}", flush=True)
        return None

    def check(self, bundle, arguments):
        """Returns (passed, failed); shows failures."""
        command = [self.o.check, bundle, "--device=cpu",
                   "--threads=1", f"--seed={self.o.seed}", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        for line in done.stdout.splitlines():
            if line.startswith("FAIL"):
                print(line[:600], flush=True)
        last = done.stdout.strip().splitlines()[-1] if done.stdout.strip() else ""
        counts = re.match(r"attn-check: (\d+) passed, (\d+) failed", last)
        if counts and done.returncode in (0, 1):
            return int(counts[1]), int(counts[2])
        print(f"FAIL {bundle.name}: attn-check ended with {done.returncode}: "
              f"{(done.stderr or done.stdout).strip()[-300:]} -- "
              f"{' '.join(map(str, command))}", flush=True)
        return 0, 1

    def one(self, variant):
        spec, dtype, binds = variant
        bundle = self.compile(spec, dtype, binds)
        if not bundle:
            said_why = any(line.startswith(self.name(*variant) + ": ")
                           for line in self.left_out)
            return 0, 0, 0 if said_why else 1
        if self.o.pack:
            self.slim(bundle)
            return 0, 0, 0
        passes = [LENGTHS[self.o.set]]
        if self.o.set != "quick" and dtype == "bf16":
            if not binds or min(binds.values()) <= 64:
                passes.append(BATCH_HEADS)
            passes.append(LONG)
        passed, failed = map(sum, zip(*(self.check(bundle, p) for p in passes)))
        if not self.o.keep:
            shutil.rmtree(bundle, ignore_errors=True)
        return passed, failed, 0

    def run(self):
        begin = time.time()
        specs = sorted(ROOT.glob("kernels/*.attn")) + \
            sorted(ROOT.glob("test/Run/Inputs/*.attn"))
        if self.o.only:
            specs = [s for s in specs if s.stem in self.o.only.split(",")]
        work = [v for v in variants(self.o.set, specs, self.o.shift)
                if v[1] in self.o.dtypes.split(",")]
        if not work:
            sys.exit("grid: no spec matches --only=" + self.o.only)
        with concurrent.futures.ThreadPoolExecutor(self.o.jobs) as pool:
            for i, (passed, failed, broken) in enumerate(pool.map(self.one, work)):
                self.passed += passed
                self.failed += failed
                self.broken += broken
                if sys.stderr.isatty() or i % 20 == 19:
                    end = "" if sys.stderr.isatty() else "\n"
                    print(f"\r{i + 1} of {len(work)} bundles", end=end,
                          file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            print(file=sys.stderr)
        for line in self.left_out:
            print("no schedule:", line)
        if self.o.pack:
            self.pack(len(work) - self.broken - len(self.left_out))
        else:
            print(f"grid: {len(work)} bundles, {self.passed} passed, {self.failed} "
                  f"failed, {self.broken} not compiled, {time.time() - begin:.0f} s")
        return 1 if self.failed or self.broken else 0

    def slim(self, bundle):
        """Drops what a runner with a matching cubin never reads."""
        for file in bundle.iterdir():
            if file.suffix == ".h" or (file.suffix == ".ptx" and self.o.cubin):
                file.unlink()

    def pack(self, bundles):
        """bundles.tar.gz and bin/ for device.sh."""
        archive = self.out / "bundles.tar.gz"
        with tarfile.open(archive, "w:gz", compresslevel=6) as tar:
            tar.add(self.out / "bundles", arcname="bundles")
        shutil.rmtree(self.out / "bundles")
        shutil.rmtree(self.out / "specs")
        (self.out / "bin").mkdir(exist_ok=True)
        for binary in (self.o.check, self.o.check.parent / "attn-bench"):
            if binary.exists():
                shutil.copy(binary, self.out / "bin")
                subprocess.run(["strip", self.out / "bin" / binary.name], check=False)
        size = sum(f.stat().st_size for f in self.out.rglob("*") if f.is_file())
        print(f"grid: {bundles} bundles packed in {self.out} "
              f"({size / 2**20:.1f} MiB), {self.broken} not compiled")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    binaries = ROOT / "build" / "bin"
    parser.add_argument("--set", choices=["quick", "pairs", "full"], default="quick")
    parser.add_argument("--shift", type=int, default=0, help="other head dims, see above")
    parser.add_argument("--only", help="specs by name, comma-separated")
    parser.add_argument("--dtypes", default=",".join(DTYPES), help="of the tensors")
    parser.add_argument("--targets", default="cpu")
    parser.add_argument("--levels", default="all")
    parser.add_argument("--cubin", help="passed to attnc, such as sm_90")
    parser.add_argument("--pack", help="compile into this folder for device.sh")
    parser.add_argument("--out", default=str(ROOT / "build" / "grid"))
    parser.add_argument("--keep", action="store_true", help="keep the bundles")
    parser.add_argument("--attnc", type=pathlib.Path, default=binaries / "attnc")
    parser.add_argument("--check", type=pathlib.Path, default=binaries / "attn-check")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    for tool in (options.attnc, options.check):
        if not tool.exists():
            parser.error(f"{tool} is missing; build it with tools/quickstart.sh "
                         "--build-only or name another")
    sys.exit(Grid(options).run())


if __name__ == "__main__":
    main()
