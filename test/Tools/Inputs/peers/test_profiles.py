"""What tools/peers makes of PyTorch's profiler and of ncu: launches, traces, bytes, agreement. No GPU, no PyTorch."""
import os
import pathlib
import sys
import tempfile
import types
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[4]
sys.path[:0] = [str(ROOT / "tools" / "peers"), str(ROOT / "test" / "Report")]

import agreement
import chrome_trace
import figures
import files
import kineto
import torch_levels
import traffic
import trace_rules
from problem import Problem


def event(category, name, ts, dur, **args):
    return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": 1, "ts": ts, "dur": dur, "args": args}


def launch(correlation, call, start, dur, name="void k<int, (lambda at a.h)>(int*)", stream=7):
    """The host's call and the kernel it started, as PyTorch exports them."""
    return [event("cuda_driver", "cuLaunchKernel", call, 2.0, correlation=correlation),
            event("kernel", name, start, dur, correlation=correlation, stream=stream, grid=[4, 5, 1],
                  block=[128, 1, 1], **{"registers per thread": 40, "shared memory": 1024})]


def profile():
    """Two runs of `a`, one of `b`; what runs outside every range is nobody's."""
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "python"}},
              *launch(1, 1, 5, 90), event("user_annotation", "attn forward a", 100, 100),
              *launch(2, 101, 105, 10), event("gpu_memcpy", "Memcpy DtoD", 120, 3, correlation=9, stream=7, bytes=8),
              event("user_annotation", "attn forward a", 300, 100),
              *launch(3, 301, 305, 14), event("gpu_memcpy", "Memcpy DtoD", 320, 5, correlation=10, stream=7, bytes=8),
              event("user_annotation", "attn forward b", 500, 100), event("gpu_user_annotation", "attn forward b", 505, 1),
              *launch(4, 501, 505, 20, name="_spec_kernel"), *launch(5, 510, 530, 20, name="b2", stream=8)]
    return {"traceEvents": events}


class Profiler(unittest.TestCase):
    def setUp(self):
        self.runs = kineto.read(profile())

    def test_ranges(self):
        self.assertEqual({name: [len(run) for run in runs] for name, runs in self.runs.items()}, {"a": [2, 2], "b": [2]})
        first = self.runs["a"][0][0]
        self.assertEqual((first.blocks, first.threads, first.registers, first.shared, first.host), (20, 128, 40, 1024, (101, 2)))
        self.assertEqual(self.runs["a"][0][1].kind, "copy")
        self.assertIsNone(self.runs["a"][0][1].host)

    def test_typical(self):
        self.assertEqual([x.duration for x in kineto.typical("a", self.runs["a"])], [12, 4])
        odd = [*self.runs["a"], self.runs["b"][0]]  # A run with other kernels does not count.
        self.assertEqual([x.duration for x in kineto.typical("a", odd)], [12, 4])
        self.assertEqual(kineto.example("a", odd)[0].correlation, 3)
        for nothing in ([], [[], []]):
            with self.assertRaisesRegex(Problem, "saw no kernel of a"):
                kineto.typical("a", nothing)

    def test_trace(self):
        forwards = {name: (runs[-1], ["spec", "second"] if name == "b" else None, {"device_ms": 1.0})
                    for name, runs in self.runs.items()}
        forwards["empty"] = ([], None, {})
        made = chrome_trace.events("peers", "H200", forwards)
        self.assertEqual(trace_rules.problems({"traceEvents": made}), [])
        slices = [e for e in made if e["ph"] == "X"]
        self.assertEqual([e["name"] for e in slices if e["tid"] == chrome_trace.HOST],
                         ["launch k", "launch spec", "launch second"])
        self.assertEqual({e["args"]["name"] for e in made if e["name"] == "thread_name"},
                         {"host", "stream 7: H200", "stream 8: H200"})
        kernel = next(e for e in slices if e["name"] == "spec")
        self.assertEqual((kernel["args"]["registers"], kernel["args"]["symbol"]), (40, "_spec_kernel"))
        self.assertEqual(len([e for e in made if e["ph"] == "s"]), 3)  # The copy's call was not told.
        with tempfile.TemporaryDirectory() as folder:
            chrome_trace.write(folder + "/t.json", "peers", "H200", forwards)
            self.assertEqual(os.listdir(folder), ["t.json"])

    def test_names(self):
        for symbol, short in (("void at::native::k<float, (lambda at x.h)>(int, float*)", "at::native::k"),
                              ("void (anonymous namespace)::f<1>(int)", "f"), ("sm90_xmma_gemm", "sm90_xmma_gemm"),
                              ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD"), ("(odd)", "(odd)")):
            self.assertEqual(chrome_trace.short(symbol), short)


NCU = '''==PROF== Connected to process 1
"ID","Process ID","Kernel Name","Metric Name","Metric Unit","Metric Value"
"0","1","spin_kernel","dram__bytes_read.sum","byte","32"
"0","1","spin_kernel","dram__bytes_write.sum","byte","0"
"1","1","k, with a comma","dram__bytes_read.sum","byte","33,560,576"
"1","1","k, with a comma","dram__bytes_write.sum","byte","1,000"
"2","1","spin_kernel","dram__bytes_read.sum","byte","0"
"3","1","other","dram__bytes_read.sum","byte","n/a"
"3","1","other","dram__bytes_write.sum","byte","5"
==PROF== Disconnected
'''


class Ncu(unittest.TestCase):
    def fake(self, folder, body):
        path = pathlib.Path(folder) / "ncu"
        path.write_text("#!/bin/sh\nwhile [ $# -gt 0 ]; do [ $1 = --log-file ] && log=$2; shift; done\n" + body)
        path.chmod(0o755)
        return str(path)

    def test_parts(self):
        rows = traffic.parse(NCU)
        self.assertEqual(rows[1][traffic.READ], 33560576)
        parts = traffic.segments(rows)
        self.assertEqual([[traffic.bytes_of(row) for row in part] for part in parts], [[33561576], [None]])
        self.assertEqual(traffic.parse("no metrics\n"), [])

    def test_run(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "csv").write_text(NCU)
            rows, said = traffic.run_ncu(self.fake(folder, f"cp {folder}/csv $log; echo said"), [traffic.READ], ["x"], 9)
            self.assertEqual((len(rows), said), (4, "said\n"))
            with self.assertRaisesRegex(Problem, r"exit code 1\): ==ERROR== no permission"):
                traffic.run_ncu(self.fake(folder, "echo '==ERROR== no permission' >$log; exit 1"), [], ["x"], 9)
            with self.assertRaisesRegex(Problem, "did not end in 0.2 s"):
                traffic.run_ncu(self.fake(folder, "exec sleep 5"), [], ["x"], 0.2)
            with self.assertRaisesRegex(Problem, "no program"):
                traffic.find_ncu(folder + "/none")

    def test_counts_of_forms(self):
        options = types.SimpleNamespace(count="ncu", ncu="")
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "csv").write_text(NCU)
            options.ncu = self.fake(folder, f"cp {folder}/csv $log; echo '[\"eager naive\", \"flash\"]'")
            counted, why = torch_levels.count_bytes(options, [])
            self.assertEqual((counted, why), ({"eager naive": 33561576}, ""))  # The second was not countable.
            options.ncu = self.fake(folder, f"cp {folder}/csv $log; echo no list")
            with self.assertRaisesRegex(Problem, "--count=ncu: "):
                torch_levels.count_bytes(options, [])
            options.count = "auto"
            self.assertEqual(torch_levels.count_bytes(options, [])[0], {})
        options.count = "none"
        self.assertEqual(torch_levels.count_bytes(options, []), ({}, "--count=none"))


def bench_kernel(time, registers=40, **more):
    return {"name": "sym", "label": "matmul", "blocks": 20, "measured": time * 1.01, "registers": registers,
            "shared_bytes": 1024, "activity": {"time": time, "registers": registers, "shared_bytes": 1024},
            "counted": {"run_bytes_read": 1000, "run_bytes_written": 24}, **more}


class Agreement(unittest.TestCase):
    levels = [(None, None, {"name": "naive", "target": "sm_80"})]

    def rows(self, after=0.1, us=100.0, registers=40, name="sym", **ncu):
        counted = {traffic.TIME: 101e3, traffic.REGISTERS: 40.0, traffic.SHARED[0]: 0.0, traffic.SHARED[1]: 1024.0,
                   traffic.READ: 1000.0, traffic.WRITTEN: 24.0, **ncu}
        launches = [kineto.Launch("kernel", name, 0, us, 7, 1, 20, 128, registers, 1024)]
        return agreement.rows_of(self.levels, {"naive": [bench_kernel(0.1)]}, {"naive": [bench_kernel(after)]},
                                 {"naive": [counted]}, {"naive": launches})

    def test_all_agree(self):
        row, = self.rows()
        self.assertEqual(row["marks"], [])
        self.assertIn("1 of 1 kernels agree", agreement.table([row]))
        self.assertAlmostEqual(row["times"]["ncu"], 0.01)
        self.assertAlmostEqual(row["times"]["events"], 0.01)

    def test_marks(self):
        for change, mark in (({"us": 104.0}, "time by PyTorch"), ({"registers": 41}, "registers"),
                             ({traffic.TIME: 95e3}, "time by ncu"), ({traffic.SHARED[0]: 16.0}, "shared"),
                             ({traffic.READ: 900.0}, "bytes")):
            row, = self.rows(**change)
            self.assertEqual(row["marks"], [mark])
            self.assertIn("!", agreement.table([row]))
        # attn-bench's own two readings are 10 % apart: 5 % is no disagreement then.
        row, = self.rows(after=0.11, us=110.0)
        self.assertEqual(row["marks"], [])

    def test_without(self):
        row, = agreement.rows_of(self.levels, {"naive": [bench_kernel(0.1, activity=None, counted=None)]},
                                 {"naive": [bench_kernel(0.1, activity=None, counted=None)]}, {},
                                 {"naive": [kineto.Launch("kernel", "sym", 0, 101.0, 7, 1, 20, 128, 40, 1024)]})
        self.assertEqual((row["marks"], row["activity"], row["bytes_ncu"]), ([], False, None))
        self.assertIn(" - ", agreement.table([row]))

    def test_other_kernels(self):
        with self.assertRaisesRegex(Problem, "attn-bench ran sym, PyTorch's profiler saw other"):
            self.rows(name="other")
        with self.assertRaisesRegex(Problem, "launches 1 kernels, PyTorch's profiler saw 0"):
            agreement.rows_of(self.levels, {"naive": [bench_kernel(1)]}, {"naive": [bench_kernel(1)]}, {}, {"naive": []})


class Levels(unittest.TestCase):
    def test_newest_target(self):
        class Bundle:
            folder = "b"
            programs = [{"name": "causal", "axes": [], "tensors": [{"name": "q", "dtype": "bf16"}], "levels": [
                {"name": name, "target": target, "files": {"ptx": "p", "cubin:sm_90a": "c"}} for target, names in
                (("sm_80", "naive flash"), ("sm_90a", "naive flash special")) for name in names.split()]}]
        case = types.SimpleNamespace(spec="causal", name="causal")
        choose = lambda levels, capability: [(level["name"], level["target"]) for _, _, level in torch_levels.choose_levels(
            types.SimpleNamespace(levels=levels, dtype="bf16"), [Bundle], case, {}, capability)]
        self.assertEqual(choose("all", 90), [("naive", "sm_90a"), ("flash", "sm_90a"), ("special", "sm_90a")])
        self.assertEqual(choose("all", 80), [("naive", "sm_80"), ("flash", "sm_80")])
        with self.assertRaisesRegex(Problem, "no program full"):
            torch_levels.choose_levels(types.SimpleNamespace(levels="all", dtype="bf16"), [Bundle],
                                       types.SimpleNamespace(spec="full"), {}, 90)

    def test_bytes(self):
        terms = [{"coefficient": 2, "axes": ["M", "D"]}, {"coefficient": 4, "axes": ["M"], "live": True}]
        level = {"kernels": [{"prediction": {"bytesRead": terms, "bytesWritten": terms[:1]}}]}
        self.assertEqual(torch_levels.level_bytes(level, {"M": 8, "D": 4}, 0.5), 64 + 16 + 64)

    def test_table(self):
        rows = [{"name": "eager naive", "fault": "", "kernels": 6, "others": 1, "ms": 2.0, "host_us": 30, "bytes": 4e9,
                 "error": 1e-3, "launches": []},
                {"name": "flash", "fault": "", "kernels": 1, "others": 0, "ms": 0.5, "host_us": 9, "bytes": None,
                 "predicted_bytes": 2e6, "error": 1e-3, "launches": []},
                {"name": "SDPA cuDNN", "fault": "does not run: no backend"}]
        said = torch_levels.table(rows, False).splitlines()
        self.assertRegex(said[1], r"^eager naive +6\+1 +2.000 ms +1.000 +30 us +4 GB ")
        self.assertRegex(said[2], r"^flash +1 +0.500 ms +0.250 +9 us +~2 MB ")
        self.assertRegex(said[3], r"^SDPA cuDNN +does not run")


class Files(unittest.TestCase):
    def test_whole_or_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            files.write_json(folder + "/a.json", {"b": 1})
            self.assertEqual(os.listdir(folder), ["a.json"])
            os.mkdir(folder + "/taken")
            for path in ("/none/a.json", "/taken"):
                with self.assertRaises(OSError) as raised:
                    files.write_text(folder + path, "text")
                self.assertEqual(raised.exception.filename, folder + path)
            self.assertEqual(sorted(os.listdir(folder)), ["a.json", "taken"])


class Figures(unittest.TestCase):
    def test_figures(self):
        kernel = {"label": "matmul", "schedule": "", "predicted": 1.0, "measured": 1.5, "miss": 0.5, "bytes": 4 << 20,
                  "bound": "memory", "unit": "", "registers": 40, "shared_bytes": 0, "reason": "why", "occupancy": None,
                  "counted": {"bytes_read": 1 << 20, "bytes_written": 1 << 20, "l2_hits": 0.25}}
        level = lambda name: {"name": name, "launches": 1, "predicted": 1.0, "measured": 1.5, "miss": 0.5,
                              "bytes": 4 << 20, "temporary_bytes": 0, "host_per_launch": None, "failure": "",
                              "kernels": [kernel]}
        run = {"program": "causal", "target": "sm_80", "device": "H200", "live": 0.5,
               "binds": {"B": 1, "H": 1, "M": 1024, "N": 1024, "D": 64}, "missing": [],
               "levels": [level(name) for name in ("naive", "fused")]}
        data = {"bench": {"date": "2026-12-02", **figures.condense_bench(run)}}
        page = "<!--f passes naive-->?<!--/f--> <!--f flops-->?<!--/f--> <!--f share naive matmul-->?<!--/f-->\n" \
               "<!--table kernels naive-->\nold\n<!--/table-->\n<!--table change naive flash-->\n<!--/table-->\n"
        said = figures.rewrite(page, data)
        self.assertIn("naive-->1<!--", said)
        self.assertIn("flops-->134 MFLOP<!--", said)
        self.assertIn("| matmul | 100 % | 100 % | 1.00 | 0.50 | memory | +50 % | why |\n<!--/table-->", said)
        self.assertIn("Level `flash` has no figures on target `sm_80`", said)
        self.assertNotIn("old", said)
        self.assertEqual(figures.rewrite(said, data), said)
        run["levels"][0]["failure"] = "differs from the reference"
        with self.assertRaisesRegex(Problem, "level naive: differs"):
            figures.condense_bench(run)


if __name__ == "__main__":
    unittest.main()
