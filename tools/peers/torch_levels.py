#!/usr/bin/env python3
"""Times PyTorch's own levels of attention beside the figures of attn-bench.

Runs, in one process and in shuffled rounds: eager as separate operations (naive:
out-of-place mask; inplace: in-place mask), torch.compile of the same, and the
fused backends of scaled_dot_product_attention (FlashAttention-2, cuDNN).

    tools/peers/torch_levels.py --bind B=4,H=16,L=4096,D=64 [--plain] [--json FILE]

Times are medians in milliseconds of CUDA events around one forward.
"""
import argparse
import json
import random
import statistics
import sys


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bind", default="B=4,H=16,L=4096,D=64")
    parser.add_argument("--dtype", default="bfloat16", choices=["bfloat16", "float16"])
    parser.add_argument("--plain", action="store_true", help="no causal mask")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    try:
        import torch
        import torch.nn.functional as functional
        from torch.nn.attention import SDPBackend, sdpa_kernel
    except ImportError:
        sys.exit("torch_levels: PyTorch is not installed here; nothing to compare with")
    if not torch.cuda.is_available():
        sys.exit("torch_levels: PyTorch sees no GPU")
    size = {k: int(v) for k, v in (item.split("=") for item in options.bind.split(","))}
    B, H, L, D = (size[k] for k in "BHLD")
    dtype = getattr(torch, options.dtype)
    q, k, v = (torch.randn(B, H, L, D, device="cuda", dtype=dtype) for _ in range(3))
    causal = not options.plain
    keep = torch.ones(L, L, device="cuda", dtype=torch.bool).tril()

    def naive(q, k, v):
        s = q @ k.transpose(-1, -2)
        s = s * D**-0.5
        if causal:
            s = s.masked_fill(~keep, float("-inf"))
        return torch.softmax(s, -1) @ v

    def inplace(q, k, v):
        s = q @ k.transpose(-1, -2)
        s = s * D**-0.5
        if causal:
            s = s.masked_fill_(~keep, float("-inf"))
        return torch.softmax(s, -1) @ v

    def sdpa(backend):
        def run(q, k, v):
            with sdpa_kernel(backend):
                return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        return run

    runs = {
        "eager naive": naive,
        "eager inplace": inplace,
        "compiled": torch.compile(naive, dynamic=False),
        "FlashAttention-2": sdpa(SDPBackend.FLASH_ATTENTION),
        "cuDNN": sdpa(SDPBackend.CUDNN_ATTENTION),
    }
    times = {name: [] for name in runs}
    with torch.no_grad():
        for name in list(runs):
            try:
                for _ in range(3):
                    runs[name](q, k, v)
                torch.cuda.synchronize()
            except Exception as problem:  # A backend that this build lacks.
                print(f"torch_levels: {name} does not run: {str(problem).splitlines()[0]}",
                      file=sys.stderr)
                del runs[name]
        for _ in range(options.rounds):
            for name in random.sample(list(runs), len(runs)):
                start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                runs[name](q, k, v)
                repeats = 1 if times[name] and times[name][0] > 2 else 5
                start.record()
                for _ in range(repeats):
                    runs[name](q, k, v)
                end.record()
                end.synchronize()
                times[name].append(start.elapsed_time(end) / repeats)
    result = {name: statistics.median(times[name]) for name in runs}
    for name, value in result.items():
        print(f"{name:18s} {value:8.3f} ms")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"bind": size, "causal": causal, "ms": result}, file)


if __name__ == "__main__":
    main()
