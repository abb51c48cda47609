"""Bytes that a forward moves to and from device memory: counted by ncu, or predicted from operands.

ncu runs a program that runs each forward once, with a kernel of its own between two forwards as a
mark. The prediction reads and writes every operand of every operator once; views move nothing."""
import csv
import os
import shutil
import subprocess
import tempfile

from problem import Problem

NAME = "Kernel Name"
MARK = "spin_kernel"  # What torch.cuda._sleep launches.
TIME = "gpu__time_duration.sum"
READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
REGISTERS = "launch__registers_per_thread"
SHARED = ("launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic")
FOLDERS = ("/usr/local/cuda/bin", "/opt/nvidia/nsight-compute")


def find_ncu(given=""):
    """ncu's path, or None where it is not installed. `given` must exist."""
    if given:
        if not shutil.which(given):
            raise Problem(f"--ncu: no program {given}")
        return given
    found = shutil.which("ncu")
    for folder in FOLDERS:
        places = [folder, *(os.path.join(folder, name) for name in sorted(os.listdir(folder), reverse=True))] \
            if os.path.isdir(folder) else []
        for place in places:
            path = os.path.join(place, "ncu")
            if not found and os.path.isfile(path) and os.access(path, os.X_OK):
                found = path
    return found


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None  # "n/a", or a metric this GPU lacks.


def parse(text):
    """Launches of `ncu --csv`, in order: a dict each, the kernel's name and its metrics as numbers or None."""
    launches = {}
    for row in csv.DictReader(line for line in text.splitlines() if line.startswith('"')):
        launch = launches.setdefault(row["ID"], {NAME: row[NAME]})
        launch[row["Metric Name"]] = number(row["Metric Value"])
    return list(launches.values())


def run_ncu(ncu, metrics, command, seconds, flags=(), environment={}):
    """Launches of a command under ncu, with the metrics asked for, and the command's own output. Clocks are left
    as they are: ncu would lock them, and the figures would be another machine's."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        whole = [ncu, "--clock-control", "none", "--metrics", ",".join(metrics), "--csv", "--print-units", "base",
                 "--target-processes", "application-only", "--log-file", log, *flags, *command]
        try:
            done = subprocess.run(whole, capture_output=True, text=True, timeout=seconds,
                                  env={**os.environ, **environment})
        except subprocess.TimeoutExpired:
            raise Problem(f"ncu did not end in {seconds} s")
        said = ""
        if os.path.exists(log):
            with open(log, encoding="utf-8", errors="replace") as file:
                said = file.read()
    rows = parse(said)
    if not rows:
        why = [line for line in (said + done.stdout + done.stderr).splitlines() if "ERROR" in line or "rror:" in line]
        raise Problem(f"ncu read nothing (exit code {done.returncode}): {why[0] if why else 'no kernel was launched'}")
    return rows, done.stdout


def bytes_of(row):
    if row.get(READ) is None or row.get(WRITTEN) is None:
        return None
    return row[READ] + row[WRITTEN]


def segments(rows):
    """Launches between marks, one list a mark."""
    parts = []
    for row in rows:
        if MARK in row[NAME]:
            parts.append([])
        elif parts:
            parts[-1].append(row)
    return parts


def size_of(tensor):
    """Bytes of the elements that are in memory: an axis of stride 0 is one element."""
    count = 1
    for length, stride in zip(tensor.shape, tensor.stride()):
        count *= length if stride else min(length, 1)
    return count * tensor.element_size()


def operand_bytes(torch, forward):
    """What one call of an eager forward reads and writes, each operand of each operator once."""
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves

    def tensors(tree):
        return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]

    class Operands(TorchDispatchMode):
        total = 0

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            result = function(*args, **(kwargs or {}))
            returns = function._schema.returns
            views = any(r.alias_info and not r.alias_info.is_write for r in returns)
            name = function._schema.name
            if views or name.startswith(("aten::empty", "aten::new_empty", "aten::_unsafe_view", "aten::detach")):
                return result
            given = {id(tensor): tensor for tensor in tensors((args, kwargs))}
            self.total += sum(size_of(tensor) for tensor in given.values())
            self.total += sum(size_of(tensor) for tensor in tensors(result))
            return result

    with Operands() as mode:
        forward()
    return mode.total
