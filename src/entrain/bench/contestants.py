"""Who takes part: Entrain's own paths, plain PyTorch, torchdiffeq and diffrax."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from entrain import kernels
from entrain.bench.work import Infer, Train, Work
from entrain.learning import endpoint_loss
from entrain.physics import drift


@dataclass(frozen=True)
class Contestant:
    """A way to do the work; `needs` are modules beyond Entrain's own."""

    name: str
    prepare: Callable[[Work], tuple[Train, Infer]]
    needs: tuple[str, ...] = ()

    def missing(self) -> str | None:
        """The first module that is not installed."""
        for module in self.needs:
            try:
                importlib.import_module(module)
            except ImportError:
                return module
        return None


Solve = Callable[[Tensor, Tensor, Work], Tensor]  # fields, couplings -> phases at t_f


def _autograd(solve: Solve, work: Work) -> tuple[Train, Infer]:
    """The work by differentiating a PyTorch solver."""
    fields, couplings, targets = (t[0] for t in work.tensors())
    outputs = targets.shape[-1]

    def train() -> tuple[Tensor, Tensor, Tensor]:
        b, j = fields.detach().requires_grad_(), couplings.detach().requires_grad_()
        loss = (solve(b, j, work)[:, -outputs:].cos() - targets).square().mean()
        by_fields, by_couplings = torch.autograd.grad(loss, (b, j))
        return loss, by_fields, by_couplings

    def infer() -> Tensor:
        with torch.no_grad():
            return solve(fields, couplings, work)[:, -outputs:].cos()

    return train, infer


def _start(fields: Tensor) -> Tensor:
    return torch.full_like(fields, math.pi / 2)


def _pairwise(fields: Tensor, couplings: Tensor, work: Work) -> Tensor:
    theta = _start(fields)
    for _ in range(work.steps):
        pairs = couplings * torch.sin(theta[:, :, None] - theta[:, None, :])
        theta = theta - work.dynamics.time_step * (fields * theta.sin() + pairs.sum(-1))
    return theta


def _identity(fields: Tensor, couplings: Tensor, work: Work) -> Tensor:
    theta = _start(fields)
    for _ in range(work.steps):
        theta = theta + work.dynamics.time_step * drift(theta, fields, couplings, 1.0)
    return theta


def _compiled(work: Work) -> tuple[Train, Infer]:
    compiled: Any = torch.compile(_identity, dynamic=False)
    return _autograd(compiled, work)


def _torchdiffeq(adjoint: bool) -> Callable[[Work], tuple[Train, Infer]]:
    def solve(fields: Tensor, couplings: Tensor, work: Work) -> Tensor:
        torchdiffeq: Any = importlib.import_module("torchdiffeq")
        times = torch.tensor([0.0, work.dynamics.observation_time], device=fields.device)
        options = {"step_size": work.dynamics.time_step}

        def velocity(_: Tensor, theta: Tensor) -> Tensor:
            return drift(theta, fields, couplings, 1.0)

        common: dict[str, Any] = {"method": "euler", "options": options}
        solver = torchdiffeq.odeint
        if adjoint:
            solver = torchdiffeq.odeint_adjoint
            common |= {"adjoint_params": (fields, couplings), "adjoint_options": options}
        path: Tensor = solver(velocity, _start(fields), times, **common)
        return path[-1]

    return lambda work: _autograd(solve, work)


def _diffrax(direct: bool) -> Callable[[Work], tuple[Train, Infer]]:
    def prepare(work: Work) -> tuple[Train, Infer]:
        jax: Any = importlib.import_module("jax")
        diffrax: Any = importlib.import_module("diffrax")
        jnp = jax.numpy
        jax.config.update("jax_default_matmul_precision", "highest")
        fields, couplings, targets = (jnp.asarray(t[0].cpu().numpy()) for t in work.tensors())
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
                work.dynamics.observation_time,
                None,
                jnp.full(b.shape, math.pi / 2, b.dtype),
                (b, j),
                # The steps as a grid: 200 additions of 0.001 end short of 0.2 and add a step.
                stepsize_controller=diffrax.StepTo(
                    jnp.linspace(0.0, work.dynamics.observation_time, work.steps + 1)
                ),
                adjoint=adjoint,
                max_steps=work.steps,
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


def _ours(choice: str) -> Callable[[Work], tuple[Train, Infer]]:
    def prepare(work: Work) -> tuple[Train, Infer]:
        fields, couplings, targets = work.tensors()
        outputs = targets.shape[-1]

        def train() -> tuple[Tensor, Tensor, Tensor]:
            with kernels.use(choice):
                found = endpoint_loss(fields, couplings, targets, work.dynamics)
            return found[0][0], found[1][0], found[2][0]

        def infer() -> Tensor:
            with kernels.use(choice):
                return kernels.rollout(fields, couplings, work.dynamics)[0, :, -outputs:].cos()

        return train, infer

    return prepare


OURS = Contestant("entrain kernels", _ours("auto"))
REFERENCE = Contestant("entrain reference", _ours("reference"))
IDENTITY = Contestant("PyTorch identity form", lambda work: _autograd(_identity, work))
CONTESTANTS = (
    OURS,
    REFERENCE,
    IDENTITY,
    Contestant("PyTorch pairwise", lambda work: _autograd(_pairwise, work)),
    Contestant("torch.compile", _compiled),
    Contestant("torchdiffeq euler", _torchdiffeq(adjoint=False), ("torchdiffeq",)),
    Contestant("torchdiffeq adjoint", _torchdiffeq(adjoint=True), ("torchdiffeq",)),
    Contestant("diffrax default", _diffrax(direct=False), ("jax", "diffrax")),
    Contestant("diffrax direct", _diffrax(direct=True), ("jax", "diffrax")),
)
