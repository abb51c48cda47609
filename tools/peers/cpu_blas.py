#!/usr/bin/env python3
"""Compares the CPU target's flash kernel with a BLAS's matrix product.

The BLAS (OpenBLAS, found by its shared library's name) multiplies f32 matrices on
all cores, which is taken as what the cores can do; attn-bench times the f32 spec
in the same run. Prints both in GFLOP/s and their ratio. Debian: libopenblas0.

    tools/peers/cpu_blas.py [--spec kernels/full.attn] [--bind B=1,H=8,M=1024,N=1024,D=64]
"""
import argparse
import ctypes
import ctypes.util
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def name_core():
    """OpenBLAS takes its oldest kernels on a CPU newer than itself; say which fit."""
    try:
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
    except OSError:
        return
    if "avx512f" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "SKYLAKEX")
    elif "avx2" in flags:
        os.environ.setdefault("OPENBLAS_CORETYPE", "HASWELL")


def load_blas():
    name_core()
    for name in (ctypes.util.find_library("openblas"), "libopenblas.so.0", "libopenblas.so"):
        if name:
            try:
                return ctypes.CDLL(name)
            except OSError:
                continue
    sys.exit("cpu_blas: OpenBLAS is not installed here (Debian: apt-get install libopenblas0)")


def blas_gflops(blas, size=2048, repeats=7):
    """Best of some products of size x size matrices."""
    count = size * size
    a, b, c = ((ctypes.c_float * count)(*([0.5] * count)) for _ in range(3))
    row_major, plain, one = 101, 111, ctypes.c_float(1)
    best = 0.0
    for _ in range(repeats):
        begin = time.perf_counter()
        blas.cblas_sgemm(row_major, plain, plain, size, size, size, one, a, size, b, size,
                         ctypes.c_float(0), c, size)
        best = max(best, 2e-9 * size**3 / (time.perf_counter() - begin))
    return best


def flash_gflops(bench, spec, bind):
    """GFLOP/s of level flash on the CPU: two products of 2 M N D operations."""
    with tempfile.TemporaryDirectory() as folder:
        f32 = pathlib.Path(folder) / spec.name
        f32.write_text(re.sub(r"\b(bf16|f16)\b", "f32", spec.read_text()))
        done = subprocess.run([bench, f32, "--target=cpu", "--levels=flash", "--bind", bind,
                               "--json", "-"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"cpu_blas: attn-bench failed: {done.stderr.strip()}")
    level = json.loads(done.stdout)["levels"][0]
    size = {k: int(v) for k, v in (item.split("=") for item in bind.split(","))}
    work = 4 * size["B"] * size["H"] * size["M"] * size["N"] * size["D"]
    return 1e-6 * work / level["measured"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spec", type=pathlib.Path, default=ROOT / "kernels" / "full.attn")
    parser.add_argument("--bind", default="B=1,H=8,M=1024,N=1024,D=64")
    parser.add_argument("--bench", type=pathlib.Path, default=ROOT / "build" / "bin" / "attn-bench")
    options = parser.parse_args()
    if not options.bench.exists():
        sys.exit(f"cpu_blas: {options.bench} is missing; run tools/quickstart.sh first")
    blas = load_blas()
    before = blas_gflops(blas)
    flash = flash_gflops(options.bench, options.spec, options.bind)
    peak = max(before, blas_gflops(blas))
    print(f"OpenBLAS sgemm {peak:.1f} GFLOP/s, flash {flash:.1f} GFLOP/s: {100 * flash / peak:.0f} % of it")


if __name__ == "__main__":
    main()
