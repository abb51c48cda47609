#!/usr/bin/env python3
"""How well a run was predicted: predictions.py RESULTS.json...

Reads what attn-bench --json or --report wrote on a GPU. Prints, for each file
and over all, the share of kernels whose time was predicted within 15 %, and of
counted kernels whose bytes were within 5 % (unfused) or 10 % (fused); then every
kernel outside, worst first, with its reason. The aim is 80 % and all.
"""
import argparse
import json
import os
import sys


def kernels_of(path):
    with open(path) as file:
        run = json.load(file)
    sizes = ",".join(f"{name}={value}" for name, value in run["binds"].items())
    for level in run["levels"]:
        for kernel in level["kernels"]:
            if kernel["measured"] and kernel["blocks"]:
                yield f"{run['program']} {sizes} {level['name']} {kernel['label']}", kernel


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


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    options = parser.parse_args()
    times, moved, outside = [], [], []
    for path in options.files:
        list_ = list(kernels_of(path))
        time = [abs(kernel["miss"]) <= 0.15 for _, kernel in list_]
        byte = [b[1] for _, kernel in list_ if (b := byte_miss(kernel))]
        print(f"{os.path.basename(path)}: time {share(time)}, bytes {share(byte)}")
        times += time
        moved += byte
        for name, kernel in list_:
            if abs(kernel["miss"]) > 0.15:
                outside.append((abs(kernel["miss"]), f"time {100 * kernel['miss']:+.0f} %  {name}: {kernel['reason']}"))
            found = byte_miss(kernel)
            if found and not found[1]:
                outside.append((abs(found[0]), f"bytes {100 * found[0]:+.0f} %  {name}"))
    print(f"\nall: time within 15 %: {share(times)}; bytes within bounds: {share(moved)}\n")
    for _, line in sorted(outside, reverse=True):
        print(line)
    return 0


if __name__ == "__main__":
    sys.exit(main())
