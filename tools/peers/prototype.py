"""Hand-written Hopper kernels as contestants: FOLDER/NAME.cubin with NAME.json, its configuration.

They know one spec: [B, H, L, D] dense, plain or causal. Parameters are three tensor maps (q, k, v)
and one structure."""
import ctypes
import glob
import json
import math
import os

from driver import Parameters
from problem import Problem
from slots import TensorMap

SYMBOL = "attn_fwd"
L2_SECTION = 32 << 20  # Bytes of keys and values that a section of heads may hold.


class Tail(ctypes.Structure):
    _fields_ = [("o", ctypes.c_void_p), ("L", ctypes.c_int), ("BH", ctypes.c_int), ("mtiles", ctypes.c_int),
                ("tiles", ctypes.c_int), ("heads_per_section", ctypes.c_int), ("scale_log2", ctypes.c_float),
                ("sched", ctypes.c_void_p), ("clk", ctypes.c_void_p)]


def configurations(folder):
    found = sorted(glob.glob(os.path.join(folder, "*.json")))
    if not found:
        raise Problem(f"--prototype: {folder} holds no NAME.json beside a NAME.cubin")
    for path in found:
        with open(path, encoding="utf-8") as file:
            yield path[:-5] + ".cubin", json.load(file)


def fits(config, case, dtype, lengths):
    return (case.name in ("plain", "causal") and config["CAUSAL"] == (case.name == "causal")
            and config["FP16"] == (dtype == "f16") and config["HD"] == lengths["D"] and lengths["M"] == lengths["N"])


class PrototypeContestant:
    ours = True

    def __init__(self, torch, driver, cubin, config):
        self.torch, self.driver, self.config, self.cubin = torch, driver, config, cubin
        self.name = "prototype " + config["name"]
        self.multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count
        dim, self.rows = config["HD"], 64 * config["NWG"] * config["NM"]
        stages = config["SK"] + config["SV"]
        self.shared = self.rows * dim * 2 + stages * config["BN"] * dim * 2 + 16 * stages + 40
        if config.get("SMO"):
            self.shared += self.rows * dim * 2
        self.function = None
        self.counters = torch.zeros(2, dtype=torch.int32, device="cuda")
        self.clocks = torch.zeros(2, dtype=torch.int64, device="cuda")

    def load(self):
        with open(self.cubin, "rb") as file:
            module = self.driver.load(file.read(), self.cubin)
        self.function = self.driver.function(module, SYMBOL, self.shared)

    def bind(self, inputs):
        if self.function is None:
            self.load()
        q, k, v = (inputs.tensors[name] for name in "qkv")
        B, H, L, D = q.shape
        o = self.torch.full_like(q, math.nan)
        c, cluster, slabs = self.config, self.config["CLUSTER"], D // 64
        key_box = [c["BN"], slabs // cluster] if slabs >= cluster else [c["BN"] // cluster, 1]

        def slab_map(tensor, rows, boxed):
            return TensorMap(tensor.data_ptr(), "f16" if c["FP16"] else "bf16", [64, L, slabs, B * H],
                             [D * 2, 128, L * D * 2], [64, rows, boxed, 1])

        row_tiles = -(-L // (self.rows * cluster))
        tiles = row_tiles * B * H
        heads = c.get("HPS") or max(1, min(B * H, L2_SECTION // (4 * L * D)))
        tail = Tail(o.data_ptr(), L, B * H, row_tiles, tiles, heads, math.log2(math.e) / math.sqrt(D),
                    self.counters.data_ptr(), self.clocks.data_ptr())
        parameters = Parameters(self.driver, [slab_map(q, self.rows, slabs), slab_map(k, *key_box),
                                              slab_map(v, *key_box), tail])
        resident = self.multiprocessors * c["CPS"] // cluster
        blocks = (tiles if c["SCHED"] == 0 else min(tiles, resident)) * cluster
        outputs = {"o": o}

        def run():
            self.driver.launch(self.function, blocks, 128 * (c["NWG"] + 1), self.shared,
                               self.torch.cuda.current_stream().cuda_stream, parameters, self.name)
            return outputs

        return run
