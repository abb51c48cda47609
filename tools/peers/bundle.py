"""A bundle as lib/Bundle/Manifest.h describes it: which code runs here, lengths, strides, grids."""
import json
import math
import os
import re

from problem import Problem

ELEMENT_BYTES = {"f32": 4, "i32": 4, "i64": 8, "f16": 2, "bf16": 2, "i1": 1, "f8e4m3": 1, "f8e5m2": 1}


class Bundle:
    def __init__(self, folder):
        self.folder = folder
        self.name = os.path.basename(os.path.abspath(folder))
        path = os.path.join(folder, "manifest.json")
        try:
            with open(path, encoding="utf-8") as file:
                manifest = json.load(file)
        except OSError as problem:
            raise Problem(f"{folder} is no bundle: {problem.strerror}: {path}; make one with attnc SPEC -o {folder}")
        except ValueError:
            raise Problem(f"{path} is not JSON; make the bundle again with attnc")
        if manifest.get("version") != 1:
            raise Problem(f"{path} has version {manifest.get('version')}, this script reads 1")
        self.programs = manifest["programs"]

    def read(self, file):
        try:
            with open(os.path.join(self.folder, file), "rb") as code:
                return code.read()
        except OSError as problem:
            raise Problem(f"{self.folder}/{file}: {problem.strerror}; make the bundle again with attnc")


def fixed(program):
    """The lengths a program is compiled for."""
    return {axis["name"]: axis["extent"] for axis in program["axes"] if axis.get("extent") is not None}


def gpu_levels(program, names):
    """The levels a user asks for by name, or all that "all" and "best" choose from."""
    levels = [level for level in program["levels"] if level["target"] != "cpu"]
    have = list(dict.fromkeys(level["name"] for level in levels))
    for name in names:
        if not levels or name not in [*have, "all", "best"]:
            raise Problem(f"program {program['name']} has no level '{name}' for a GPU; "
                          f"it has {', '.join(have) or 'none'}")
    return levels if names in (["all"], ["best"]) else [level for level in levels if level["name"] in names]


def levels_here(levels, names, capability):
    """Of the levels asked for those to run on this GPU. One asked for by name must run."""
    if names not in (["all"], ["best"]):
        for level in levels:
            choose_code(level, capability)
        return levels
    running, why = [], None
    for level in levels:
        try:
            choose_code(level, capability)
            running.append(level)
        except Problem as problem:
            why = problem
    if not running:
        raise why
    return running[-1:] if names == ["best"] else running


def runs_on(arch, capability, forward):
    """Whether code for "sm_90", or "sm_90a" (its own chip only), runs on capability 90. `forward`:
    PTX, which every later chip takes; a cubin stays within its major version."""
    parts = re.fullmatch(r"sm_(\d+)([af]?)", arch)
    if not parts:
        return False
    built = int(parts[1])
    if parts[2]:
        return built == capability
    return built <= capability and (forward or built // 10 == capability // 10)


def choose_code(level, capability):
    """The file to load, as the runtime chooses: the newest cubin that runs here, else the PTX."""
    where = f"this GPU has {capability // 10}.{capability % 10}"
    if not runs_on(level["target"], capability, forward=True):
        raise Problem(f"level {level['name']} is code for {level['target']}, {where}; compile it with --targets=sm_80")
    cubins = [kind for kind in level["files"]
              if kind.startswith("cubin:") and runs_on(kind[6:], capability, forward=False)]
    kind = max(cubins, default="ptx")
    if kind not in level["files"]:
        raise Problem(f"level {level['name']} for {level['target']} has neither PTX nor a fitting cubin, {where}")
    return level["files"][kind]


def resolve_lengths(program, given):
    """Every axis's length from those given, the fixed ones and the nests `outer = group * inner`."""
    lengths = {**given, **fixed(program)}
    names = [axis["name"] for axis in program["axes"]]
    for name, extent in fixed(program).items():
        if given.get(name, extent) != extent:
            raise Problem(f"axis {name} has length {given[name]}, the bundle is compiled for {name} = {extent}")
    for axis in program["axes"]:
        if not axis.get("group"):
            continue
        outer, group, inner = axis["name"], axis["group"], axis["inner"]
        if group in lengths and inner in lengths:
            lengths.setdefault(outer, lengths[group] * lengths[inner])
        elif outer in lengths and lengths.get(inner):
            lengths[group] = lengths[outer] // lengths[inner]
        elif outer in lengths and lengths.get(group):
            lengths[inner] = lengths[outer] // lengths[group]
        if None in (lengths.get(outer), lengths.get(group), lengths.get(inner)):
            raise Problem(f"{outer} = {group} * {inner}: bind two of {outer}, {group} and {inner}")
        if lengths[outer] != lengths[group] * lengths[inner]:
            raise Problem(f"{outer} = {group} * {inner} does not hold: "
                          f"{lengths[outer]} is not {lengths[group]} * {lengths[inner]}")
    for name in names:
        if name not in lengths:
            raise Problem(f"axis {name} of program {program['name']} has no length; give one with --bind {name}=...")
    return {name: lengths[name] for name in names}


def dense_strides(tensor, lengths):
    """Strides in elements, the innermost length rounded up to the tensor's `pad`."""
    strides, step = [], 1
    pad = tensor.get("pad", 1)
    for i, axis in reversed(list(enumerate(tensor["axes"]))):
        strides.insert(0, step)
        length = lengths[axis]
        if i + 1 == len(tensor["axes"]):
            length = -(-length // pad) * pad
        step *= max(length, 1)
    return strides


def dense_bytes(tensor, lengths):
    elements = 1
    if tensor["axes"]:
        outer = lengths[tensor["axes"][0]]
        if len(tensor["axes"]) == 1:
            outer = -(-outer // tensor.get("pad", 1)) * tensor.get("pad", 1)
        elements = dense_strides(tensor, lengths)[0] * outer
    return elements * ELEMENT_BYTES[tensor["dtype"]]


def grid_blocks(kernel, lengths):
    """Blocks of the kernel's grid: what a launch covers, however many blocks it starts."""
    return math.prod(-(-lengths[axis["axis"]] // axis["tile"]) if axis.get("axis") else 1 for axis in kernel["grid"])


def launched_blocks(kernel, lengths, multiprocessors):
    """Blocks a launch starts: a persistent kernel no more than the GPU holds, whole clusters only,
    whose blocks work on a tile of the grid together."""
    tiles, cluster = grid_blocks(kernel, lengths), kernel.get("cluster") or 1
    if kernel.get("persistent"):
        tiles = min(tiles, max(multiprocessors * kernel["persistent"] // cluster, 1))
    return tiles * cluster
