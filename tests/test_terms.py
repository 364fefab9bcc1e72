"""Every term of the registry: its torque, energy, reference adjoint and CPU kernels.

A new term is tested by what is here as soon as it is in `physics.terms`.
"""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch

import kernel_facts as facts
from command_line import cli
from conditions import in_all_conditions
from entrain.kernels import reference
from entrain.physics import Dynamics, PhaseModel, drift, energy, energy_gradient
from entrain.physics.couplings import SparseCouplings
from entrain.physics.terms import LOCAL, PAIR, TERMS, cuda_lines

cpu = pytest.importorskip("entrain.kernels.cpu")

ALL = (*TERMS, "start")
CHOICES = {"none": (), "start": ("start",), **{name: (name,) for name in TERMS}, "all": ALL}
choices = pytest.mark.parametrize("terms", CHOICES.values(), ids=list(CHOICES))
with_energy = [name for name in TERMS if name in LOCAL or PAIR[name].has_energy]


@in_all_conditions
@choices
def test_the_adjoint_equals_autograd_for_every_tensor(terms, condition) -> None:
    facts.check_adjoint((2, 3, 5, 6), terms, **condition)


@in_all_conditions
@choices
def test_the_cpu_kernels_equal_the_reference(terms, condition) -> None:
    facts.check_terms(cpu, torch.device("cpu"), (2, 11, 7, 12), terms, **condition)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", [*with_energy, "all"])
def test_the_drift_is_minus_mu_times_the_gradient_of_the_energy(name: str, sparse: bool) -> None:
    terms = with_energy if name == "all" else (name,)
    model, mobility = symmetric_example(terms, sparse), 1.7
    phases = (2 * facts.random_tensor(*model.fields.shape, seed=50)).requires_grad_()
    (slope,) = torch.autograd.grad(energy(phases, model, mobility).sum(), phases)
    torch.testing.assert_close(drift(phases, model, mobility), -mobility * slope)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@choices
def test_the_gradient_of_the_energy_by_every_term_equals_autograd(terms, sparse: bool) -> None:
    model, mobility = symmetric_example(terms, sparse), 1.7
    phases = 2 * facts.random_tensor(*model.fields.shape, seed=50)
    leaves = model.map(lambda tensor: tensor.clone().requires_grad_())
    tensors = leaves.tensors()
    wanted = torch.autograd.grad(
        energy(phases, leaves, mobility).sum(),
        list(tensors.values()),
        materialize_grads=True,
        allow_unused=True,
    )
    found = energy_gradient(phases, model, mobility).tensors()
    for name, gradient in zip(tensors, wanted, strict=True):
        torch.testing.assert_close(found[name], gradient, msg=name)


@pytest.mark.parametrize("name", LOCAL)
def test_the_functions_of_a_local_term_are_derivatives_of_one_another(name: str) -> None:
    term, v = LOCAL[name], facts.random_tensor(50, seed=1).requires_grad_()
    phases = (3 * facts.random_tensor(50, seed=2)).requires_grad_()
    sin, cos = phases.sin(), phases.cos()
    torque = term.torque(sin, cos, v)
    by_phases, by_value = torch.autograd.grad(
        torque.sum(), (phases, v), materialize_grads=True, allow_unused=True
    )
    slope = torch.zeros_like(v) if term.slope is None else term.slope(sin, cos, v)
    torch.testing.assert_close(slope.detach(), by_phases)
    gradient = term.gradient(sin, cos, torch.ones_like(v))
    torch.testing.assert_close(gradient.detach(), by_value)
    if term.split is not None:
        p, r = term.split(sin, cos, v)
        torch.testing.assert_close(sin * r - cos * p, torque)
        rest = 0.0 if term.rest is None else term.rest(sin, cos, v)
        torch.testing.assert_close(cos * r + sin * p + rest, slope)


@pytest.mark.parametrize("name", LOCAL)
def test_the_cuda_lines_of_a_local_term_compute_its_torque(name: str) -> None:
    """The lines are a sequence of assignments, which Python can execute too."""
    lines, result = cuda_lines(LOCAL[name].torque, "s", "c", "v")
    values = {"s": math.sin(0.7), "c": math.cos(0.7), "v": 1.3}
    for line in lines:
        target, expression = line.removeprefix("float ").removesuffix(";").split(" = ")
        values[target] = eval(expression.replace("0f", "0"), {}, values)
    found = eval(result, {}, values)
    assert found == pytest.approx(LOCAL[name].torque(values["s"], values["c"], values["v"]))


def test_a_lag_of_every_edge_that_is_the_same_is_the_lag_of_all() -> None:
    shape = (2, 3, 6, 8)
    model = facts.example(shape)
    lags = torch.full_like(model.couplings, 0.6)
    each = PhaseModel(model.fields, model.couplings, edge_lag=lags)
    shared = PhaseModel(model.fields, model.couplings, lag=torch.full((2,), 0.6).double())
    dynamics = Dynamics(1.0, 0.5, 8)
    torch.testing.assert_close(
        reference.rollout(each, dynamics), reference.rollout(shared, dynamics)
    )


@pytest.mark.parametrize("order", range(3, 9))
def test_injection_of_order_k_locks_phases_to_k_values(order: int) -> None:
    starts = torch.linspace(-3.1, 3.1, 48, dtype=torch.float64).reshape(1, 1, -1)
    alone = PhaseModel(
        torch.zeros_like(starts),
        torch.zeros(1, 48, 48, dtype=torch.float64),
        terms={f"injection_{order}": torch.ones(1, 1, 48, dtype=torch.float64)},
        start=starts,
    )
    phases = reference.rollout(alone, Dynamics(1.0, 3.0, 400))
    nearest = 2 * math.pi / order * (starts * order / (2 * math.pi)).round()
    torch.testing.assert_close(phases, nearest, atol=1e-4, rtol=0)


@pytest.mark.slow  # it compiles the kernels anew
def test_a_term_that_the_registry_gains_is_computed_by_reference_and_kernels(
    tmp_path: Path,
) -> None:
    lines = """
import torch
from entrain.physics.terms import LOCAL, TERMS, LocalTerm
TERMS["bias"] = LOCAL["bias"] = LocalTerm(
    name="bias", symbol="k", formula="- mu k_i cos(theta_i)", energy_formula="k_i sin(theta_i)",
    torque=lambda sin, cos, k: k * cos, slope=lambda sin, cos, k: -(k * sin),
    gradient=lambda sin, cos, q: q * cos, energy=lambda phases, k: k * phases.sin(),
)
import kernel_facts as facts
from entrain.kernels import cpu
print(facts.check_terms(cpu, torch.device("cpu"), (1, 5, 6, 7), ("bias",)))
"""
    tests = str(Path(__file__).parent)
    program = ["-c", f"import sys; sys.path.append({tests!r})\n{lines}"]
    result = cli(program=program, env={"NUMBA_CACHE_DIR": str(tmp_path)})
    assert "'bias'" in result.stdout


def symmetric_example(terms, sparse: bool) -> PhaseModel:
    """A gradient flow, or one but for what has no energy."""
    model = facts.example((2, 4, 6, 1), terms, sparse=sparse)
    if "harmonic" in terms:
        harmonic = model.terms["harmonic"].clone()
        harmonic[:, 1] = 0.0
        model = model.with_tensors({"harmonic": harmonic})
    couplings = model.couplings
    if isinstance(couplings, SparseCouplings):
        values = couplings.values
        both = values + values[..., couplings.graph.reverse]
    else:
        both = couplings + couplings.mT
    return model.with_tensors({"couplings": torch.as_tensor(both)})
