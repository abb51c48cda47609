"""Checks first, then times in shuffled rounds, with a watch over what may hang."""
import contextlib
import os
import random
import statistics
import subprocess
import sys
import threading

from cases import reference
from problem import Problem

# Largest ||o - reference|| / ||reference||; rounding alone gives 2.4e-3 and 2.9e-4.
ERROR_LIMITS = {"bf16": 6e-3, "f16": 1e-3}
BASES = ("cuDNN", "FlashAttention-2", "FlexAttention")  # The first present is what others are compared with.
BASE_EVERY = 5  # Contestants between two timings of the base.


@contextlib.contextmanager
def watch(name, seconds):
    """Ends the process when a kernel hangs: nothing else frees the GPU."""
    program = os.path.basename(sys.argv[0]).removesuffix(".py")

    def give_up():
        print(f"{program}: {name} hangs (no answer in {seconds} s); leave it out (--skip or --levels)",
              file=sys.stderr, flush=True)
        os._exit(3)

    timer = threading.Timer(seconds, give_up)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def truths(torch, inputs):
    """The float32 reference of the first and the last head."""
    q = inputs.qkv()[0]
    corners = sorted({(0, 0), (q.shape[0] - 1, q.shape[1] - 1)})
    return {corner: reference(torch, inputs, *corner) for corner in corners}


def error(torch, inputs, outputs, truth):
    """The worst relative error over the reference's heads; NaN when any element is not finite."""
    if not all(bool(torch.isfinite(x).all()) for x in outputs.values()):
        return float("nan")
    worst = 0.0
    o = inputs.heads_first(outputs["o"])
    for (b, h), (want, want_lse) in truth.items():
        pairs = [(o[b, h], want)]
        if "lse" in outputs:
            pairs.append((outputs["lse"][b, h], want_lse))
        for got, expected in pairs:
            worst = max(worst, float((got.float() - expected).norm() / expected.norm()))
    return worst


class Entry:
    """A contestant in one run: bound to every input set, its check and its times."""

    def __init__(self, contestant):
        self.contestant, self.name, self.ours = contestant, contestant.name, contestant.ours
        self.runs, self.times, self.error, self.fault = [], [], None, ""

    def check(self, torch, sets, answers, limit, seconds):
        """Twice on each set, outputs poisoned in between. A peer may be unable, ours may not."""
        try:
            worst = 0.0
            for inputs, truth in zip(sets, answers):
                # The first call of a compiled peer takes minutes.
                with watch(self.name, seconds if self.ours else 20 * seconds):
                    run = self.contestant.bind(inputs)
                    outputs = run()
                    if self.ours:
                        torch.cuda.synchronize()
                        for output in outputs.values():
                            output.fill_(float("nan"))
                        outputs = run()
                    torch.cuda.synchronize()
                found = error(torch, inputs, outputs, truth)
                worst = max(worst, found) if found == found else found
                if worst != worst:
                    break
                self.runs.append(run)
            self.error = worst
            if not worst <= limit:
                self.fault = f"WRONG: error {worst:.1e}, the most is {limit:.0e}"
        except Problem as problem:
            self.fault = f"does not run: {problem}"
        except Exception as problem:  # Whatever a peer's library raises.
            said = str(problem).strip().splitlines() or [type(problem).__name__]
            self.fault = f"does not run: {said[0]}"


def timer(torch):
    """Median milliseconds of one call over about `rep` ms, the L2 cache emptied before each."""
    try:
        from triton.testing import do_bench
        return lambda run, warmup, rep: do_bench(run, warmup=warmup, rep=rep, return_mode="median")
    except ImportError:
        pass
    cold = torch.empty(64 << 20, dtype=torch.int32, device="cuda")

    def once(run):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        cold.zero_()
        start.record()
        run()
        end.record()
        end.synchronize()
        return start.elapsed_time(end)

    def measure(run, warmup, rep):
        guess = max(min(once(run) for _ in range(3)), 1e-3)
        for _ in range(int(warmup / guess)):
            once(run)
        return statistics.median(once(run) for _ in range(max(3, int(rep / guess))))
    return measure


def rounds(torch, entries, count, warmup, rep, seconds):
    """Times every entry once a round in a new order, each round on the next input set."""
    measure = timer(torch)
    alive = [entry for entry in entries if not entry.fault]
    base = next((entry for name in BASES for entry in alive if entry.name == name), None)
    for number in range(count):
        order = [entry for entry in alive if entry is not base]
        random.shuffle(order)
        if base:
            for place in range(len(order) // BASE_EVERY * BASE_EVERY, -1, -BASE_EVERY):
                order.insert(place, base)
        for entry in order:
            with watch(entry.name, seconds):
                entry.times.append(measure(entry.runs[number % len(entry.runs)], warmup, rep))
    return base


class Power:
    """Samples the SM clock and the power draw with nvidia-smi while a block runs."""
    FIELDS = "clocks.sm,power.draw,temperature.gpu"

    def __init__(self, torch):
        uuid = getattr(torch.cuda.get_device_properties(0), "uuid", None)
        self.which = f"GPU-{uuid}" if uuid else "0"

    def __enter__(self):
        try:
            self.process = subprocess.Popen(
                ["nvidia-smi", "-i", self.which, f"--query-gpu={self.FIELDS}", "--format=csv,noheader,nounits",
                 "-lms", "100"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None
        self.samples = []
        return self

    def __exit__(self, *_):
        if not self.process:
            return
        self.process.terminate()
        self.samples = parse_samples(self.process.communicate()[0])

    def summary(self):
        """Median and range of each figure; empty without nvidia-smi."""
        names = ("clock_mhz", "power_w", "temperature_c")
        return {name: {"median": statistics.median(column), "min": min(column), "max": max(column)}
                for name, column in zip(names, zip(*self.samples))}


def parse_samples(text):
    """Lines of numbers; what is cut short or not available is left out."""
    samples = []
    for line in text.splitlines():
        try:
            numbers = [float(word) for word in line.split(",")]
        except ValueError:
            continue
        if len(numbers) == 3:
            samples.append(numbers)
    return samples
