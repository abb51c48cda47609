#!/usr/bin/env python3
"""How well a run was predicted: predictions.py RESULTS.json...

Reads what attn-bench --json or --report wrote on a GPU. Prints every kernel that
was mispredicted, the worst last, with its reason; then, for each file, each level
and over all, the share of kernels whose time was predicted within 15 %, and of
counted kernels whose bytes were within 5 % (unfused) or 10 % (fused). The aim is
80 % and all.
"""
import argparse
import json
import os
import sys


def runs_of(paths):
    for path in paths:
        with open(path) as file:
            found = json.load(file)
        for run in found.get("runs", [found]):
            yield os.path.basename(path), run


def kernels_of(run):
    """(level, name, kernel) of what was launched and timed."""
    sizes = ",".join(f"{name}={value}" for name, value in run["binds"].items())
    for level in run["levels"]:
        for kernel in level["kernels"]:
            if kernel["measured"] and kernel["blocks"]:
                yield level["name"], f"{run['program']} {sizes} {level['name']} {kernel['label']}", kernel


def byte_miss(kernel):
    """Counted over predicted less one, and whether that is within its bound."""
    counted = kernel.get("counted") or {}
    if counted.get("bytes_read") is None or counted.get("bytes_written") is None or not kernel["bytes"]:
        return None
    miss = (counted["bytes_read"] + counted["bytes_written"]) / kernel["bytes"] - 1
    fused = kernel["matmul_flops"] > 0 and kernel["exponentials"] > 0
    return miss, abs(miss) <= (0.10 if fused else 0.05)


def share(flags):
    return f"{sum(flags)} of {len(flags)} ({100 * sum(flags) / len(flags):.0f} %)" if flags else "none"


class Tally:
    def __init__(self):
        self.times, self.bytes = [], []

    def add(self, kernel):
        self.times.append(abs(kernel["miss"]) <= 0.15)
        if found := byte_miss(kernel):
            self.bytes.append(found[1])

    def __str__(self):
        return f"time {share(self.times)}, bytes {share(self.bytes)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--most", type=int, default=40, help="mispredicted kernels to list")
    options = parser.parse_args()
    files, levels, all_, outside = {}, {}, Tally(), []
    for name, run in runs_of(options.files):
        for missing in run["missing"]:
            outside.append((0, f"{name}: no {missing['what']}: {missing['why']}"))
        for level, kernel_name, kernel in kernels_of(run):
            for tally in (files.setdefault(name, Tally()), levels.setdefault(level, Tally()), all_):
                tally.add(kernel)
            if abs(kernel["miss"]) > 0.15:
                outside.append((abs(kernel["miss"]), f"time {100 * kernel['miss']:+.0f} %  {kernel_name}: {kernel['reason']}"))
            found = byte_miss(kernel)
            if found and not found[1]:
                outside.append((abs(found[0]), f"bytes {100 * found[0]:+.0f} %  {kernel_name}"))
    outside.sort()
    if len(outside) > options.most:
        print(f"{len(outside) - options.most} smaller ones, then:")
    for _, line in outside[max(0, len(outside) - options.most):]:
        print(line)
    print()
    for name, tally in [*files.items(), *levels.items()]:
        print(f"{name}: {tally}")
    print(f"\nall: time within 15 %: {share(all_.times)}; bytes within bounds: {share(all_.bytes)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
