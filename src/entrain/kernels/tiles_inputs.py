"""NumPy arrays that the tiles of the CPU kernels read and write, from and to a phase model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from entrain.kernels.components import Components
from entrain.kernels.tiles import Dense, Sparse
from entrain.kernels.tiles_adjoint import Gradients
from entrain.kernels.tiles_terms import Coupling, Terms
from entrain.kernels.workers import scratch
from entrain.physics import Dynamics, PhaseModel, Schedule, SparseCouplings, SparseGraph
from entrain.physics.couplings import with_values
from entrain.physics.terms import LOCAL

LANES = 8


@dataclass(frozen=True)
class Inputs:
    """A phase model as the kernels read it.

    Args:
        fields: b (R, B, N).
        couplings: `Dense` or `Sparse`, of Q different matrices.
        terms: `Terms`; None for fields and couplings alone.
        start: theta(0) (R, B or 1, N), or empty.
        components: Components of the coupling function.
        graph: The edges of sparse couplings, else None.
    """

    fields: Any
    couplings: Any
    terms: Any
    start: Any
    components: Components
    graph: SparseGraph | None

    @property
    def kernel_arguments(self) -> tuple[Any, ...]:
        """Arguments of a rollout kernel."""
        return self.fields, self.couplings, self.terms, self.start

    @property
    def is_sparse(self) -> bool:
        """True if the couplings are those of a sparse graph."""
        return self.graph is not None

    @property
    def matrices(self) -> int:
        """Q."""
        return len(self.components.matrices)

    @property
    def local_terms(self) -> int:
        """T."""
        return 0 if self.terms is None else len(self.terms.values)

    def gradient_shape(self, rows: int) -> tuple[int, ...]:
        """Shape of the gradient of a matrix, as the kernels write it."""
        if self.is_sparse:
            return (self.couplings.values.shape[-1],)
        return (ceil(rows, 16), rows, 16)


def inputs_of(model: PhaseModel, dynamics: Dynamics) -> Inputs:
    """The arrays of a phase model."""
    graph = model.couplings.graph if isinstance(model.couplings, SparseCouplings) else None
    components = Components(model, sparse=graph is not None)
    start = scratch(0, 0, 0) if model.start is None else array(model.start.float())
    is_plain = not model.terms and model.schedule is None
    return Inputs(
        array(model.fields),
        _couplings(components, graph, dynamics, transpose=False),
        None if is_plain else _terms(model, dynamics, components),
        start,
        components,
        graph,
    )


def transposed(inputs: Inputs, dynamics: Dynamics) -> Any:
    """The transposed matrices: the same arrays if all are symmetric."""
    if inputs.graph is not None:
        values = inputs.couplings.values[..., inputs.graph.reverse.numpy()]
        return inputs.couplings._replace(values=np.ascontiguousarray(values))
    matrices = [array(matrix) for matrix in inputs.components.matrices]
    if all(np.array_equal(matrix, matrix.swapaxes(1, 2)) for matrix in matrices):
        return inputs.couplings
    return _couplings(inputs.components, None, dynamics, transpose=True)


def _couplings(
    components: Components, graph: SparseGraph | None, dynamics: Dynamics, *, transpose: bool
) -> Dense | Sparse:
    scale = np.float32(dynamics.mobility * dynamics.time_step)
    matrices = [array(matrix) for matrix in components.matrices]
    if graph is not None:
        values = np.stack([values * scale for values in matrices])
        return Sparse(values, array(graph.starts), array(graph.columns.to(torch.int32)))
    columns = matrices if transpose else [matrix.swapaxes(1, 2) for matrix in matrices]
    return Dense(np.stack([_panels(matrix, scale) for matrix in columns]))


def _panels(matrices: Any, scale: Any) -> Any:
    """h C in the blocks of six and four columns in which `tiles` multiplies by C^T: (R, N P)."""
    runs, n, _ = matrices.shape
    rows = rows_of(n)
    split = rows - 4 * {0: 0, 4: 1, 2: 2}[rows % 6]
    scaled = scratch(runs, n, rows)
    scaled[:, :, :n] = matrices * scale
    wide = scaled[:, :, :split].reshape(runs, n, split // 6, 6)
    narrow = scaled[:, :, split:].reshape(runs, n, (rows - split) // 4, 4)
    blocks = [part.swapaxes(1, 2).reshape(runs, -1) for part in (wide, narrow)]
    return np.concatenate(blocks, axis=1)


def _terms(model: PhaseModel, dynamics: Dynamics, components: Components) -> Terms:
    """The local terms, components and schedule of a model."""
    runs, batch, n = model.fields.shape
    names = _local_names(model)
    shared = all(model.terms[name].shape[1] == 1 for name in names)
    values = np.zeros((len(names), runs, 1 if shared else batch, n), dtype=np.float32)
    for row, name in zip(values, names, strict=True):
        row[:] = array(model.terms[name]) * np.float32(_step_of(name, dynamics))
    schedule = model.schedule or Schedule()
    scheduled = {name: array(factor.float()) for name, factor in schedule.factors.items()}
    drive = None
    if schedule.drive is not None:
        drive = array(schedule.drive) * np.float32(dynamics.mobility * dynamics.time_step)
    ones, own = np.ones(dynamics.steps, dtype=np.float32), None
    if any(name in scheduled for name in names):
        own = np.stack([scheduled.get(name, ones) for name in names])
    return Terms(
        kinds=tuple(True if name in names else None for name in LOCAL),
        values=values,
        coupling=_coupling(runs, components, scheduled.get("couplings")),
        scheduled_fields=scheduled.get("fields"),
        scheduled_values=own,
        drive=drive,
        hold=schedule.hold,
        offset=schedule.first,
    )


def _coupling(runs: int, components: Components, scheduled: Any) -> Coupling | None:
    """The coupling function; None if J alone couples, in all steps alike."""
    if components.multiples == (1,) and not components.factored[0] and scheduled is None:
        return None
    factors = np.zeros((runs, len(components.multiples), 2), dtype=np.float32)
    factors[..., 0] = 1.0
    return Coupling(
        matrices=np.array(components.matrix_of, dtype=np.int64),
        multiples=np.array(components.multiples, dtype=np.int64),
        factors=factors if components.factors is None else array(components.factors),
        has_rotation=components.factored[0],
        scheduled=scheduled,
    )


def gradient_arrays(inputs: Inputs, outer: Tensor, steps: int, tiles: int) -> Gradients:
    """Space for the gradients of a batch."""
    _, runs, pairs, n = outer.shape
    rows = (runs, pairs, n)
    terms, local, empty = inputs.terms, inputs.local_terms, (0, 0, 0)
    sizes = {"fields": empty, "couplings": empty, "drive": (0, *rows), "values": 0}
    if terms is not None:
        coupling = None if terms.coupling is None else terms.coupling.scheduled
        for name, factors in (("fields", terms.scheduled_fields), ("couplings", coupling)):
            if factors is not None:
                sizes[name] = (runs, tiles, len(factors))
        if terms.drive is not None:
            sizes["drive"] = (len(terms.drive), *rows)
        if terms.scheduled_values is not None:
            sizes["values"] = terms.scheduled_values.shape[-1]
    return Gradients(
        fields=np.empty(rows, dtype=np.float32),
        start=np.empty(rows if len(inputs.start) else empty, dtype=np.float32),
        values=np.empty((local, *rows), dtype=np.float32),
        drive=np.empty(sizes["drive"], dtype=np.float32),
        components=np.zeros((runs, tiles, len(inputs.components.multiples), 2)),
        scheduled_fields=np.zeros(sizes["fields"]),
        scheduled_couplings=np.zeros(sizes["couplings"]),
        scheduled_values=np.zeros((runs, tiles, local, sizes["values"])),
    )


def model_gradient(
    model: PhaseModel, inputs: Inputs, gradients: Gradients, by_matrices: Tensor, dynamics: Dynamics
) -> PhaseModel:
    """The gradient of every row (R, M B, N) from what the kernels wrote."""
    matrices = _matrix_gradients(inputs, by_matrices, model.fields.shape[-1])
    fields = torch.from_numpy(gradients.fields)
    start = torch.from_numpy(gradients.start) if len(gradients.start) else None
    if inputs.terms is None:
        return PhaseModel(fields, with_values(model.couplings, matrices[0]), start=start)
    terms = {}
    for index, name in enumerate(_local_names(model)):
        terms[name] = torch.from_numpy(gradients.values[index]).mul_(_step_of(name, dynamics))
    by_factors = torch.from_numpy(gradients.components.sum(1)).float()
    pairs, couplings = inputs.components.gradients(matrices, by_factors)
    schedule = _schedule_gradient(model, gradients)
    return PhaseModel(fields, couplings, terms=terms | pairs, start=start, schedule=schedule)


def _matrix_gradients(inputs: Inputs, totals: Tensor, n: int) -> list[Tensor]:
    """Gradients of the matrices (R, N, N), or of the edges (R, M)."""
    if inputs.graph is not None:
        return list(totals[..., inputs.graph.reverse].unbind(1))
    runs, count, columns, rows, _ = totals.shape
    flat = totals.transpose(2, 3).reshape(runs, count, rows, 16 * columns)
    return [matrix.contiguous() for matrix in flat[..., :n, :n].unbind(1)]


def _schedule_gradient(model: PhaseModel, gradients: Gradients) -> Schedule | None:
    schedule = model.schedule
    if schedule is None:
        return None
    names, factors = _local_names(model), {}
    for name, factor in schedule.factors.items():
        if name in names:
            values = gradients.scheduled_values[:, :, names.index(name)]
        else:
            values = getattr(gradients, f"scheduled_{name}")
        factors[name] = torch.from_numpy(values.sum((0, 1))).to(factor)
    drive = None if schedule.drive is None else torch.from_numpy(gradients.drive)
    return replace(schedule, factors=factors, drive=drive)


def _local_names(model: PhaseModel) -> list[str]:
    return [name for name in LOCAL if name in model.terms]


def _step_of(name: str, dynamics: Dynamics) -> float:
    """dt of a velocity, h = mu dt of a torque."""
    return (1.0 if LOCAL[name].is_velocity else dynamics.mobility) * dynamics.time_step


def array(values: Tensor) -> Any:
    """A tensor as a contiguous NumPy array."""
    return values.detach().contiguous().numpy()


def ceil(count: int, size: int) -> int:
    """Number of pieces of a size."""
    return -(-count // size)


def rows_of(n: int) -> int:
    """P, the number of rows of a tile."""
    return max(4, n + n % 2)
