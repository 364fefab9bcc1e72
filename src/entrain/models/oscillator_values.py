"""The values of oscillators, checked and registered as parameters or buffers of a module."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor, nn

from entrain.physics import SparseGraph
from entrain.physics.terms import LOCAL, PAIR, TERMS
from entrain.utils.errors import InputError, unknown_name

Values = ArrayLike | Tensor


class OscillatorValues(nn.Module):
    """Couplings, fields, terms and roles of N oscillators, with an axis of runs if asked for."""

    oscillators: int
    inputs: int
    runs: int | None
    input_nodes: Tensor
    read: Tensor
    _edges: SparseGraph

    def _set_roles(self, input_nodes: Any, read: Any) -> None:
        for name, nodes in (("input_nodes", input_nodes), ("read", read)):
            indices = range(self.oscillators) if nodes is None else nodes
            try:
                tensor = torch.tensor([operator.index(node) for node in indices])
            except TypeError as error:
                raise InputError(f"{name} must be whole numbers, got {nodes!r}") from error
            if len(tensor) == 0 or len(set(tensor.tolist())) < len(tensor):
                raise InputError(f"{name} must be different indices, at least one")
            if int(tensor.min()) < 0 or int(tensor.max()) >= self.oscillators:
                raise InputError(
                    f"{name} must be indices from 0 to {self.oscillators - 1}, got "
                    f"{int(tensor.min())} to {int(tensor.max())}"
                )
            self.register_buffer(name, tensor, persistent=False)

    def _set_values(
        self,
        strengths: Tensor,
        fields: Values | None,
        start_phases: Values | None,
        input_weights: Values | None,
        generator: torch.Generator,
        names: Collection[str],
        terms: Mapping[str, Values | None],
    ) -> None:
        """Register every value as a parameter or a buffer."""
        if unknown := sorted(terms.keys() - TERMS.keys()):
            raise unknown_name("term", unknown[0], TERMS)
        known = ("couplings", "fields", "input_weights", "start_phases", *TERMS)
        for name in names:
            if name not in known:
                raise unknown_name("trainable value", str(name), known)
        dtype, n = strengths.dtype, self.oscillators
        if self.inputs:
            shape = (len(self.input_nodes), self.inputs)
            if input_weights is None:
                scale = 0.3 / math.sqrt(self.inputs)
                weights = scale * torch.randn(self._axes(*shape), generator=generator)
            else:
                weights = self._values("input_weights", input_weights, shape, dtype)
            self._register("input_weights", weights.to(dtype), "input_weights" in names)
        bias = 0.0 if fields is None else fields
        self._register("biases", self._values("fields", bias, (n,), dtype), "fields" in names)
        self._register("coupler_strengths", strengths, "couplings" in names)
        optional = {"start_phases": start_phases, **{name: terms.get(name) for name in TERMS}}
        for name, value in optional.items():
            tensor = None
            if value is not None:
                tensor = self._values(name, value, self._shape_of(name), dtype)
                constant = name not in names and not tensor.requires_grad
                if name in PAIR and constant and not bool(tensor.any()):
                    tensor = None  # no lag, no harmonic
            elif name in names:
                raise InputError(f"{name} must have initial values to be trained, got none")
            self._register(name, tensor, name in names)

    def _register(self, name: str, value: Tensor | None, trainable: bool) -> None:
        if value is None:  # not a buffer that is None, which breaks `torch.export`
            setattr(self, name, None)
        elif trainable:
            self.register_parameter(name, nn.Parameter(value.detach().clone()))
        else:
            self.register_buffer(name, value)

    def _axes(self, *shape: int) -> tuple[int, ...]:
        return shape if self.runs is None else (self.runs, *shape)

    def _shape_of(self, name: str) -> tuple[int, ...]:
        if name in LOCAL or name == "start_phases":
            return (self.oscillators,)
        pair = PAIR[name]
        return pair.size if pair.shape == "shared" else (self._edges.edges,)

    def _values(
        self, name: str, value: Values, shape: tuple[int, ...], dtype: torch.dtype
    ) -> Tensor:
        """A value as a tensor of `shape`, with an axis of runs if there are runs."""
        try:
            tensor = value if isinstance(value, Tensor) else torch.as_tensor(np.asarray(value))
            tensor = tensor.to(dtype)
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} must be numbers, got {type(value).__name__}") from error
        of_edges, n = name in PAIR and PAIR[name].shape != "shared", self.oscillators
        if of_edges and tensor.shape[-2:] == (n, n):
            tensor = tensor[..., self._edges.rows, self._edges.columns]
        if not bool(tensor.detach().isfinite().all()):
            raise InputError(f"{name} must be finite, got NaN or infinity")
        full = self._axes(*shape)
        if tensor.shape not in (full, shape, torch.Size([])):
            expected = " x ".join(map(str, full)) + " numbers" if full else "one number"
            expected = f"{n} x {n} or {expected}" if of_edges else expected
            raise InputError(f"{name} must be {expected}; got shape {tuple(tensor.shape)}")
        return tensor.expand(full).clone()  # a user's array may change later
