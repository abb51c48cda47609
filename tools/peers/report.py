"""What a run is told as: rows, one table, the means over runs, a JSON file."""
import math
import statistics

from files import write_json


def row(entry, base, work):
    """A contestant's figures. `speed` above 1 is faster than the base."""
    made = {"name": entry.name, "ours": entry.ours, "error": finite(entry.error), "fault": entry.fault}
    if not entry.times:
        return made
    middle, low, high = statistics.median(entry.times), min(entry.times), max(entry.times)
    made.update(ms=middle, ms_min=low, ms_max=high, ms_all=entry.times, tflops=work["flops"] / middle * 1e-9,
                spread=(high - low) / middle, us_per_tile=middle * 1e3 / work["tiles"])
    if base:
        reference = statistics.median(base.times)
        made.update(base=base.name, speed=reference / middle,
                    speed_min=min(base.times) / high, speed_max=max(base.times) / low)
    return made


def finite(number):
    return number if number is not None and math.isfinite(number) else None


def title(run):
    binds = " ".join(f"{name}={value}" for name, value in run["binds"].items())
    live = f"{run['live'] * 100:.1f} % of the pairs live, {run['tiles']} live tiles"
    said = [f"{run['case']} {run['dtype']} {binds}: {live}"]
    for name, unit in (("clock_mhz", "MHz"), ("power_w", "W")):
        if name in run["gpu"]:
            figures = run["gpu"][name]
            said.append(f"{figures['median']:.0f} {unit} ({figures['min']:.0f}-{figures['max']:.0f})")
    return "; ".join(said)


def table(run):
    """Fastest first, then what did not run or was wrong."""
    rows = run["contestants"]
    base = next((r["base"] for r in rows if r.get("base")), "")
    width = max([len(r["name"]) for r in rows] + [10])
    header = f"{'contestant':{width}} {'ms':>9} {'of the time':>11} {'speed':>6} {'range':>11} {'TFLOP/s':>8} " \
             f"{'spread':>7} {'ns/tile':>8} {'error':>8}"
    lines = [title(run), header + (f"   (time and speed against {base})" if base else "")]
    for r in sorted(rows, key=lambda r: r.get("ms", math.inf)):
        if "ms" not in r:
            lines.append(f"{r['name']:{width}} {r['fault']}")
            continue
        against = f"{1 / r['speed']:11.3f} {r['speed']:6.3f} {r['speed_min']:5.2f}-{r['speed_max']:5.2f}" \
            if "speed" in r else f"{'-':>11} {'-':>6} {'-':>11}"
        lines.append(f"{r['name']:{width}} {r['ms']:9.4f} {against} {r['tflops']:8.1f} {r['spread'] * 100:6.1f}% "
                     f"{r['us_per_tile'] * 1e3:8.2f} {r['error']:8.1e}")
    return "\n".join(lines)


def family(name):
    """A prototype's name without its shape, so that shapes can be averaged."""
    return name.split("_")[0] if name.startswith("prototype ") else name


def means(runs):
    """Geometric mean and least speed of each contestant that has several runs, by dtype."""
    speeds = {}
    for run in runs:
        for r in run["contestants"]:
            if "speed" in r and r["name"] != r["base"]:
                speeds.setdefault((family(r["name"]), r["base"], run["dtype"]), []).append(r["speed"])
    lines = []
    for (name, base, dtype), list_ in sorted(speeds.items()):
        if len(list_) > 1:
            mean = math.exp(statistics.fmean(map(math.log, list_)))
            lines.append(f"{name} {dtype}: {mean:.3f} times the speed of {base} (geometric mean of {len(list_)} "
                         f"results), least {min(list_):.3f}, most {max(list_):.3f}")
    return lines


def grids(runs):
    """For each case and head dim a table: a row for each contestant of ours, a column for each length, speed
    against the base; rows by their mean. "-" where it did not run or was wrong."""
    groups = {}
    for run in runs:
        groups.setdefault((run["case"], run["dtype"], run["binds"].get("D")), []).append(run)
    made = []
    for (case, dtype, dim), group in groups.items():
        speeds, base = {}, ""
        for place, run in enumerate(group):
            for r in run["contestants"]:
                base = r.get("base") or base
                if r["ours"]:
                    speeds.setdefault(r["name"], [None] * len(group))[place] = r.get("speed")
        mean = {name: math.exp(statistics.fmean(map(math.log, list_))) if None not in list_ else 0
                for name, list_ in speeds.items()}
        width = max(map(len, speeds), default=0)
        lines = [f"{case} {dtype} D={dim}: speed against {base or 'nothing'}",
                 f"{'':{width}} " + " ".join(f"{'L=' + str(run['binds'].get('M')):>8}" for run in group) + f" {'mean':>8}"]
        for name in sorted(speeds, key=mean.get, reverse=True):
            cells = [*speeds[name], mean[name] or None]
            lines.append(f"{name:{width}} " + " ".join("       -" if s is None else f"{s:8.3f}" for s in cells))
        made.append("\n".join(lines))
    return made


def write(path, device, options, runs):
    write_json(path, {"device": device, "options": options, "runs": runs})
