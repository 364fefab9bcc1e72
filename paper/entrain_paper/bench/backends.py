"""The backends that are compared: Entrain, plain PyTorch, torchdiffeq and diffrax."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from entrain import kernels
from entrain.physics import PhaseModel, readout
from entrain.rules.two_stage_training import endpoint_loss
from entrain_paper.bench.problem import Infer, Problem, Train


@dataclass(frozen=True)
class Backend:
    """An implementation of the work; `needs` are modules that Entrain does not install."""

    name: str
    prepare: Callable[[Problem], tuple[Train, Infer]]
    needs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """The first needed module that is not installed; None if all are."""
        for module in self.needs:
            try:
                importlib.import_module(module)
            except ImportError:
                return module
        return None


Solve = Callable[[Tensor, Tensor, Problem], Tensor]  # fields, couplings -> phases at t_f


def _autograd(solve: Solve, problem: Problem) -> tuple[Train, Infer]:
    """Training and inference by differentiation of a PyTorch solver."""
    fields, couplings, targets = (t[0] for t in problem.tensors())
    outputs = targets.shape[-1]

    def train() -> tuple[Tensor, Tensor, Tensor]:
        b, j = fields.detach().requires_grad_(), couplings.detach().requires_grad_()
        loss = (readout(solve(b, j, problem), outputs) - targets).square().mean()
        by_fields, by_couplings = torch.autograd.grad(loss, (b, j))
        return loss, by_fields, by_couplings

    def infer() -> Tensor:
        with torch.no_grad():
            return readout(solve(fields, couplings, problem), outputs)

    return train, infer


def _start(fields: Tensor) -> Tensor:
    return torch.full_like(fields, math.pi / 2)


def _velocity(theta: Tensor, fields: Tensor, couplings: Tensor) -> Tensor:
    """Velocity of a plain gradient flow in the fewest operations of PyTorch."""
    sin, cos = theta.sin(), theta.cos()
    return -(sin * (fields + cos @ couplings) - cos * (sin @ couplings))


def _pairwise(fields: Tensor, couplings: Tensor, problem: Problem) -> Tensor:
    theta = _start(fields)
    for _ in range(problem.steps):
        pairs = couplings * torch.sin(theta[:, :, None] - theta[:, None, :])
        theta = theta - problem.dynamics.time_step * (fields * theta.sin() + pairs.sum(-1))
    return theta


def _identity(fields: Tensor, couplings: Tensor, problem: Problem) -> Tensor:
    theta = _start(fields)
    for _ in range(problem.steps):
        theta = theta + problem.dynamics.time_step * _velocity(theta, fields, couplings)
    return theta


def _compiled(problem: Problem) -> tuple[Train, Infer]:
    compiled: Any = torch.compile(_identity, dynamic=False)
    return _autograd(compiled, problem)


def _torchdiffeq(adjoint: bool) -> Callable[[Problem], tuple[Train, Infer]]:
    def solve(fields: Tensor, couplings: Tensor, problem: Problem) -> Tensor:
        torchdiffeq: Any = importlib.import_module("torchdiffeq")
        times = torch.tensor([0.0, problem.dynamics.observation_time], device=fields.device)
        options = {"step_size": problem.dynamics.time_step}

        def velocity(_: Tensor, theta: Tensor) -> Tensor:
            return _velocity(theta, fields, couplings)

        common: dict[str, Any] = {"method": "euler", "options": options}
        solver = torchdiffeq.odeint
        if adjoint:
            solver = torchdiffeq.odeint_adjoint
            common |= {"adjoint_params": (fields, couplings), "adjoint_options": options}
        path: Tensor = solver(velocity, _start(fields), times, **common)
        return path[-1]

    return lambda problem: _autograd(solve, problem)


def _diffrax(direct: bool) -> Callable[[Problem], tuple[Train, Infer]]:
    def prepare(problem: Problem) -> tuple[Train, Infer]:
        jax: Any = importlib.import_module("jax")
        diffrax: Any = importlib.import_module("diffrax")
        jnp = jax.numpy
        jax.config.update("jax_default_matmul_precision", "highest")
        fields, couplings, targets = (jnp.asarray(t[0].cpu().numpy()) for t in problem.tensors())
        outputs = targets.shape[-1]
        adjoint = diffrax.DirectAdjoint() if direct else diffrax.RecursiveCheckpointAdjoint()

        def velocity(_: Any, theta: Any, parameters: Any) -> Any:
            b, j = parameters
            sin, cos = jnp.sin(theta), jnp.cos(theta)
            return -(sin * (b + cos @ j) - cos * (sin @ j))

        def solve(b: Any, j: Any) -> Any:
            solution = diffrax.diffeqsolve(
                diffrax.ODETerm(velocity),
                diffrax.Euler(),
                0.0,
                problem.dynamics.observation_time,
                None,
                jnp.full(b.shape, math.pi / 2, b.dtype),
                (b, j),
                # Explicit times: 200 additions of 0.001 end below 0.2 and would need another step.
                stepsize_controller=diffrax.StepTo(
                    jnp.linspace(0.0, problem.dynamics.observation_time, problem.steps + 1)
                ),
                adjoint=adjoint,
                max_steps=problem.steps,
            )
            return solution.ys[-1]

        def loss(b: Any, j: Any) -> Any:
            return jnp.mean((jnp.cos(solve(b, j)[:, -outputs:]) - targets) ** 2)

        step = jax.jit(jax.value_and_grad(loss, argnums=(0, 1)))
        forward = jax.jit(lambda b, j: jnp.cos(solve(b, j)[:, -outputs:]))

        def train() -> tuple[Tensor, Tensor, Tensor]:
            value, (by_fields, by_couplings) = jax.block_until_ready(step(fields, couplings))
            return _torch(value), _torch(by_fields), _torch(by_couplings)

        def infer() -> Tensor:
            return _torch(jax.block_until_ready(forward(fields, couplings)))

        return train, infer

    return prepare


def _torch(array: Any) -> Tensor:
    numpy: Any = importlib.import_module("numpy")
    return torch.from_numpy(numpy.array(array))


def _entrain(kernel: str) -> Callable[[Problem], tuple[Train, Infer]]:
    def prepare(problem: Problem) -> tuple[Train, Infer]:
        fields, couplings, targets = problem.tensors()
        model = PhaseModel(fields, couplings)

        def train() -> tuple[Tensor, Tensor, Tensor]:
            with kernels.use(kernel):
                loss, gradient = endpoint_loss(model, targets, problem.dynamics)
            return loss[0], gradient.fields[0], gradient.matrix[0]

        def infer() -> Tensor:
            with kernels.use(kernel):
                return readout(kernels.rollout(model, problem.dynamics)[0], targets.shape[-1])

        return train, infer

    return prepare


OURS = Backend("entrain kernels", _entrain("auto"))
REFERENCE = Backend("entrain reference", _entrain("reference"))
IDENTITY = Backend("PyTorch identity form", lambda problem: _autograd(_identity, problem))
BACKENDS = (
    OURS,
    REFERENCE,
    IDENTITY,
    Backend("PyTorch pairwise", lambda problem: _autograd(_pairwise, problem)),
    Backend("torch.compile", _compiled),
    Backend("torchdiffeq euler", _torchdiffeq(adjoint=False), ("torchdiffeq",)),
    Backend("torchdiffeq adjoint", _torchdiffeq(adjoint=True), ("torchdiffeq",)),
    Backend("diffrax default", _diffrax(direct=False), ("jax", "diffrax")),
    Backend("diffrax direct", _diffrax(direct=True), ("jax", "diffrax")),
)
