"""PyTorch's fused attentions, and the flash_attn packages, as contestants."""
import importlib

from cases import flash_arguments
from problem import Problem

# Package's module to its name here; each has flash_attn_func on [B, L, H, D].
PACKAGES = {"flash_attn_interface": "FlashAttention-3", "flash_attn.cute": "FlashAttention-4",
            "flash_attn": "flash_attn package"}
NAMES = {"cudnn": "cuDNN", "fa2": "FlashAttention-2", "flex": "FlexAttention", "packages": "flash_attn packages"}


class TorchContestant:
    """`make(inputs)` returns a function that gives the output tensors by name."""
    ours = False

    def __init__(self, name, make):
        self.name, self.make = name, make

    def bind(self, inputs):
        return self.make(inputs)


def sdpa(torch, backend):
    """One backend of scaled_dot_product_attention, the others off."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backend = {"cudnn": SDPBackend.CUDNN_ATTENTION, "fa2": SDPBackend.FLASH_ATTENTION}[backend]

    def make(inputs):
        q, k, v = inputs.qkv()
        arguments = inputs.case.sdpa(inputs)

        def run():
            with sdpa_kernel(backend):
                o = torch.nn.functional.scaled_dot_product_attention(q, k, v, **arguments)
            return {"o": inputs.heads_first(o)}
        return run
    return make


def sdpa_with_lse(torch, backend):
    """The operators beneath, which also give the log-sum-exp; causal or plain."""
    def make(inputs):
        q, k, v = inputs.qkv()
        is_causal = inputs.case.sdpa(inputs).get("is_causal", False)

        def run():
            if backend == "cudnn":
                o, lse, *_ = torch.ops.aten._scaled_dot_product_cudnn_attention(q, k, v, None, True, 0.0, is_causal)
            else:
                o, lse, *_ = torch.ops.aten._scaled_dot_product_flash_attention(q, k, v, 0.0, is_causal)
            return {"o": o, "lse": lse.reshape(o.shape[:3])}
        return run
    return make


def flash_operator(torch):
    """PyTorch's FlashAttention-2 beneath scaled_dot_product_attention: it knows windows, and its
    causal mask is aligned at the last query."""
    def make(inputs):
        q, k, v = (x.transpose(1, 2) for x in inputs.qkv())
        arguments = flash_arguments(inputs)
        left, right = arguments.get("window_size", (None, None))
        is_causal = arguments.get("causal", False)

        def run():
            o = torch.ops.aten._flash_attention_forward(
                q, k, v, None, None, q.shape[1], k.shape[1], 0.0, is_causal, False,
                window_size_left=left, window_size_right=right)[0]
            return {"o": o if inputs.case.heads_inside else o.transpose(1, 2)}
        return run
    return make


def flex(torch, autotune):
    """FlexAttention, compiled for this case alone; its block mask is made beforehand, untimed."""
    from torch.nn.attention import flex_attention as module
    torch._dynamo.reset()
    mode = "max-autotune-no-cudagraphs" if autotune else None
    auxiliary = getattr(module, "AuxRequest", None)

    def forward(q, k, v, score, blocks, gqa, sink, with_lse):
        if sink is None and not with_lse:
            return module.flex_attention(q, k, v, score_mod=score, block_mask=blocks, enable_gqa=gqa), None
        if auxiliary:
            o, more = module.flex_attention(q, k, v, score_mod=score, block_mask=blocks, enable_gqa=gqa,
                                            return_aux=auxiliary(lse=True))
            lse = more.lse
        else:
            o, lse = module.flex_attention(q, k, v, score_mod=score, block_mask=blocks, enable_gqa=gqa,
                                           return_lse=True)
        if sink is not None:
            o = (o * torch.sigmoid(lse - sink[:, None])[..., None]).to(q.dtype)
        return o, lse

    compiled = torch.compile(forward, dynamic=False, mode=mode)

    def make(inputs):
        case = inputs.case
        q, k, v = inputs.qkv()
        batch = q.shape[0] if case.mask_by_batch else None
        blocks = case.mask and module.create_block_mask(case.mask(inputs), batch, None, q.shape[2], k.shape[2],
                                                        device="cuda")
        score = case.score and case.score(inputs)
        sink = inputs.tensors[case.sink] if case.sink else None

        def run():
            o, lse = compiled(q, k, v, score, blocks, q.shape[1] != k.shape[1], sink, case.lse)
            return {"o": inputs.heads_first(o), **({"lse": lse} if case.lse else {})}
        return run
    return make


def package(function):
    def make(inputs):
        q, k, v = (x.transpose(1, 2) for x in inputs.qkv())
        arguments = flash_arguments(inputs)

        def run():
            o = function(q, k, v, **arguments)
            o = o[0] if isinstance(o, tuple) else o
            return {"o": o if inputs.case.heads_inside else o.transpose(1, 2)}
        return run
    return make


def contestants(torch, case, wanted, autotune=False):
    """The peers that can do a case."""
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        raise Problem(f"--peers: '{unknown[0]}' is unknown; use {', '.join(NAMES)} or none")
    made = []
    for backend in ("cudnn", "fa2"):
        if backend not in wanted:
            continue
        if case.sdpa and backend in case.backends:
            made.append(TorchContestant(NAMES[backend], (sdpa_with_lse if case.lse else sdpa)(torch, backend)))
        elif backend == "fa2" and case.flash is not None and set(case.flash) <= {"causal", "window_size"}:
            made.append(TorchContestant(NAMES["fa2"], flash_operator(torch)))
    if "flex" in wanted:
        made.append(TorchContestant(NAMES["flex"], flex(torch, autotune)))
    if "packages" in wanted and case.flash is not None:
        for module, name in PACKAGES.items():
            try:
                function = importlib.import_module(module).flash_attn_func
            except Exception:  # Absent, or installed for another PyTorch.
                continue
            made.append(TorchContestant(name, package(function)))
    return made
