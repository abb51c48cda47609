"""A bundle's level as a contestant: loaded once, bound to torch tensors without a copy."""
from bundle import choose_code, dense_bytes, dense_strides, grid_blocks, launched_blocks, resolve_lengths
from driver import Parameters
from problem import Problem
from slots import Memory, encode

TORCH_DTYPES = {"bf16": "bfloat16", "f16": "float16", "f32": "float32", "i32": "int32", "i64": "int64", "i1": "bool"}


def memory_of(tensor, value, lengths):
    """Checks that a torch tensor is what the manifest says and takes its address and strides."""
    want = tuple(lengths[axis] for axis in tensor["axes"])
    if tuple(value.shape) != want or str(value.dtype) != "torch." + TORCH_DTYPES[tensor["dtype"]]:
        raise Problem(f"tensor {tensor['name']} is {value.dtype} {tuple(value.shape)}, "
                      f"the bundle wants {tensor['dtype']} {want}")
    strides = tuple(value.stride())
    if value.data_ptr() % 16 or (strides and strides[-1] != 1):
        raise Problem(f"tensor {tensor['name']} must start at a multiple of 16 bytes, with innermost stride 1")
    return Memory(value.data_ptr(), strides)


class LevelContestant:
    ours = True

    def __init__(self, torch, driver, bundle, program, level, name):
        self.torch, self.driver, self.bundle = torch, driver, bundle
        self.program, self.level, self.name = program, level, name
        self.functions = self.schedulers = None
        self.temporaries = {}

    def load(self):
        """At the first bind, so that code which does not load is this contestant's fault alone."""
        properties = self.torch.cuda.get_device_properties(0)
        self.multiprocessors = properties.multi_processor_count
        file = choose_code(self.level, properties.major * 10 + properties.minor)
        module = self.driver.load(self.bundle.read(file), file)
        kernels = self.level["kernels"]
        self.functions = [self.driver.function(module, kernel["symbol"], kernel["dynamicShared"])
                          for kernel in kernels]
        self.schedulers = [self.torch.zeros(2, dtype=self.torch.int32, device="cuda") for _ in kernels]

    def outputs(self, lengths):
        """Fresh outputs, poisoned: what a kernel forgets to write shows."""
        made = {}
        for tensor in self.program["tensors"]:
            if tensor["role"] == "output":
                dtype = getattr(self.torch, TORCH_DTYPES[tensor["dtype"]])
                shape = [lengths[axis] for axis in tensor["axes"]]
                made[tensor["name"]] = self.torch.full(shape, float("nan"), dtype=dtype, device="cuda")
        return made

    def scratch(self, lengths):
        """The level's temporaries, shared by all input sets: launches are in order."""
        memory = {}
        for tensor in self.level["temporaries"]:
            size = dense_bytes(tensor, lengths)
            held = self.temporaries.get(tensor["name"])
            if held is None or held.numel() < size:
                held = self.torch.empty(max(size, 16), dtype=self.torch.uint8, device="cuda")
                self.temporaries[tensor["name"]] = held
            memory[tensor["name"]] = Memory(held.data_ptr(), tuple(dense_strides(tensor, lengths)))
        return memory

    def bind(self, inputs):
        """A function that launches the level's kernels and returns its outputs by name."""
        if self.functions is None:
            self.load()
        lengths = resolve_lengths(self.program, inputs.bound_to(self.program))
        outputs = self.outputs(lengths)
        memory = self.scratch(lengths)
        for tensor in self.program["tensors"]:
            value = outputs.get(tensor["name"], inputs.tensors.get(tensor["name"]))
            if value is None:
                raise Problem(f"program {self.program['name']} wants tensor {tensor['name']}, the case has none")
            memory[tensor["name"]] = memory_of(tensor, value, lengths)
        launches = []
        for kernel, function, scheduler in zip(self.level["kernels"], self.functions, self.schedulers):
            if grid_blocks(kernel, lengths) == 0:
                continue
            values = encode(self.program, self.level, kernel, memory, inputs.scalars, lengths, scheduler.data_ptr())
            launches.append((function, launched_blocks(kernel, lengths, self.multiprocessors), kernel["threads"],
                             kernel["dynamicShared"], Parameters(self.driver, values), kernel["symbol"]))

        def run():
            stream = self.torch.cuda.current_stream().cuda_stream
            for function, blocks, threads, shared, parameters, symbol in launches:
                self.driver.launch(function, blocks, threads, shared, stream, parameters, symbol)
            return outputs

        return run
