"""PyTorch's profiler as lists of launches: what ran on the device in one forward, and the host's call of each.

One profiler session runs every forward several times inside a named range. The range ends after a
synchronisation, so what runs on the device in it belongs to it. All times are microseconds."""
import collections
import dataclasses
import json
import os
import statistics
import tempfile
import time

from problem import Problem

DEVICE_KINDS = {"kernel": "kernel", "gpu_memcpy": "copy", "gpu_memset": "set"}
HOST_KINDS = ("cuda_runtime", "cuda_driver")
PREFIX = "attn forward "


@dataclasses.dataclass
class Launch:
    """A kernel, copy or set on the device. Copies and sets have no footprint."""
    kind: str
    name: str
    start: float
    duration: float
    stream: int
    correlation: int
    blocks: int = 0
    threads: int = 0
    registers: int = 0
    shared: int = 0  # Bytes a block, static and dynamic.
    host: tuple | None = None  # Start and duration of the call that made it.


def product(shape):
    result = 1
    for length in shape:
        result *= length
    return result


def launch_of(event, calls):
    args = event.get("args", {})
    correlation = args.get("correlation", 0)
    call = calls.get(correlation)
    return Launch(DEVICE_KINDS[event["cat"]], event["name"], float(event["ts"]), float(event["dur"]),
                  args.get("stream", 0), correlation, product(args.get("grid", [0])), product(args.get("block", [0])),
                  args.get("registers per thread", 0), args.get("shared memory", 0),
                  call and (float(call["ts"]), float(call["dur"])))


def read(trace):
    """From the profiler's exported trace: {forward: [launches of each of its runs]}, in device order."""
    events = [event for event in trace["traceEvents"] if event.get("ph") == "X"]
    calls = {event["args"]["correlation"]: event for event in events
             if event.get("cat") in HOST_KINDS and event.get("args", {}).get("correlation")}
    ranges = sorted((float(event["ts"]), float(event["ts"]) + float(event["dur"]), event["name"][len(PREFIX):])
                    for event in events
                    if event.get("cat") == "user_annotation" and event["name"].startswith(PREFIX))
    launches = sorted((launch_of(event, calls) for event in events if event.get("cat") in DEVICE_KINDS),
                      key=lambda launch: launch.start)
    runs, place = collections.defaultdict(list), 0
    for start, end, name in ranges:
        inside = []
        while place < len(launches) and launches[place].start < end:
            if launches[place].start >= start:
                inside.append(launches[place])
            place += 1
        runs[name].append(inside)
    return dict(runs)


def record(torch, forwards, runs, rest=0):
    """{name: [launches of each run]} of forwards {name: function}; one more run goes before, unrecorded. The device
    is idle for `rest` seconds before each run."""
    from torch.profiler import ProfilerActivity, profile, record_function
    for forward in forwards.values():
        forward()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as profiler:
        for name, forward in forwards.items():
            forward()  # The first launch after a pause pays for it.
            torch.cuda.synchronize()
            for _ in range(runs):
                time.sleep(rest)
                with record_function(PREFIX + name):
                    forward()
                    torch.cuda.synchronize()
    handle, path = tempfile.mkstemp(suffix=".json")
    os.close(handle)
    try:
        profiler.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return read(json.load(file))
    finally:
        os.unlink(path)


def typical(name, runs):
    """One run with the median of each launch's duration over all runs that have the same launches as most."""
    shapes = collections.Counter(tuple(launch.name for launch in run) for run in runs)
    if not shapes or not next(iter(shapes)):
        raise Problem(f"PyTorch's profiler saw no kernel of {name}; is another profiler attached?")
    shape = shapes.most_common(1)[0][0]
    alike = [run for run in runs if tuple(launch.name for launch in run) == shape]
    return [dataclasses.replace(launch, duration=statistics.median(run[i].duration for run in alike))
            for i, launch in enumerate(alike[-1])]


def example(name, runs):
    """The last run as it was: launches with their own times, for a time line."""
    shape = tuple(launch.name for launch in typical(name, runs))
    return next(run for run in reversed(runs) if tuple(launch.name for launch in run) == shape)
