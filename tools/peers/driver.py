"""The CUDA driver through ctypes, in the context that is current on this thread (PyTorch's)."""
import ctypes

from problem import Problem

MAP_BYTES, MAP_ALIGNMENT = 128, 64
# CUtensorMapDataType.
MAP_DTYPES = {"i1": 0, "f8e4m3": 0, "f8e5m2": 0, "i32": 3, "i64": 5, "f16": 6, "f32": 7, "bf16": 9}
INTERLEAVE_NONE, SWIZZLE_128B, PROMOTION_256B, FILL_ZERO = 0, 3, 3, 0
MAX_DYNAMIC_SHARED = 8  # CUfunction_attribute.
JIT_ERROR_BUFFER, JIT_ERROR_BYTES = 5, 6  # CUjit_option.


class Driver:
    def __init__(self, library=None):
        try:
            self.cuda = library or ctypes.CDLL("libcuda.so.1")
        except OSError:
            raise Problem("no CUDA driver (libcuda.so.1) on this machine")

    def check(self, result, what):
        if result:
            name = ctypes.c_char_p()
            known = self.cuda.cuGetErrorName(result, ctypes.byref(name)) == 0
            raise Problem(f"{what}: {name.value.decode() if known else f'CUDA error {result}'}")

    def load(self, image, what):
        """A module from a cubin or PTX text; never unloaded, the process is short."""
        log = ctypes.create_string_buffer(8192)
        options = (ctypes.c_int * 2)(JIT_ERROR_BUFFER, JIT_ERROR_BYTES)
        values = (ctypes.c_void_p * 2)(ctypes.addressof(log), len(log))
        module = ctypes.c_void_p()
        result = self.cuda.cuModuleLoadDataEx(ctypes.byref(module), image, 2, options, values)
        said = log.value.decode(errors="replace").strip().splitlines()
        self.check(result, f"the driver rejects {what}{f' ({said[0]})' if said else ''}")
        return module

    def function(self, module, symbol, shared):
        function = ctypes.c_void_p()
        self.check(self.cuda.cuModuleGetFunction(ctypes.byref(function), module, symbol.encode()),
                   f"looking for kernel {symbol}")
        self.check(self.cuda.cuFuncSetAttribute(function, MAX_DYNAMIC_SHARED, shared),
                   f"kernel {symbol} with {shared} bytes of shared memory")
        return function

    def encode_map(self, request):
        """A tensor map in memory of its own: (address, what keeps it alive). None gives zeros, which
        no kernel looks at."""
        memory = ctypes.create_string_buffer(MAP_BYTES + MAP_ALIGNMENT)
        address = -(-ctypes.addressof(memory) // MAP_ALIGNMENT) * MAP_ALIGNMENT
        if request is None:
            return address, memory
        rank = len(request.dims)
        self.check(self.cuda.cuTensorMapEncodeTiled(
            ctypes.c_void_p(address), MAP_DTYPES[request.dtype], rank, ctypes.c_void_p(request.address),
            (ctypes.c_uint64 * rank)(*request.dims), (ctypes.c_uint64 * max(rank - 1, 1))(*request.strides),
            (ctypes.c_uint32 * rank)(*request.box), (ctypes.c_uint32 * rank)(*[1] * rank),
            INTERLEAVE_NONE, SWIZZLE_128B, PROMOTION_256B, FILL_ZERO),
            f"tensor map of dims {request.dims}, strides {request.strides} bytes, box {request.box}")
        return address, memory

    def launch(self, function, blocks, threads, shared, stream, parameters, what):
        result = self.cuda.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, shared,
                                          ctypes.c_void_p(stream), parameters.array, None)
        if result:
            self.check(result, f"launch of {what} ({blocks} blocks of {threads} threads, {shared} bytes)")


class Parameters:
    """A launch's parameters laid out for the driver: ints as 8-byte slots, TensorMaps (or None) as
    128 bytes, ctypes structures as they are."""

    def __init__(self, driver, values):
        self.kept = []
        addresses = []
        for value in values:
            if isinstance(value, int):
                slot = ctypes.c_uint64(value & (1 << 64) - 1)
                self.kept.append(slot)
                addresses.append(ctypes.addressof(slot))
            elif isinstance(value, ctypes.Structure):
                self.kept.append(value)
                addresses.append(ctypes.addressof(value))
            else:
                address, memory = driver.encode_map(value)
                self.kept.append(memory)
                addresses.append(address)
        self.array = (ctypes.c_void_p * max(len(addresses), 1))(*addresses)
