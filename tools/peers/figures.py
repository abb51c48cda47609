"""The tables and figures of the walk-through, from its data alone. Times are shown as ratios and shares."""
import re

from problem import Problem

TABLE = re.compile(r"(<!--table ([^>]*?)-->\n)(.*?)(<!--/table-->)", re.S)
FIGURE = re.compile(r"(<!--f ([^>]*?)-->)(.*?)(<!--/f-->)", re.S)
MARK = re.compile(r"<!--/?(?:table|f)\b[^>]*>")
NONE = "–"
# What the page's prose is about, in its order.
LEVELS = ("naive", "inplace", "fused", "flash", "pipelined", "specialized")
ELEMENT_BYTES, SCORE_BYTES = 2, 4


def kept(source, names):
    return {name: source[name] for name in names if name in source}


def moved(kernel):
    counted = kernel["counted"] or {}
    if counted.get("bytes_read") is None or counted.get("bytes_written") is None:
        return None
    return counted["bytes_read"] + counted["bytes_written"]


def condense_kernel(kernel):
    made = kept(kernel, ("label", "schedule", "predicted", "measured", "miss", "bytes", "bound", "unit", "registers",
                         "shared_bytes", "reason"))
    occupancy, counted = kernel["occupancy"] or {}, kernel["counted"] or {}
    made.update(occupancy=occupancy.get("share"), limiter=occupancy.get("limiter"), counted=moved(kernel),
                **{name: counted.get(name) for name in ("l2_hits", "tensor_pipe", "special_pipe")})
    return made


def condense_bench(run):
    levels = []
    for level in run["levels"]:
        if level["failure"]:
            raise Problem(f"level {level['name']}: {level['failure']}; the page shows levels that pass")
        kernels = [condense_kernel(kernel) for kernel in level["kernels"]]
        levels.append({**kept(level, ("name", "launches", "predicted", "measured", "miss", "bytes", "temporary_bytes",
                                      "host_per_launch")), "kernels": kernels})
    return {**kept(run, ("program", "target", "device", "binds", "live")), "levels": levels, "missing": run["missing"]}


def condense_torch(run):
    forms = []
    for form in run["forms"]:
        made = kept(form, ("name", "fault", "kernels", "others", "ms", "host_us", "bytes", "predicted_bytes"))
        if form.get("launches"):
            made["most"] = max(form["launches"], key=lambda launch: launch["us"])["name"]
        forms.append(made)
    return {**kept(run, ("device", "case", "dtype", "binds", "date")), "forms": forms}


def condense_agreement(run):
    return kept(run, ("device", "case", "dtype", "binds", "date", "missing", "kernels"))


def scaled(value, units=((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))):
    for limit, unit in units:
        if value >= limit:
            return f"{value / limit:.3g} {unit}"
    return f"{value:.0f} "


def in_bytes(value):
    return NONE if value is None else scaled(value) + "B"


def percent(value, signed=False):
    return NONE if value is None else f"{100 * value:{'+' if signed else ''}.0f} %"


def ratio(value):
    return NONE if value is None else f"{value:.2f}" if value >= 0.095 else f"{value:.3f}"


class Data:
    """Questions about one run."""

    def __init__(self, data):
        self.all, self.bench = data, data["bench"]
        self.levels = {level["name"]: level for level in self.bench["levels"]}
        self.binds = self.bench["binds"]
        self.scores = self.length("B", "H", "M", "N")

    def length(self, *axes):
        result = 1
        for axis in axes:
            result *= self.binds[axis]
        return result

    def level(self, name):
        return self.levels.get(name)

    def counted(self, name):
        kernels = self.levels[name]["kernels"]
        values = [kernel["counted"] for kernel in kernels]
        return None if None in values or not values else sum(values)

    def passes(self, size):
        """Bytes as passes over the score matrix."""
        return None if size is None else size / (self.scores * SCORE_BYTES)


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


def setup_table(data):
    bench = data.bench
    binds = " ".join(f"{name}{value}" for name, value in bench["binds"].items())
    said = f"Measured on {bench['device']}, target `{bench['target']}`, {bench['date']}: bf16, {binds}.\n"
    if bench["target"] == "cpu":
        said += ("\n**These are a CPU's figures, in place of a GPU's that are still to be measured: the levels from "
                 "`pipelined` on and all counters are missing.**\n")
    said += "".join(f"\nNot told here: {missing['what']} ({missing['why']}).\n" for missing in bench["missing"])
    return said


def levels_table(data):
    naive = data.level("naive")
    rows = []
    for name in ("reference", *LEVELS):
        level = data.level(name)
        if not level:
            rows.append([f"`{name}`", *[NONE] * 6])
            continue
        rows.append([f"`{name}`", str(level["launches"]), in_bytes(level["bytes"]), in_bytes(data.counted(name)),
                     ratio(level["predicted"] / naive["predicted"]), ratio(level["measured"] / naive["measured"]),
                     percent(level["miss"], signed=True)])
    return markdown(["level", "launches", "bytes, guessed", "counted", "time over `naive`, guessed", "measured",
                     "miss in time"], rows)


def absent(data, name):
    return f"*Level `{name}` has no figures on target `{data.bench['target']}`.*\n"


def kernels_table(data, name):
    """A level's kernels: shares of its time, passes over the scores."""
    level = data.level(name)
    if not level:
        return absent(data, name)
    rows = []
    for kernel in level["kernels"]:
        off = abs(kernel["miss"] or 0) > 0.10
        rows.append([kernel["label"], percent(kernel["predicted"] / level["predicted"]),
                     percent(kernel["measured"] / sum(k["measured"] for k in level["kernels"])),
                     ratio(data.passes(kernel["bytes"])), ratio(data.passes(kernel["counted"])), kernel["bound"],
                     percent(kernel["miss"], signed=True), kernel["reason"] if off and kernel["reason"] else ""])
    return markdown(["kernel", "share of the time, guessed", "measured", "passes over the scores, guessed", "counted",
                     "limit, guessed", "miss in time", "likeliest reason of a miss over 10 %"], rows)


def footprint_table(data, *names):
    """What the launches of some levels occupy."""
    rows = []
    for name in names:
        level = data.level(name)
        for kernel in level["kernels"] if level else []:
            rows.append([f"`{name}` {kernel['label']}", str(kernel["registers"] or NONE),
                         in_bytes(kernel["shared_bytes"]), percent(kernel["occupancy"]), kernel["limiter"] or NONE,
                         percent(kernel["tensor_pipe"]), percent(kernel["special_pipe"]), percent(kernel["l2_hits"]),
                         kernel["schedule"]])
    if not rows:
        return absent(data, names[-1])
    return markdown(["kernel", "registers", "shared memory", "occupancy", "limited by", "matmul unit busy",
                     "special functions busy", "L2 hits", "schedule"], rows)


def change_table(data, before, after):
    """One step of the stairs: what was said about it, what came."""
    a, b = data.level(before), data.level(after)
    if not a or not b:
        return absent(data, after if a else before)
    counted = [data.counted(name) for name in (before, after)]
    rows = [["launches", f"{a['launches']} → {b['launches']}", f"{a['launches']} → {b['launches']}"],
            ["bytes", ratio(b["bytes"] / a["bytes"]), ratio(None if None in counted else counted[1] / counted[0])],
            ["time", ratio(b["predicted"] / a["predicted"]), ratio(b["measured"] / a["measured"])]]
    return markdown([f"`{after}` over `{before}`", "guessed", "found"], rows)


def torch_table(data):
    torch = data.all.get("torch")
    if not torch:
        return "*PyTorch's forms are still to be measured: `tools/peers/torch_levels.py` needs a GPU.*\n"
    base = next((form["ms"] for form in torch["forms"] if form["name"] == "eager naive" and not form["fault"]), None)
    rows = []
    for form in torch["forms"]:
        if form["fault"]:
            rows.append([form["name"], *[NONE] * 4, form["fault"]])
            continue
        kernels = str(form["kernels"]) + (f" + {form['others']} copies or sets" if form["others"] else "")
        size = in_bytes(form["bytes"]) if form["bytes"] is not None else "~" + in_bytes(form["predicted_bytes"])
        rows.append([form["name"], kernels, size, ratio(form["ms"] / base if base else None),
                     percent(form["host_us"] / (form["ms"] * 1e3)), f"`{short(form['most'])}`"])
    binds = " ".join(f"{name}{value}" for name, value in torch["binds"].items())
    device = torch["device"]
    return (f"{device['name']}, PyTorch {device['torch']}, cuDNN {device['cudnn']}, {torch['date']}: {torch['case']} "
            f"{torch['dtype']}, {binds}. Bytes are counted by ncu; with ~ they are predicted.\n\n"
            + markdown(["form", "kernels", "bytes", "device time over eager naive", "host time over device time",
                        "longest kernel"], rows))


def short(symbol, most=60):
    from chrome_trace import short as without_arguments
    name = without_arguments(symbol)
    return name if len(name) <= most else name[:most] + "…"


def agreement_table(data):
    run = data.all.get("agreement")
    if not run:
        return "*Still to be measured: `tools/peers/agreement.py` needs a GPU and PyTorch.*\n"
    rows = []
    for row in run["kernels"]:
        def told(who):
            value = row["times"][who]
            return NONE if value is None else f"{100 * value:+.1f} %" + (" !" if f"time by {who}" in row["marks"] else "")

        def same(what):
            values = {int(value) for value in row[what].values() if value is not None}
            return str(values.pop()) if len(values) == 1 else " / ".join(map(str, sorted(values))) + " !"
        apart = row["bytes_ncu"]
        rows.append([f"`{row['level']}` {row['kernel']}", f"{100 * row['again']:.1f} %", told("events"), told("PyTorch"),
                     told("ncu"), same("registers"), same("shared"),
                     NONE if apart is None else f"{100 * apart:+.1f} %" + (" !" if "bytes" in row["marks"] else "")])
    binds = " ".join(f"{name}{value}" for name, value in run["binds"].items())
    agreeing = sum(not row["marks"] for row in run["kernels"])
    missing = f" Without ncu: {run['missing']}." if run["missing"] else ""
    return (f"{run['device']['name']}, PyTorch {run['device']['torch']}, {run['date']}: {run['dtype']}, {binds}. "
            f"{agreeing} of {len(rows)} kernels agree.{missing}\n\n"
            + markdown(["kernel", "activity, again", "events", "PyTorch's profiler", "ncu", "registers", "shared memory",
                        "bytes over ncu's"], rows))


TABLES = {"setup": setup_table, "levels": levels_table, "kernels": kernels_table, "footprint": footprint_table,
          "change": change_table, "torch": torch_table, "agreement": agreement_table}


def operand_bytes(data):
    return data.length("B", "H", "M", "D") * ELEMENT_BYTES


def flops(data):
    """Of both products, live pairs only."""
    return 4 * data.scores * data.binds["D"] * data.bench["live"]


def level_figure(value):
    """A figure of a level that this target may lack."""
    def figure(data, name, *rest):
        return value(data, name, *rest) if data.level(name) else "(not measured)"
    return figure


def share_figure(data, name, *labels):
    """Share of a level's time that kernels of these labels take."""
    kernels = data.level(name)["kernels"]
    whole = sum(kernel["measured"] for kernel in kernels)
    return percent(sum(kernel["measured"] for kernel in kernels if kernel["label"] in labels) / whole)


FIGURES = {
    "scores": lambda data: scaled(data.scores).strip(),
    "scores-bytes": lambda data: in_bytes(data.scores * SCORE_BYTES),
    "operand-bytes": lambda data: in_bytes(operand_bytes(data)),
    "operands-in-scores": lambda data: f"{data.scores * SCORE_BYTES / operand_bytes(data):.0f}",
    "flops": lambda data: scaled(flops(data)) + "FLOP",
    "live": lambda data: percent(data.bench["live"]),
    "intensity": lambda data: f"{flops(data) / (4 * operand_bytes(data)):.0f}",
    "passes": level_figure(lambda data, name: f"{data.passes(data.level(name)['bytes']):.2g}"),
    "launches": level_figure(lambda data, name: str(data.level(name)["launches"])),
    "bytes": level_figure(lambda data, name: in_bytes(data.level(name)["bytes"])),
    "temporaries": level_figure(lambda data, name: in_bytes(data.level(name)["temporary_bytes"])),
    "share": level_figure(share_figure),
}


def call(known, what, text, data):
    name, *arguments = text.split()
    if name not in known:
        raise Problem(f"the page asks for {what} '{name}'; there are {', '.join(known)}")
    try:
        return known[name](data, *arguments)
    except TypeError:
        raise Problem(f"the page gives {what} '{name}' the wrong arguments: '{text}'")


def rewrite(page, data):
    """The page with every marked part made anew."""
    data = Data(data)
    made = TABLE.sub(lambda m: m[1] + call(TABLES, "table", m[2], data) + m[4], page)
    made = FIGURE.sub(lambda m: m[1] + call(FIGURES, "figure", m[2], data) + m[4], made)
    marks = MARK.findall(page)
    if len(marks) != 2 * (len(TABLE.findall(page)) + len(FIGURE.findall(page))):
        raise Problem("the page has a mark without its other half; <!--table NAME--> stands on a line of its own")
    return made
