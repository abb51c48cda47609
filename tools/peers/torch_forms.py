"""The ways PyTorch itself writes causal or plain attention, from separate operations to one kernel."""
import dataclasses
from collections.abc import Callable

import torch_peers
from torch_peers import TorchContestant

# Names of the backends of scaled_dot_product_attention, as this script shows them.
BACKENDS = {"SDPA math": "MATH", "SDPA efficient": "EFFICIENT_ATTENTION", "SDPA flash": "FLASH_ATTENTION",
            "SDPA cuDNN": "CUDNN_ATTENTION"}


@dataclasses.dataclass
class Form:
    contestant: TorchContestant
    # Bytes from sizes, for a form whose operators cannot be watched; None: they can.
    bytes: Callable | None = None


def scores_bytes(inputs):
    q, k, _ = inputs.qkv()
    return q.shape[0] * q.shape[1] * q.shape[2] * k.shape[2] * q.element_size()


def inside_bytes(inputs):
    """q, k and v read, o written."""
    q, k, v = inputs.qkv()
    return sum(x.numel() * x.element_size() for x in (q, k, v)) + q.shape[:-1].numel() * v.shape[-1] * q.element_size()


def separate(torch, in_place):
    """Product, scale, mask, softmax, product: an operator each. The mask is a tensor made beforehand."""
    def make(inputs):
        q, k, v = inputs.qkv()
        scale = q.shape[-1] ** -0.5
        dead = None
        if inputs.case.mask:
            m = torch.arange(q.shape[2], device=q.device)[:, None]
            n = torch.arange(k.shape[2], device=q.device)[None, :]
            dead = ~inputs.case.mask(inputs)(0, 0, m, n)

        def naive():
            s = (q @ k.transpose(-1, -2)) * scale
            if dead is not None:
                s = s.masked_fill(dead, float("-inf"))
            return {"o": torch.softmax(s, -1) @ v}

        def inplace():
            s = (q @ k.transpose(-1, -2)).mul_(scale)
            if dead is not None:
                s.masked_fill_(dead, float("-inf"))
            return {"o": torch.softmax(s, -1) @ v}

        return inplace if in_place else naive
    return make


def compiled(torch):
    """torch.compile of the naive form."""
    def make(inputs):
        return torch.compile(separate(torch, False)(inputs), dynamic=False)
    return make


def compiled_bytes(inputs):
    """Product, one pass over the scores, product: the scores are written and read twice."""
    return inside_bytes(inputs) + 4 * scores_bytes(inputs)


def sdpa(torch, backend):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    backend = getattr(SDPBackend, backend)

    def make(inputs):
        q, k, v = inputs.qkv()
        arguments = inputs.case.sdpa(inputs)

        def run():
            with sdpa_kernel(backend):
                return {"o": torch.nn.functional.scaled_dot_product_attention(q, k, v, **arguments)}
        return run
    return make


def forms(torch):
    made = [Form(TorchContestant("eager naive", separate(torch, False))),
            Form(TorchContestant("eager in place", separate(torch, True))),
            Form(TorchContestant("compiled", compiled(torch)), compiled_bytes)]
    made += [Form(TorchContestant(name, sdpa(torch, backend))) for name, backend in BACKENDS.items()]
    made.append(Form(TorchContestant("FlexAttention", torch_peers.flex(torch, autotune=False)), inside_bytes))
    return made
