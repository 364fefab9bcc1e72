r"""Gradients of a rollout, which the reference sums from the last step to the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import torch
from torch import Tensor

from entrain.physics import Couplings, Dynamics, PhaseModel, Schedule
from entrain.physics.couplings import (
    add_outer,
    multiply,
    multiply_transposed,
    values_of,
    with_values,
)
from entrain.physics.terms import LOCAL, PAIR
from entrain.physics.torque import multiple_angle
from entrain.utils.errors import InputError


class GradientSums:
    """Gradients summed step by step, from the last to the first."""

    def __init__(self, model: PhaseModel, dynamics: Dynamics) -> None:
        self._model, self._dynamics = model, dynamics
        local = [name for name in LOCAL if name in model.terms]
        self._sums = {name: torch.zeros_like(model.fields) for name in ("fields", *local)}
        self._components = ComponentSums(model)
        schedule = model.schedule or Schedule()
        self._schedule = schedule
        self._factors = {name: torch.zeros_like(f) for name, f in schedule.factors.items()}
        self._drive = None if schedule.drive is None else torch.zeros_like(schedule.drive)

    def step_back(self, phases: Tensor, adjoint: Tensor, step: int) -> Tensor:
        """The adjoint before a step that began at `phases`."""
        model = self._model.at(step)
        sin, cos = phases.sin(), phases.cos()
        time_step = self._dynamics.time_step
        q = -self._dynamics.mobility * time_step * adjoint
        q_sin = q * sin
        self._add("fields", q_sin, step)
        if self._drive is not None:
            self._drive[self._schedule.segment(step)] += q_sin
        diagonal = model.fields * cos
        for name, value in model.terms.items():
            if (term := LOCAL.get(name)) is None:
                continue
            scaled = -time_step * adjoint if term.is_velocity else q
            self._add(name, term.gradient(sin, cos, scaled), step)
            if term.slope is not None:
                diagonal = diagonal + term.slope(sin, cos, value)
        before = adjoint + q * diagonal
        factor = self._schedule.factors.get("couplings")
        pull = q if factor is None else factor[step] * q
        for index in range(len(self._components.components)):
            torque, by_phases = self._components.add(index, sin, cos, pull)
            before = before + by_phases()
            if factor is not None:
                self._factors["couplings"][step] += (q * torque).sum()
        return before + _custom_pullback(model, phases, q) if model.other_terms else before

    def _add(self, name: str, gradient: Tensor, step: int) -> None:
        """Add the gradient by a term in one step to that by its constant value and its factor."""
        factor = self._schedule.factors.get(name)
        if factor is None:
            self._sums[name] += gradient
        else:
            self._sums[name] += factor[step] * gradient
            self._factors[name][step] = (gradient * self._model.tensors()[name]).sum()

    def gradient(self, adjoint: Tensor) -> PhaseModel:
        """The sums, with the adjoint of the start."""
        schedule = replace(self._schedule, factors=self._factors, drive=self._drive)
        terms, couplings = self._components.gradients()
        return PhaseModel(
            self._sums.pop("fields"),
            couplings,
            terms=self._sums | terms,
            start=adjoint,
            schedule=None if self._model.schedule is None else schedule,
        )


class ComponentSums:
    """Gradients by the components of the coupling function, and by the terms that make them."""

    def __init__(self, model: PhaseModel) -> None:
        self._couplings = model.couplings
        tensors = {name: value for name, value in model.terms.items() if name in PAIR}
        tensors["couplings"] = values_of(model.couplings)
        with torch.enable_grad():
            self._leaves = {name: t.detach().requires_grad_() for name, t in tensors.items()}
            self.components = model.with_tensors(self._leaves).components()
        self._tensors = [
            (values_of(component.couplings), *(component.factors or ()))
            for component in self.components
        ]
        self._sums = [[torch.zeros_like(t) for t in tensors] for tensors in self._tensors]

    @torch.no_grad()
    def add(
        self, index: int, sin: Tensor, cos: Tensor, q: Tensor
    ) -> tuple[Tensor, Callable[[], Tensor]]:
        """Add the gradient of sum_i q_i T_i by a component; returns T, and the one by the phases.

        With S and C of m theta: by M_ij (q_S)_i C_j - (q_C)_i S_j, by c and d sum q [S (M C) -
        C (M S)] and sum q [C (M C) + S (M S)].
        """
        component, sums = self.components[index], self._sums[index]
        couplings = with_values(component.couplings, values_of(component.couplings).detach())
        s, c = multiple_angle(sin, cos, component.multiple)
        m_sin, m_cos = multiply(couplings, s), multiply(couplings, c)
        q_sin, q_cos = q * s, q * c
        if component.factors is not None:
            sums[1] += (q_sin * m_cos - q_cos * m_sin).sum((-2, -1))
            sums[2] += (q_cos * m_cos + q_sin * m_sin).sum((-2, -1))
            odd, even = (factor.detach()[..., None, None] for factor in component.factors)
            m_sin, m_cos = odd * m_sin - even * m_cos, odd * m_cos + even * m_sin
            q_sin, q_cos = odd * q_sin + even * q_cos, odd * q_cos - even * q_sin
        add_outer(sums[0], couplings, q_sin, c, 1)
        add_outer(sums[0], couplings, q_cos, s, -1)

        def by_phases() -> Tensor:
            through = s * multiply_transposed(couplings, q_sin)
            through = through + c * multiply_transposed(couplings, q_cos)
            return component.multiple * (q * (c * m_cos + s * m_sin) - through)

        return s * m_cos - c * m_sin, by_phases

    def gradients(self) -> tuple[dict[str, Tensor], Couplings]:
        """The gradients by the terms that pair oscillators, and by J."""
        if len(self._leaves) == 1:
            return {}, with_values(self._couplings, self._sums[0][0])
        outputs = [t for tensors in self._tensors for t in tensors]
        slopes = [t for sums in self._sums for t in sums]
        pairs = [(o, t) for o, t in zip(outputs, slopes, strict=True) if o.requires_grad]
        gradients = torch.autograd.grad(
            [output for output, _ in pairs],
            list(self._leaves.values()),
            [slope for _, slope in pairs],
            materialize_grads=True,
            allow_unused=True,
        )
        by_name = dict(zip(self._leaves, gradients, strict=True))
        return by_name, with_values(self._couplings, by_name.pop("couplings"))


def _custom_pullback(model: PhaseModel, phases: Tensor, q: Tensor) -> Tensor:
    """q times the derivative of custom terms, by autograd."""
    with torch.enable_grad():
        if any(term(phases.detach()).requires_grad for term in model.other_terms):
            raise InputError(
                "a custom term has parameters that require gradients, which a pullback does not "
                "return; use kernels.rollout, through which autograd reaches them"
            )
        leaf = phases.detach().requires_grad_()
        bracket = torch.stack([term(leaf) for term in model.other_terms]).sum(0)
        if not bracket.requires_grad:  # constant torques
            return torch.zeros_like(phases)
        (by_phases,) = torch.autograd.grad(
            bracket, leaf, q, allow_unused=True, materialize_grads=True
        )
    return by_phases
