"""From arguments to kernel parameters: 8-byte slots and tensor maps (lib/Bundle/Manifest.h)."""
import dataclasses
import struct

from bundle import ELEMENT_BYTES, grid_blocks
from problem import Problem


@dataclasses.dataclass
class Memory:
    """A tensor on the device; strides in elements, one an axis in the manifest's order."""
    address: int
    strides: tuple


@dataclasses.dataclass
class TensorMap:
    """What cuTensorMapEncodeTiled is asked for, innermost axis first; strides in bytes, from the
    second axis on."""
    address: int
    dtype: str
    dims: list
    strides: list
    box: list


def bfloat_bits(value):
    """Round to nearest even, as the runtime does."""
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    if value != value:
        return bits >> 16 | 0x40
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def encode_scalar(scalar, value):
    """The value of its dtype in the low bytes."""
    name, dtype = scalar["name"], scalar["dtype"]
    if dtype == "f32":
        return struct.unpack("<I", struct.pack("<f", value))[0]
    if dtype == "f16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    if dtype == "bf16":
        return bfloat_bits(value)
    widths = {"i1": 1, "i32": 32, "i64": 64}
    if dtype not in widths:
        raise Problem(f"scalar {name} has dtype '{dtype}', which this script does not know")
    if value != int(value):
        raise Problem(f"scalar {name} is {dtype}, its value {value} is not whole")
    low, high = (0, 1) if dtype == "i1" else (-(1 << widths[dtype] - 1), (1 << widths[dtype] - 1) - 1)
    if not low <= value <= high:
        raise Problem(f"scalar {name} is {dtype}, its value {value} does not fit")
    return int(value) & (1 << widths[dtype]) - 1


def tensor_map(arg, tensor, memory, lengths):
    """None for an optional map that the strides do not allow."""
    size = ELEMENT_BYTES[tensor["dtype"]]
    place = {axis: memory.strides[i] for i, axis in enumerate(tensor["axes"])}
    axes = arg["axes"]
    unknown = [axis for axis in axes if axis not in place]
    if unknown:
        raise Problem(f"bundle is broken: a map of {tensor['name']} has axis {unknown[0]}, which the tensor lacks")
    if place[axes[0]] != 1:
        raise Problem(f"tensor {tensor['name']}: stride {place[axes[0]]} of axis {axes[0]} must be 1 for a tensor map")
    # An empty tensor is one element, which nobody asks for.
    dims = [lengths[axis] for axis in axes] if all(lengths[axis] for axis in axes) else [1] * len(axes)
    # The stride of an axis of one element is never used, but it has to be a valid one.
    row = -(-dims[0] * size // 16) * 16
    strides = [place[axis] * size if length > 1 else row for axis, length in zip(axes[1:], dims[1:])]
    for axis, stride in zip(axes[1:], strides):
        if arg.get("optional") and (stride % 16 or not stride):
            return None
        if stride % 16:
            raise Problem(f"tensor {tensor['name']}: stride of axis {axis} is {stride} bytes, no multiple of 16")
    return TensorMap(memory.address, tensor["dtype"], dims, strides, list(arg["box"]))


def encode(program, level, kernel, memory, scalars, lengths, scheduler=0):
    """One parameter for each argument: an int, the 8-byte slot, or a TensorMap. `memory` holds
    the program's tensors and the level's temporaries by name; `scheduler` is the address of the
    kernel's own 8 zeroed bytes."""
    tensors = {tensor["name"]: tensor for tensor in program["tensors"] + level["temporaries"]}

    def find(table, key, what):
        if key not in table:
            raise Problem(f"bundle is broken: kernel {kernel['symbol']} asks for {what} '{key}'; make it again")
        return table[key]

    parameters = []
    for arg in kernel["args"]:
        kind, name = arg["kind"], arg.get("name", "")
        if kind == "length":
            value = find(lengths, arg["axis"], "the length of unknown axis")
        elif kind == "scalar":
            named = {scalar["name"]: scalar for scalar in program["scalars"]}
            value = encode_scalar(find(named, name, "unknown scalar"), scalars[name])
        elif kind == "blocks":
            value = grid_blocks(kernel, lengths)
        elif kind == "scheduler":
            value = scheduler
        elif kind in ("pointer", "stride", "map"):
            tensor = find(tensors, name, "unknown tensor")
            if kind == "pointer":
                value = memory[name].address
            elif kind == "stride":
                strides = dict(zip(tensor["axes"], memory[name].strides))
                value = find(strides, arg["axis"], f"the stride of {name} along")
            else:
                value = tensor_map(arg, tensor, memory[name], lengths)
        else:
            raise Problem(f"kernel {kernel['symbol']} has an argument of kind '{kind}', unknown to this script")
        parameters.append(value)
    return parameters
