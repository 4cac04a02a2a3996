# Copyright 2026 The GateBot Authors
#
# Licensed under the Apache License, Version 2.0 (the "License");
# you may not use this file except in compliance with the License.
# You may obtain a copy of the License at
#
# http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software
# distributed under the License is distributed on an "AS IS" BASIS,
# WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
# See the License for the specific language governing permissions and
# limitations under the License.
# ============================================================================
"""Small models of five kinds, trained beside one device: the loss and every gradient agree at every step."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

import hyper_parallel as hp
from tests.hyper_parallel.api.tools import cut, numbers, same
from tests.hyper_parallel.case import S0, S1, R

S2 = hp.Shard(2)
_STEPS = 2


def _train(mesh: Any, kind: type[nn.Module], weights: dict[str, Any], data: Any, inputs: Any, loss: Any) -> None:
    """Compare some steps; `weights` says which parameters are cut, by the end of their names."""
    torch.manual_seed(5)
    plain = kind().double()
    ours = copy.deepcopy(plain)

    def partition(name: str, module: nn.Module, where: Any) -> None:
        for own, parameter in list(module.named_parameters(recurse=False)):
            place = next((p for end, p in weights.items() if f"{name}.{own}".endswith(end)), R)
            setattr(module, own, nn.Parameter(hp.distribute_tensor(parameter.detach(), where, [place])))

    hp.distribute_module(ours, mesh, partition)
    optimizers = [torch.optim.AdamW(model.parameters(), 1e-3) for model in (plain, ours)]
    for step in range(_STEPS):
        batch = data(step)
        placed = [cut(value, mesh, place) for value, place in zip(batch, inputs, strict=True)]
        losses = []
        for model, optimizer, given in zip((plain, ours), optimizers, (batch, placed), strict=True):
            torch.manual_seed(step)
            optimizer.zero_grad()
            losses.append(loss(model, *given))
            losses[-1].backward()
        same(losses[1], losses[0], 1e-9)
        for (name, one), other in zip(ours.named_parameters(), plain.parameters(), strict=True):
            try:
                same(one.grad, other.grad, 1e-7)
            except AssertionError as error:
                raise AssertionError(f"step {step}, gradient of {name}: {error}") from error
        for optimizer in optimizers:
            optimizer.step()
    for one, other in zip(ours.buffers(), plain.buffers(), strict=True):
        same(one, other, 1e-7)


def _random(high: int, *shape: int, seed: int) -> torch.Tensor:
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(seed))


def _class_loss(model: Any, x: Any, target: Any) -> Any:
    return functional.cross_entropy(model(x), target)


class VisionTransformer(nn.Module):
    """Patches by convolution, a class token, one block."""

    def __init__(self) -> None:
        super().__init__()
        self.patch = nn.Conv2d(3, 8, 4, stride=4)
        self.token, self.place = nn.Parameter(torch.randn(1, 1, 8)), nn.Parameter(torch.randn(1, 7, 8) * 0.1)
        self.norm, self.last = nn.LayerNorm(8), nn.LayerNorm(8)
        self.mixed, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
        self.up, self.down, self.head = nn.Linear(8, 11), nn.Linear(11, 8), nn.Linear(8, 5)
        self.drop = nn.Dropout(0.1)

    def forward(self, x: Any) -> Any:
        """Scores of the classes."""
        x = self.patch(x).flatten(2).transpose(1, 2)
        x = self.drop(torch.cat([self.token.expand(x.shape[0], -1, -1), x], 1) + self.place)
        query, key, value = self.mixed(self.norm(x)).reshape(x.shape[0], -1, 3, 2, 4).permute(2, 0, 3, 1, 4).unbind(0)
        seen = functional.scaled_dot_product_attention(query, key, value)
        x = x + self.out(seen.transpose(1, 2).reshape(x.shape))
        x = x + self.down(functional.gelu(self.up(self.last(x))))
        return self.head(x[:, 0])


def check_vision_transformer(mesh: Any) -> None:
    def data(step: int) -> list[torch.Tensor]:
        return [numbers(5, 3, 8, 12, seed=step), _random(5, 5, seed=step)]

    columns = {"mixed.weight": S0, "mixed.bias": S0, "up.weight": S0, "up.bias": S0}
    _train(mesh, VisionTransformer, {}, data, (S2, R), _class_loss)
    _train(mesh, VisionTransformer, {**columns, "out.weight": S1, "down.weight": S1}, data, (R, R), _class_loss)
    _train(mesh, VisionTransformer, {"patch.weight": S0}, data, (S0, S0), _class_loss)


class Hourglass(nn.Module):
    """A U-net: batch norms, pooling, both kinds of interpolation, skip connections."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.middle = self.block(2, 4), self.block(4, 8), self.block(8, 8)
        self.inner, self.outer, self.last = self.block(16, 4), self.block(8, 4), nn.Conv2d(4, 1, 1)

    @staticmethod
    def block(fewer: int, more: int) -> nn.Module:
        """Convolution, norm, activation."""
        return nn.Sequential(nn.Conv2d(fewer, more, 3, padding=1), nn.BatchNorm2d(more), nn.ReLU(inplace=True))

    def forward(self, x: Any) -> Any:
        """A score per pixel."""
        a = self.first(x)
        b = self.second(functional.max_pool2d(a, 2))
        m = self.middle(functional.max_pool2d(b, 2, ceil_mode=True))
        m = self.inner(torch.cat([functional.interpolate(m, size=b.shape[-2:], mode="bilinear"), b], 1))
        m = functional.interpolate(m, scale_factor=2, mode="nearest")
        m = functional.pad(m, (0, a.shape[-1] - m.shape[-1], 0, a.shape[-2] - m.shape[-2]))
        return self.last(self.outer(torch.cat([m, a], 1)))


def check_hourglass(mesh: Any) -> None:
    def data(step: int) -> list[torch.Tensor]:
        return [numbers(3, 2, 11, 9, seed=step), (numbers(3, 1, 11, 9, seed=50 + step) > 0).double()]

    def loss(model: Any, x: Any, target: Any) -> Any:
        return functional.binary_cross_entropy_with_logits(model(x), target)

    for place in (S2, S0):
        _train(mesh, Hourglass, {}, data, (place, place), loss)
    _train(mesh, Hourglass, {"0.weight": S0}, data, (R, R), loss)


class Language(nn.Module):
    """Torch's own encoder layers and attention, with causal masks and a tied head."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(17, 12), nn.Embedding(9, 12)
        layer = nn.TransformerEncoderLayer(12, 3, 20, dropout=0.1, batch_first=True, norm_first=True)
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.seen, self.norm = nn.MultiheadAttention(12, 2, batch_first=True), nn.LayerNorm(12)

    def forward(self, words: Any) -> Any:
        """Scores of the next word."""
        x = self.words(words) + self.places(torch.arange(words.shape[1]))
        mask = nn.Transformer.generate_square_subsequent_mask(words.shape[1], dtype=x.dtype)
        x = self.blocks(x, mask=mask, is_causal=True)
        y, shares = self.seen(x, x, x, attn_mask=mask, average_attn_weights=False)
        return self.norm(x + y + shares.mean()) @ self.words.weight.T


def check_language_model(mesh: Any) -> None:
    def data(step: int) -> list[torch.Tensor]:
        words = _random(17, 5, 8, seed=step)
        return [words[:, :-1], words[:, 1:]]

    def loss(model: Any, words: Any, target: Any) -> Any:
        return functional.cross_entropy(model(words).flatten(0, 1), target.flatten(), label_smoothing=0.1)

    rows, columns = ("in_proj_weight", "in_proj_bias", "linear1.weight", "words.weight"), ("linear2.weight",)
    cuts = {**dict.fromkeys(rows, S0), **dict.fromkeys(columns, S1), "out_proj.weight": S1}
    _train(mesh, Language, cuts, data, (R, R), loss)
    _train(mesh, Language, {}, data, (S1, S1), loss)


class Recurrent(nn.Module):
    """Words through an LSTM and a GRU, cells one by one, and a bag of them."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.bag = nn.Embedding(13, 6, padding_idx=0), nn.EmbeddingBag(13, 6, mode="mean", padding_idx=0)
        self.long = nn.LSTM(6, 7, num_layers=2, batch_first=True, bidirectional=True)
        self.short, self.cell, self.out = nn.GRU(14, 5, batch_first=True), nn.LSTMCell(5, 6), nn.Linear(6, 3)

    def forward(self, words: Any) -> Any:
        """Scores of the classes."""
        x = self.short(self.long(self.words(words))[0])[0]
        h = x.new_zeros(x.shape[0], 6)
        c = torch.zeros_like(h)
        for step in range(x.shape[1]):
            h, c = self.cell(x[:, step], (h, c))
        return self.out(h + self.bag(words))


def check_recurrent_classifier(mesh: Any) -> None:
    def data(step: int) -> list[torch.Tensor]:
        return [_random(13, 5, 4, seed=step), _random(3, 5, seed=step)]

    _train(mesh, Recurrent, {}, data, (S0, S0), _class_loss)
    cuts = {"words.weight": S0, "bag.weight": S1, "weight_ih_l0": S0, "weight_hh": S0, "cell.bias_ih": S0}
    _train(mesh, Recurrent, cuts, data, (R, R), _class_loss)


class Experts(nn.Module):
    """A mixture of experts, computed in three ways that have to agree: dense, by lists of rows, by sorted rows."""

    def __init__(self) -> None:
        super().__init__()
        self.gate, self.out = nn.Linear(6, 5), nn.Linear(6, 3)
        self.up, self.down = nn.Parameter(torch.randn(5, 6, 8) * 0.3), nn.Parameter(torch.randn(5, 8, 6) * 0.3)

    def forward(self, x: Any) -> Any:
        """Scores of the classes and the loss that balances the load."""
        odds = self.gate(x).softmax(-1)
        share, chosen = odds.topk(2, -1)
        share = share / share.sum(-1, keepdim=True)
        hot = functional.one_hot(chosen, 5).to(x.dtype)
        balance = (hot.sum((0, 1)) / hot.sum() * odds.mean(0)).sum()
        weights = torch.zeros_like(odds).scatter(1, chosen, share)
        inner = functional.silu(torch.einsum("td,edh->teh", x, self.up))
        dense = (torch.einsum("teh,ehd->ted", inner, self.down) * weights.unsqueeze(-1)).sum(1)
        listed = torch.zeros_like(x)
        for expert in range(5):
            row, rank = torch.where(chosen == expert)
            y = functional.silu(x[row] @ self.up[expert]) @ self.down[expert]
            listed = listed.index_add(0, row, y * share[row, rank].unsqueeze(-1))
        order = chosen.reshape(-1).argsort(stable=True)
        picked = chosen.reshape(-1)[order]
        y = functional.silu(torch.bmm(x[order // 2].unsqueeze(1), self.up[picked]))
        y = torch.bmm(y, self.down[picked]).squeeze(1) * share.reshape(-1)[order].unsqueeze(-1)
        rows = (order // 2).unsqueeze(1).expand(-1, x.shape[1])
        same(torch.zeros_like(x).scatter_add(0, rows, y), dense)
        same(listed, dense)
        return self.out(x + dense + 2 * listed + torch.zeros_like(x).scatter_add(0, rows, y)), balance


def check_mixture_of_experts(mesh: Any) -> None:
    def data(step: int) -> list[torch.Tensor]:
        return [numbers(9, 6, seed=step), _random(3, 9, seed=step)]

    def loss(model: Callable[..., Any], x: Any, target: Any) -> Any:
        scores, balance = model(x)
        return functional.cross_entropy(scores, target) + 0.01 * balance

    _train(mesh, Experts, {".up": S0, ".down": S0}, data, (S0, S0), loss)
    _train(mesh, Experts, {".up": S2, ".down": S1, "gate.weight": S0}, data, (R, R), loss)
