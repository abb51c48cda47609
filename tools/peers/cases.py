"""The named cases: the spec each runs, its tensors and sizes, and the same thing said to PyTorch.

`mask` and `score` take an Inputs and return functions of (b, h, m, n) and (s, b, h, m, n), in the
form FlexAttention wants; the float32 reference evaluates the same functions on index tensors.
Nothing here imports torch before tensors are made."""
import dataclasses
import math
from collections.abc import Callable

from problem import Problem

QKV = {"q": "B H M D", "k": "B H N D", "v": "B H N D"}
DEFAULT_BINDS = {"B": 4, "H": 16, "M": 4096, "N": 4096, "D": 128}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    spec: str  # kernels/SPEC.attn; the program of that name in a bundle.
    about: str
    tensors: dict = dataclasses.field(default_factory=lambda: QKV)  # Inputs: "f32 H", dtype left out: the case's.
    scalars: dict = dataclasses.field(default_factory=dict)
    binds: dict = dataclasses.field(default_factory=dict)  # Where they differ from DEFAULT_BINDS.
    inputs: dict = dataclasses.field(default_factory=dict)  # What else --bind sets: how tensors are made.
    mask: Callable | None = None
    score: Callable | None = None
    mask_by_batch: bool = False  # The mask reads b; none reads h.
    sdpa: Callable | None = None  # Arguments of scaled_dot_product_attention.
    backends: tuple = ("cudnn", "fa2")  # Which of them can do it.
    flash: dict | None = None  # Arguments of the flash_attn packages.
    heads_inside: bool = False  # Stored B M H D.
    sink: str = ""  # The tensor with a logit a head.
    lse: bool = False  # A second result.


def causal(t):
    return lambda b, h, m, n: n <= m


def bottom_right(t):
    shift = t.lengths["N"] - t.lengths["M"]
    return lambda b, h, m, n: n <= m + shift


def window(t):
    width = t.scalars["window"]
    return lambda b, h, m, n: (n <= m) & (m - n < width)


def prefix(t):
    length = t.scalars["prefix"]
    return lambda b, h, m, n: (n < length) | (n <= m)


def document(t):
    doc_q, doc_k = t.tensors["doc_q"], t.tensors["doc_k"]
    return lambda b, h, m, n: (n <= m) & (doc_q[b, m] == doc_k[b, n])


def alibi(t):
    slope = t.tensors["slope"]
    return lambda s, b, h, m, n: s + slope[h] * (n - m)


def bias(t):
    table = t.tensors["bias"]
    return lambda s, b, h, m, n: s + table[b, h, m, n]


def soft_cap(t):
    def capped(s, b, h, m, n):
        return 30 * (s / 30).tanh()
    return capped


def is_causal(t):
    return {"is_causal": True}


CASES = {case.name: case for case in [
    Case("plain", "full", "every query sees every key", sdpa=lambda t: {}, flash={}),
    Case("causal", "causal", "keys n <= m", mask=causal, sdpa=is_causal, flash={"causal": True}),
    Case("alibi", "alibi", "causal, scores lowered by distance", tensors={**QKV, "slope": "f32 H"},
         mask=causal, score=alibi),
    Case("bias", "bias_tensor", "an additive bias of the scores' shape", tensors={**QKV, "bias": "B H M N"},
         score=bias, sdpa=lambda t: {"attn_mask": t.tensors["bias"]}, backends=("cudnn",)),
    Case("window", "sliding_window", "the last 1024 keys", scalars={"window": "i32"}, binds={"window": 1024},
         mask=window, flash={"causal": True, "window_size": ("window", 0)}),
    Case("prefix", "prefix_lm", "the first 1024 keys, causal after them", scalars={"prefix": "i32"},
         binds={"prefix": 1024}, mask=prefix),
    Case("document", "document_mask", "causal within packed documents, eight or --bind documents=...",
         tensors={**QKV, "doc_q": "i32 B M", "doc_k": "i32 B N"}, inputs={"documents": 8}, mask=document, mask_by_batch=True),
    Case("sink", "sink", "causal, a logit a head in the denominator", tensors={**QKV, "e": "f32 H"},
         mask=causal, sink="e"),
    Case("bottom_right", "causal_bottom_right", "causal, aligned at the last query", binds={"M": 2048},
         mask=bottom_right, flash={"causal": True}),
    Case("grouped", "grouped_heads", "causal, 32 query heads on 8 key heads",
         tensors={"q": "B Hq M D", "k": "B Hkv N D", "v": "B Hkv N D"}, binds={"Hq": 32, "Hkv": 8},
         mask=causal, sdpa=lambda t: {"is_causal": True, "enable_gqa": True}, flash={"causal": True}),
    Case("bmhd", "bmhd", "causal, stored B M H D", tensors={"q": "B M H D", "k": "B N H D", "v": "B N H D"},
         mask=causal, sdpa=is_causal, flash={"causal": True}, heads_inside=True),
    Case("softcap", "soft_cap", "causal, scores squeezed into (-30, 30)", mask=causal, score=soft_cap,
         flash={"causal": True, "softcap": 30.0}),
    Case("lse", "lse", "causal, log-sum-exp as a second result", mask=causal, sdpa=is_causal, lse=True),
]}


class Inputs:
    """One set of tensors of a case, in the spec's axis order, with its lengths and scalars."""

    def __init__(self, case, lengths, scalars, tensors):
        self.case, self.lengths, self.scalars, self.tensors = case, lengths, scalars, tensors

    def bound_to(self, program):
        names = {axis["name"] for axis in program["axes"]}
        return {name: length for name, length in self.lengths.items() if name in names}

    def qkv(self):
        """q, k, v as [B, H, L, D] views, whatever the storage."""
        views = (self.tensors[name] for name in "qkv")
        return tuple(view.transpose(1, 2) for view in views) if self.case.heads_inside else tuple(views)

    def heads_first(self, o):
        return o.transpose(1, 2) if self.case.heads_inside else o


def sizes(case, given):
    """A case's lengths and scalars: the given binds over its own over the common ones. L sets M
    and N, except where a case wants them to differ: there it sets N, and M to half."""
    given = dict(given)
    if "L" in given:
        length = given.pop("L")
        given.setdefault("N", length)
        given.setdefault("M", length // 2 if case.name == "bottom_right" else length)
    axes = {axis for text in case.tensors.values() for axis in text.split() if axis[0].isupper()}
    lengths, scalars = {}, {}
    for name in sorted(axes):
        value = given.pop(name, case.binds.get(name, DEFAULT_BINDS.get(name)))
        if value is None or value < 1:
            raise Problem(f"case {case.name}: axis {name} needs a length of at least 1; give --bind {name}=...")
        lengths[name] = value
    for name in case.scalars:
        scalars[name] = given.pop(name, case.binds.get(name))
    for name, value in case.inputs.items():
        scalars[name] = given.pop(name, value)
        if scalars[name] < 1:
            raise Problem(f"case {case.name}: {name} must be at least 1")
    if "Hq" in lengths:
        given.pop("G", None)
        given.pop("H", None)
        if lengths["Hq"] % lengths["Hkv"]:
            raise Problem(f"Hq = {lengths['Hq']} is not a multiple of Hkv = {lengths['Hkv']}")
    if given:
        raise Problem(f"case {case.name} has no axis or scalar '{next(iter(given))}'; "
                      f"it has {', '.join([*sorted(axes), *case.scalars, *case.inputs])}")
    if case.name != "bottom_right" and case.mask and lengths["M"] != lengths["N"]:
        raise Problem(f"case {case.name} is compared with M = N only; bind L, or use bottom_right")
    return lengths, scalars


def documents(torch, batch, length, count):
    """Document numbers of a packed sequence, cut at random places: the same ones in every input
    set and run, so that all have the same work."""
    generator = torch.Generator(device="cuda").manual_seed(count)
    cuts = torch.rand(batch, count - 1, device="cuda", generator=generator).mul(length).long().sort().values
    place = torch.arange(length, device="cuda").expand(batch, length).contiguous()
    return torch.searchsorted(cuts, place, right=True).int()


def make_inputs(torch, case, lengths, scalars, dtype):
    tensors = {}
    for name, text in case.tensors.items():
        words = text.split()
        own = words[0] == "f32" or words[0] == "i32"
        shape = [lengths[axis] for axis in words[own:]]
        if name == "slope":
            heads = torch.arange(1, shape[0] + 1, device="cuda", dtype=torch.float32)
            tensors[name] = torch.exp2(-8 * heads / shape[0])
        elif name == "doc_q":
            tensors[name] = documents(torch, *shape, scalars["documents"])
        elif name == "doc_k":
            tensors[name] = tensors["doc_q"].clone()
        else:
            tensors[name] = torch.randn(shape, device="cuda", dtype=torch.float32 if own else dtype)
    return Inputs(case, lengths, scalars, tensors)


def flash_arguments(inputs):
    """`flash` with names of scalars replaced by their values; a window counts keys before the query."""
    arguments = dict(inputs.case.flash)
    if "window_size" in arguments:
        left, right = arguments["window_size"]
        arguments["window_size"] = (inputs.scalars[left] - 1, right)
    return arguments


def live_mask(torch, inputs, b, first, last):
    """The live pairs of rows first .. last-1, [rows, N], or None where no mask is."""
    if not inputs.case.mask:
        return None
    m = torch.arange(first, last, device="cuda")[:, None]
    n = torch.arange(inputs.lengths["N"], device="cuda")[None, :]
    return inputs.case.mask(inputs)(b, 0, m, n).expand(last - first, inputs.lengths["N"])


def work(torch, inputs, tile=128, chunk=2048):
    """Live pairs and live tiles (tile x tile) of all heads, and the FLOPs of both products."""
    M, N, B = (inputs.lengths[name] for name in "MNB")
    heads = inputs.qkv()[0].shape[1]
    pairs = tiles = 0
    batches = range(B) if inputs.case.mask_by_batch else range(1)
    for b in batches:
        for first in range(0, M, chunk):
            last = min(M, first + chunk)
            live = live_mask(torch, inputs, b, first, last)
            if live is None:
                pairs += (last - first) * N
                tiles += -(-(last - first) // tile) * -(-N // tile)
                continue
            pairs += int(live.sum())
            padded = torch.nn.functional.pad(live, (0, -N % tile, 0, (first - last) % tile))
            tiles += int(padded.unflatten(0, (-1, tile)).unflatten(2, (-1, tile)).any(3).any(1).sum())
    scale = heads * B // len(batches)
    dims = inputs.lengths["D"] * 2
    return {"pairs": pairs * scale, "live": pairs * scale / (B * heads * M * N), "tiles": tiles * scale,
            "flops": 2 * pairs * scale * dims}


def reference(torch, inputs, b, h, chunk=2048):
    """One head in float32: its output, and its log-sum-exp."""
    q, k, v = inputs.qkv()
    kv = h // (q.shape[1] // k.shape[1])
    k, v = k[b, kv].float(), v[b, kv].float()
    n = torch.arange(k.shape[0], device="cuda")[None, :]
    outputs, sums = [], []
    for first in range(0, q.shape[2], chunk):
        last = min(q.shape[2], first + chunk)
        s = q[b, h, first:last].float() @ k.mT / math.sqrt(q.shape[3])
        if inputs.case.score:
            m = torch.arange(first, last, device="cuda")[:, None]
            s = inputs.case.score(inputs)(s, b, h, m, n)
        live = live_mask(torch, inputs, b, first, last)
        if live is not None:
            s = s.masked_fill(~live, -math.inf)
        total = torch.logsumexp(s, -1, keepdim=True)
        if inputs.case.sink:
            total = torch.logaddexp(total, inputs.tensors[inputs.case.sink][h])
        outputs.append(torch.exp(s - total) @ v)
        sums.append(total[:, 0])
    return torch.cat(outputs), torch.cat(sums)
