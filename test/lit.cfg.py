# How lit runs the text tests. Features: `cuda` when a GPU can be used,
# `assembler` when a cubin can be made, `lsp` when attn-lsp-server was built.
import ctypes
import os
import shutil

import lit.formats

config.name = "attn"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".attn", ".test"]
config.excludes = ["Unit", "Fuzz", "CMakeLists.txt", "Inputs"]
config.test_source_root = os.path.dirname(__file__)

config.environment["PATH"] = os.pathsep.join(
    [config.attn_bin, config.llvm_bin, os.environ.get("PATH", "")])
config.substitutions.append(("%kernels", config.attn_source + "/kernels"))


def loads(*names):
    for name in names:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


if os.path.exists(os.path.join(config.attn_bin, "attn-lsp-server")):
    config.available_features.add("lsp")
if loads("libcuda.so.1"):
    config.available_features.add("cuda")
cuda = os.environ.get("CUDA_HOME", "/usr/local/cuda")
if loads("libnvJitLink.so", "libnvJitLink.so.13", "libnvJitLink.so.12",
         cuda + "/lib64/libnvJitLink.so"):
    config.available_features.add("assembler")

# Register budgets need ptxas itself: nvJitLink ignores them.
if shutil.which("ptxas") or os.access(cuda + "/bin/ptxas", os.X_OK):
    config.available_features.add("ptxas")
