"""tools/peers without a GPU: parameters on a fake driver, the table of cases, plans, tables."""
import ctypes
import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path.insert(0, str(ROOT / "tools" / "peers"))

import bundle
import cases
import driver
import measure
import prototype
import report
import sdpa
import slots
from problem import Problem

PROGRAM = {
    "name": "causal",
    "axes": [{"name": "B"}, {"name": "Hq", "group": "G", "inner": "Hkv"}, {"name": "G"}, {"name": "Hkv"},
             {"name": "M"}, {"name": "N"}, {"name": "D", "extent": 64}],
    "tensors": [
        {"name": "q", "dtype": "bf16", "axes": ["B", "Hq", "M", "D"], "role": "input"},
        {"name": "k", "dtype": "bf16", "axes": ["B", "Hkv", "N", "D"], "role": "input"},
        {"name": "o", "dtype": "bf16", "axes": ["B", "Hq", "M", "D"], "role": "output"}],
    "scalars": [{"name": "cap", "dtype": "f32"}, {"name": "window", "dtype": "i32"}],
    "levels": [],
}
LEVEL = {"name": "pipelined", "target": "sm_90a", "files": {"cubin:sm_90a": "x.cubin"},
         "temporaries": [{"name": "t0", "dtype": "f32", "axes": ["M", "N"], "role": "temporary", "pad": 4}],
         "kernels": []}
LENGTHS = {"B": 2, "Hq": 6, "G": 3, "Hkv": 2, "M": 100, "N": 1, "D": 64}
MEMORY = {"q": slots.Memory(0x1000, (40000, 64, 6 * 64, 1)), "k": slots.Memory(0x2000, (128, 64, 7, 1)),
          "o": slots.Memory(0x3000, (38400, 6400, 64, 1)), "t0": slots.Memory(0x4000, (4, 1))}


def kernel(args, **more):
    return {"symbol": "s", "args": args, "threads": 128, "dynamicShared": 0,
            "grid": [{"axis": "M", "tile": 64}, {"axis": "Hq", "tile": 1}, {"axis": "B", "tile": 1}], **more}


def encode(*args, scalars=None, **more):
    return slots.encode(PROGRAM, LEVEL, kernel(list(args), **more), MEMORY, scalars or {}, LENGTHS, 0x5000)


class FakeLibrary:
    """Answers like the driver and keeps what it was asked."""

    def __init__(self):
        self.maps, self.launches = [], []

    def cuTensorMapEncodeTiled(self, out, dtype, rank, base, dims, strides, box, steps, *modes):
        assert out.value % 64 == 0
        ctypes.memset(out.value, 0xAB, 128)
        self.maps.append((dtype, rank, base.value, list(dims), list(strides)[:rank - 1], list(box), list(steps), modes))
        return 0

    def cuLaunchKernel(self, function, *shape):
        self.launches.append(shape)
        return 0

    def cuModuleLoadDataEx(self, module, image, count, options, values):
        ctypes.memmove(values[0], b"no such instruction\0", 20)
        return 218

    def cuGetErrorName(self, result, name):
        name._obj.value = b"CUDA_ERROR_INVALID_PTX"
        return 0


class Slots(unittest.TestCase):
    def test_pointers_strides_lengths(self):
        self.assertEqual(encode({"kind": "length", "axis": "M"}, {"kind": "stride", "name": "q", "axis": "M"},
                                {"kind": "pointer", "name": "o"}, {"kind": "pointer", "name": "t0"},
                                {"kind": "stride", "name": "t0", "axis": "M"}), [100, 384, 0x3000, 0x4000, 4])

    def test_blocks_and_scheduler(self):
        self.assertEqual(encode({"kind": "blocks"}, {"kind": "scheduler"}, cluster=8, persistent=1), [24, 0x5000])

    def test_scalars(self):
        self.assertEqual(encode({"kind": "scalar", "name": "cap"}, {"kind": "scalar", "name": "window"},
                                scalars={"cap": 1.5, "window": -1}), [0x3FC00000, 0xFFFFFFFF])
        self.assertEqual(slots.encode_scalar({"name": "x", "dtype": "f16"}, 1), 0x3C00)
        self.assertEqual(slots.encode_scalar({"name": "x", "dtype": "bf16"}, 1 + 2**-8), 0x3F80)  # Ties to even.
        self.assertEqual(slots.encode_scalar({"name": "x", "dtype": "bf16"}, 1 + 3 * 2**-8), 0x3F82)
        for dtype, value in (("i32", 2**31), ("i1", 2), ("i32", 0.5), ("f8e4m3", 1)):
            with self.assertRaises(Problem):
                slots.encode_scalar({"name": "x", "dtype": dtype}, value)

    def test_map(self):
        got, = encode({"kind": "map", "name": "q", "axes": ["D", "M", "Hq", "B"], "box": [64, 128, 1, 1]})
        self.assertEqual(got, slots.TensorMap(0x1000, "bf16", [64, 100, 6, 2], [768, 128, 80000], [64, 128, 1, 1]))

    def test_map_axis_of_one_element(self):
        # Stride 7 of N is no multiple of 16 bytes, and N is 1: any valid stride will do.
        got, = encode({"kind": "map", "name": "k", "axes": ["D", "N", "Hkv", "B"], "box": [64, 80, 1, 1]})
        self.assertEqual((got.dims, got.strides), ([64, 1, 2, 2], [128, 128, 256]))

    def test_map_of_empty_axis(self):
        got, = slots.encode(PROGRAM, LEVEL, kernel([{"kind": "map", "name": "k", "axes": ["D", "N"], "box": [64, 80]}]),
                            MEMORY, {}, {**LENGTHS, "N": 0})
        self.assertEqual((got.dims, got.strides), ([1, 1], [16]))

    def test_broken(self):
        for arg in ({"kind": "pointer", "name": "z"}, {"kind": "stride", "name": "q", "axis": "N"},
                    {"kind": "length", "axis": "Z"}, {"kind": "novel"}, {"kind": "scalar", "name": "z"},
                    {"kind": "map", "name": "q", "axes": ["D", "N"], "box": [1, 1]},
                    {"kind": "map", "name": "q", "axes": ["M", "D"], "box": [1, 1]}):
            with self.assertRaises(Problem, msg=arg):
                encode(arg)
        unaligned = {**MEMORY, "k": slots.Memory(0x2000, (128, 64, 7, 1))}
        with self.assertRaisesRegex(Problem, "axis N is 14 bytes"):
            slots.tensor_map({"axes": ["D", "N"], "box": [64, 8]}, PROGRAM["tensors"][1], unaligned["k"],
                             {**LENGTHS, "N": 2})


class OnFakeDriver(unittest.TestCase):
    def setUp(self):
        self.library = FakeLibrary()
        self.driver = driver.Driver(self.library)

    def test_parameters(self):
        values = encode({"kind": "length", "axis": "M"},
                        {"kind": "map", "name": "q", "axes": ["D", "M", "Hq", "B"], "box": [64, 128, 1, 1]},
                        {"kind": "scheduler"})
        parameters = driver.Parameters(self.driver, values)
        slot = ctypes.cast(parameters.array[0], ctypes.POINTER(ctypes.c_uint64))
        self.assertEqual(slot[0], 100)
        self.assertEqual(parameters.array[1] % 64, 0)
        self.assertEqual(ctypes.string_at(parameters.array[1], 128), b"\xab" * 128)
        # bf16; 128-byte swizzle, 256-byte promotion, zeros out of bounds.
        self.assertEqual(self.library.maps, [(9, 4, 0x1000, [64, 100, 6, 2], [768, 128, 80000], [64, 128, 1, 1],
                                              [1, 1, 1, 1], (0, 3, 3, 0))])

    def test_negative_slot(self):
        parameters = driver.Parameters(self.driver, [-1])
        self.assertEqual(ctypes.cast(parameters.array[0], ctypes.POINTER(ctypes.c_int64))[0], -1)

    def test_launch(self):
        self.driver.launch(None, 7, 384, 1024, 0, driver.Parameters(self.driver, []), "s")
        self.assertEqual(self.library.launches[0][:7], (7, 1, 1, 384, 1, 1, 1024))

    def test_rejected_code(self):
        with self.assertRaisesRegex(Problem, r"rejects x.ptx \(no such instruction\): CUDA_ERROR_INVALID_PTX"):
            self.driver.load(b"", "x.ptx")


class Bundles(unittest.TestCase):
    def test_lengths(self):
        self.assertEqual(bundle.resolve_lengths(PROGRAM, {"B": 2, "Hq": 6, "Hkv": 2, "M": 100, "N": 1}), LENGTHS)
        for given, said in (({"Hq": 7, "Hkv": 2}, "does not hold"), ({"Hq": 6}, "bind two of"),
                            ({"Hq": 6, "Hkv": 2}, "axis B"), ({"D": 32}, "compiled for D = 64")):
            with self.assertRaisesRegex(Problem, said):
                bundle.resolve_lengths(PROGRAM, given)

    def test_grid(self):
        blocks = lambda sms=132, **more: bundle.launched_blocks(kernel([], **more), LENGTHS, sms)
        self.assertEqual(blocks(), 24)
        self.assertEqual(blocks(cluster=2), 48)
        self.assertEqual(blocks(persistent=0), 24)
        self.assertEqual(blocks(persistent=1, sms=10), 10)
        self.assertEqual(blocks(persistent=2, sms=10), 20)
        self.assertEqual(blocks(persistent=2, sms=132), 24)
        self.assertEqual(blocks(persistent=1, sms=11, cluster=2), 10)
        self.assertEqual(blocks(persistent=1, sms=1, cluster=2), 2)
        self.assertEqual(blocks(persistent=1, sms=132, cluster=2), 48)
        self.assertEqual(bundle.grid_blocks({"grid": [{"axis": "", "tile": 1}]}, {}), 1)

    def test_temporary(self):
        tensor = {"name": "t", "dtype": "f32", "axes": ["B", "M", "N"], "pad": 4}
        lengths = {"B": 2, "M": 3, "N": 5}
        self.assertEqual(bundle.dense_strides(tensor, lengths), [24, 8, 1])
        self.assertEqual(bundle.dense_bytes(tensor, lengths), 2 * 24 * 4)
        self.assertEqual(bundle.dense_bytes({**tensor, "axes": ["N"]}, lengths), 8 * 4)

    def test_code(self):
        level = {"name": "l", "target": "sm_80", "files": {"ptx": "p", "cubin:sm_80": "8", "cubin:sm_90": "9"}}
        self.assertEqual([bundle.choose_code(level, c) for c in (80, 86, 90, 100)], ["8", "8", "9", "p"])
        self.assertEqual(bundle.choose_code(LEVEL, 90), "x.cubin")
        for capability in (80, 100):
            with self.assertRaisesRegex(Problem, "code for sm_90a, this GPU has"):
                bundle.choose_code(LEVEL, capability)
        with self.assertRaisesRegex(Problem, "neither PTX nor a fitting cubin"):
            bundle.choose_code({**level, "files": {"cubin:sm_80": "8"}}, 90)

    def test_levels(self):
        levels = [{"name": n, "target": t, "files": {"ptx": "p", "cubin:sm_90a": "c"}} for n, t in
                  (("naive", "cpu"), ("naive", "sm_80"), ("flash", "sm_80"), ("special", "sm_90a"))]
        program = {"name": "p", "levels": levels}
        here = lambda names, capability: [level["name"] for level in bundle.levels_here(
            bundle.gpu_levels(program, names), names, capability)]
        self.assertEqual(here(["best"], 90), ["special"])
        self.assertEqual(here(["best"], 80), ["flash"])
        self.assertEqual(here(["all"], 80), ["naive", "flash"])
        self.assertEqual(here(["naive"], 80), ["naive"])
        with self.assertRaisesRegex(Problem, "code for sm_90a"):
            here(["special"], 80)
        with self.assertRaisesRegex(Problem, "no level 'fast' for a GPU; it has naive, flash, special"):
            here(["fast"], 90)


class Cases(unittest.TestCase):
    def test_tensors_are_the_specs(self):
        for case in cases.CASES.values():
            text = (ROOT / "kernels" / (case.spec + ".attn")).read_text()
            self.assertIn(f"kernel {case.spec}(", text)
            arguments = text[text.index(f"kernel {case.spec}("):text.index("->")]
            tensors, scalars = {}, {}
            for name, dtype, axes in re.findall(r"(\w+): (\w+)(?:\[([^]]*)\])?", arguments):
                words = ("" if dtype == "bf16" else dtype + " ") + (axes or "").replace(",", "")
                (tensors if axes else scalars)[name] = words.strip()
            self.assertEqual(case.tensors, tensors, case.name)
            self.assertEqual(case.scalars, scalars, case.name)
            self.assertEqual(case.lse, "lse: f32" in text)

    def test_sizes(self):
        for case in cases.CASES.values():
            lengths, scalars = cases.sizes(case, {"L": 2048, "D": 64})
            self.assertEqual((lengths["N"], lengths["D"]), (2048, 64))
            self.assertEqual(set(scalars), {*case.scalars, *case.inputs})
        self.assertEqual(cases.sizes(cases.CASES["bottom_right"], {"L": 2048})[0]["M"], 1024)
        self.assertEqual(cases.sizes(cases.CASES["grouped"], {})[0],
                         {"B": 4, "Hq": 32, "Hkv": 8, "M": 4096, "N": 4096, "D": 128})
        for name, binds in (("causal", {"M": 5, "N": 6}), ("causal", {"R": 1}), ("grouped", {"Hkv": 7}),
                            ("plain", {"B": 0})):
            with self.assertRaises(Problem):
                cases.sizes(cases.CASES[name], binds)

    def test_window(self):
        inputs = cases.Inputs(cases.CASES["window"], {}, {"window": 1024}, {})
        self.assertEqual(cases.flash_arguments(inputs), {"causal": True, "window_size": (1023, 0)})
        live = inputs.case.mask(inputs)
        self.assertEqual([live(0, 0, 2000, n) for n in (976, 977, 2000, 2001)], [False, True, True, False])

    def test_prototype_fits(self):
        config = {"HD": 64, "CAUSAL": 1, "FP16": 0}
        lengths = {"D": 64, "M": 5, "N": 5}
        fit = lambda name, dtype="bf16", **more: prototype.fits(config, cases.CASES[name], dtype, {**lengths, **more})
        self.assertTrue(fit("causal"))
        self.assertFalse(fit("plain") or fit("alibi") or fit("causal", "f16") or fit("causal", D=128))


class Plans(unittest.TestCase):
    def made(self, folder, name, dim):
        path = pathlib.Path(folder) / f"{name}{dim}"
        path.mkdir()
        tensors = [{"name": n, "dtype": "bf16", "axes": ["B", "H", "M", "D"], "role": "input"} for n in "qkv"]
        program = {"name": name, "axes": [{"name": "D", "extent": dim}], "tensors": tensors, "scalars": [],
                   "levels": [LEVEL]}
        (path / "manifest.json").write_text(json.dumps({"version": 1, "programs": [program]}))
        return str(path)

    def plan(self, *arguments):
        options = sdpa.parse_options(list(arguments))
        bundles = [bundle.Bundle(folder) for folder in options.bundles]
        runs = sdpa.plan(options, bundles)
        return runs, sdpa.match(options, bundles, runs)

    def test_cases_follow_bundles(self):
        with tempfile.TemporaryDirectory() as folder:
            made = [self.made(folder, "causal", 64), self.made(folder, "causal", 128), self.made(folder, "full", 64)]
            runs, fitting = self.plan(*made, "--bind=L=512,B=2")
            self.assertEqual([(case.name, lengths["D"], lengths["M"]) for case, lengths, _ in runs],
                             [("plain", 64, 512), ("causal", 64, 512), ("causal", 128, 512)])
            self.assertEqual([[b.name for b, _, _ in found] for found in fitting],
                             [["full64"], ["causal64"], ["causal128"]])
            with self.assertRaisesRegex(Problem, r"causal64 \(causal bf16 D=64\) fits none"):
                self.plan(made[0], "--bind=D=128")
            with self.assertRaisesRegex(Problem, "fits none"):
                self.plan(made[0], "--case=causal", "--dtype=f16")

    def test_sweeps(self):
        runs, _ = self.plan("--sweep=main")
        self.assertEqual(len(runs), 18)
        for _, lengths, _ in runs:
            self.assertEqual((lengths["B"] * lengths["M"], lengths["H"] * lengths["D"]), (16384, 2048))
        runs, _ = self.plan("--sweep=variants", "--case=document,grouped")
        self.assertEqual([(case.name, lengths["D"]) for case, lengths, _ in runs],
                         [("document", 64), ("grouped", 64), ("document", 128), ("grouped", 128)])
        runs, _ = self.plan("--sweep=documents", "--case=document")
        self.assertEqual([(lengths["D"], scalars) for _, lengths, scalars in runs],
                         [(dim, {"documents": count}) for dim in (64, 128) for count in (1, 4, 16, 64)])
        with tempfile.TemporaryDirectory() as folder:
            _, fitting = self.plan(self.made(folder, "causal", 256), "--sweep=main")
            self.assertEqual(sum(map(len, fitting)), 3)


    def test_variants(self):
        level = {**LEVEL, "variants": [{**LEVEL, "schedule": "columns=64"}, {**LEVEL, "schedule": "turns=1"}]}
        each = sdpa.with_variants([level, LEVEL])
        self.assertEqual(each, [level, *level["variants"], LEVEL])

        class Named:
            name = "b"
        self.assertEqual(sdpa.level_names([(Named, None, found) for found in each[:3]]),
                         ["pipelined sm_90a", "pipelined sm_90a columns=64", "pipelined sm_90a turns=1"])


class Figures(unittest.TestCase):
    def test_grids(self):
        def run(length, **speeds):
            rows = [{"name": "cuDNN", "ours": False, "speed": 1.0, "base": "cuDNN"}]
            rows += [{"name": name, "ours": True, **({"speed": s, "base": "cuDNN"} if s else {})}
                     for name, s in speeds.items()]
            return {"case": "causal", "dtype": "bf16", "binds": {"M": length, "D": 64}, "contestants": rows}
        grid, = report.grids([run(1024, plain=1.0, turns=1.2, wrong=1.5), run(4096, plain=1.0, turns=0.9, wrong=None)])
        lines = grid.splitlines()
        self.assertEqual(lines[0], "causal bf16 D=64: speed against cuDNN")
        self.assertRegex(lines[1], r"^ +L=1024 +L=4096 +mean$")
        self.assertRegex(lines[2], r"^turns +1.200 +0.900 +1.039$")
        self.assertRegex(lines[4], r"^wrong +1.500 +- +-$")

    def test_table_and_means(self):
        class Entry:
            ours, fault, error = True, "", 2e-3
        def entry(name, times, fault=""):
            made = Entry()
            made.name, made.times, made.fault = name, times, fault
            return made
        work = {"flops": 2e9, "tiles": 100, "live": 0.5, "pairs": 1}
        base = entry("cuDNN", [2.0, 2.2, 1.8])
        rows = [report.row(e, base, work) for e in (base, entry("level", [1.0, 1.0, 1.25]), entry("bad", [], "WRONG"))]
        self.assertEqual((rows[1]["speed"], rows[1]["tflops"], rows[1]["us_per_tile"]), (2.0, 2.0, 10.0))
        run = {"case": "causal", "dtype": "bf16", "binds": {"B": 1}, "contestants": rows, "gpu": {}, **work}
        lines = report.table(run).splitlines()
        self.assertRegex(lines[0], r"causal bf16 B=1: 50.0 % of the pairs live, 100 live tiles")
        self.assertRegex(lines[2], r"^level +1.0000 +0.500 +2.000 ")
        self.assertRegex(lines[4], r"^bad +WRONG$")
        self.assertRegex(report.means([run, run])[0], r"^level bf16: 2.000 times the speed of cuDNN .*of 2 results")

    def test_samples(self):
        self.assertEqual(measure.parse_samples("1410, 690.5, 60\n[N/A], 3, 4\n1420, 6"), [[1410.0, 690.5, 60.0]])


if __name__ == "__main__":
    unittest.main()
