r"""Stage I without iterations over epochs: the exact minimiser of L_path.

The drift is linear in every parameter, so L_path is a least-squares problem. With s and c the
sine and cosine along the teacher path, phi_ij = s_i c_j - c_i s_j, Delta the teacher's increment
and v = [u ; 1] (v = 1 for outputs), the residual of oscillator i is

    r_i = Delta_i + s_i w_i . v + sum_j J_ij phi_ij        (w and J in units of 1 / (mu dt)).

Its normal equations are blocks: A_i = sum s_i^2 v v^T for each w_i, B_i = sum s_i v phi_i^T
between w_i and row i of J, C_i = sum phi_i phi_i^T within that row (sums over samples and times).
Eliminating each w_i leaves one system in the independent couplings, with
S_i = C_i - B_i^T A_i^-1 B_i in the rows and columns of the pairs (i, j), (i, l).

The blocks are summed in the data's precision. That factorised system is a nearly exact
preconditioner for conjugate gradients on the float64 normal equations, which are applied by
streaming over the data and end within a few steps at the minimiser.

N oscillators, H of them hidden, O outputs, D inputs, R kept directions of v, P pairs, T times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import torch
from torch import Tensor

from entrain.physics import Dynamics, layered_graph
from entrain.physics.quadrature import time_rule
from entrain.rules.interface import Tensors
from entrain.rules.training_data import TeacherData
from entrain.utils.errors import InputError, positive_float

Report = Callable[[float], None]

TOLERANCE = 1e-8  # gradient norm, relative to that of zero parameters
MOST_ITERATIONS = 50
KEPT = 1e-12  # directions of the inputs with less of the largest second moment are dropped
# Numbers in the largest temporary array: what a CPU's cache takes, what fills a GPU. They are
# allocated once per pass, since fresh memory costs a CPU more than the arithmetic on it.
BUDGET = {"cpu": 2**20, "cuda": 2**26}
GRAM_SAMPLES = 2048  # whose sums are taken in the data's precision
GRAM_BLOCKS = 6  # column blocks of A_i, of which only the part from the diagonal down is summed


def solve_path(
    data: TeacherData,
    dynamics: Dynamics,
    *,
    graph: Tensor | None = None,
    ridge: float = 0.0,
    nodes: int | None = 32,
    on_progress: Report | None = None,
) -> Tensors:
    r"""The minimiser of L_path: input_weights (1, H, D), biases (1, N), couplings (1, N, N).

    Among networks whose couplers are those of `graph` (N, N), the layered one by default.

    The sum over the K intervals is taken at `nodes` Gauss points (None: all K terms). Where the
    minimiser is not unique the input weights have no part along inputs that never vary.

    `ridge` rho adds rho a_i to the D diagonal entries of A_i that belong to the inputs, where
    a_i is their mean, that is rho sum_i a_i |w_i|^2 to the sum of squared residuals, in the units
    above; biases and couplings stay free. 0 is the minimiser itself.

    `on_progress` gets the fraction done, from 0 to 1.
    """
    positive_float("ridge", ridge, zero=True)
    report = on_progress if on_progress is not None else lambda fraction: None
    report(0.0)
    problem = _Problem(data, dynamics, graph, ridge, nodes)
    preconditioner = _Preconditioner(problem, lambda fraction: report(0.75 * fraction))
    unknowns = _conjugate_gradients(
        problem, preconditioner, lambda fraction: report(0.75 + 0.25 * fraction)
    )
    scale = dynamics.mobility * dynamics.time_step
    weights, output_biases, couplings = problem.split(unknowns / scale)
    report(1.0)
    return {
        "input_weights": weights[None, :, :-1].to(data.inputs.dtype),
        "biases": torch.cat([weights[:, -1], output_biases])[None].to(data.inputs.dtype),
        "couplings": couplings[None].to(data.inputs.dtype),
    }


class _Problem:
    """The float64 normal equations H x = -g of sum |r|^2 / 2 + penalty_i |w_i|^2 / 2.

    x is one vector: w_i in the basis `directions` (H, R), output biases (O,), couplings (P,).
    The basis is orthonormal, so that norms of x and of gradients are those of the parameters.
    """

    def __init__(
        self,
        data: TeacherData,
        dynamics: Dynamics,
        graph: Tensor | None,
        ridge: float,
        nodes: int | None,
    ) -> None:
        inputs, device, outputs = data.inputs, data.inputs.device, data.targets.shape[1]
        self.data, self.steps = data, dynamics.steps
        self.oscillators = data.coefficients.shape[1]
        self.hidden = self.oscillators - outputs
        times, weights = (part.to(device) for part in time_rule(dynamics.steps, nodes))
        self.times, self.time_weights = times, weights  # (T,) each
        gram = times.new_zeros(inputs.shape[1] + 1, inputs.shape[1] + 1)
        energy = times.new_zeros(self.oscillators)
        for rows in _chunks(len(inputs), GRAM_SAMPLES):
            v = _with_one(inputs[rows])
            gram.addmm_(v.T, v)
            if ridge:
                sin, _ = _sin_cos(data.coefficients[rows].double(), times)
                energy += v[:, :-1].square().sum(1) @ (weights @ sin.square())
        if not bool(gram.isfinite().all() & data.coefficients.isfinite().all()):
            raise InputError("the inputs or the teacher's coefficients hold non-finite numbers")
        moments, directions = torch.linalg.eigh(gram)
        kept = moments > KEPT * moments[-1]
        self.directions = directions[:, kept]  # (D + 1, R): orthonormal; where v varies
        self.moments = moments[kept]  # (R,): sum_n v v^T in those directions
        self.penalty = ridge / inputs.shape[1] * energy[: self.hidden]  # (H,)
        if graph is None:
            graph = layered_graph(self.hidden, outputs, device)
        first, second = graph.triu().nonzero().T
        self.pairs = first, second  # (P,), (P,): i < j of every independent coupling

    def split(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """[w ; bias] (H, D + 1), output biases (O,), symmetric couplings (N, N)."""
        along, biases, couplings = self.parts(x)
        return along @ self.directions.T, biases, self.symmetric(couplings)

    def parts(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """w_i in the directions (H, R), output biases (O,), couplings (P,)."""
        ends = self.hidden * len(self.moments), len(x) - len(self.pairs[0])
        along, biases, couplings = x.tensor_split(ends)
        return along.view(self.hidden, -1), biases, couplings

    def symmetric(self, couplings: Tensor) -> Tensor:
        """The matrix (N, N) of independent couplings (P,)."""
        matrix = couplings.new_zeros(self.oscillators, self.oscillators)
        matrix[self.pairs] = couplings
        return matrix + matrix.T

    def gradient(self, x: Tensor | None = None) -> Tensor:
        """H x, or g, the gradient at zero, without x."""
        data, n, h = self.data, self.oscillators, self.hidden
        by_weights = self.directions.new_zeros(h, self.directions.shape[0])
        by_biases, by_couplings = by_weights.new_zeros(n), by_weights.new_zeros(n, n)
        if x is not None:
            weights, biases, couplings = self.split(x)
        size = max(1, BUDGET[by_weights.device.type] // (4 * len(self.times) * n))
        buffers = by_weights.new_empty(4, min(size, len(data.inputs)), len(self.times), n)
        for rows in _chunks(len(data.inputs), size):
            v = _with_one(data.inputs[rows])
            alpha = data.coefficients[rows].double()
            sin, cos, q, part = buffers[:, : len(v)].unbind()
            _sin_cos(alpha, self.times, sin, cos)
            if x is None:
                _increments(alpha, self.times, self.steps, q)
            else:
                fields = torch.cat([v @ weights.T, biases.expand(len(v), -1)], dim=1)
                torch.matmul(cos, couplings, out=q).add_(fields[:, None]).mul_(sin)
                q.addcmul_(cos, torch.matmul(sin, couplings, out=part), value=-1)
            q.mul_(self.time_weights[:, None])
            by_fields = torch.mul(q, sin, out=part).sum(1)
            by_weights.addmm_(by_fields[:, :h].T, v)
            by_biases += by_fields.sum(0)
            by_couplings.addmm_(part.flatten(0, 1).T, cos.flatten(0, 1))
            torch.mul(q, cos, out=part)
            by_couplings.addmm_(part.flatten(0, 1).T, sin.flatten(0, 1), alpha=-1)
        if x is not None:
            by_weights[:, :-1] += self.penalty[:, None] * weights[:, :-1]
        tied = (by_couplings + by_couplings.T)[self.pairs]
        return torch.cat([(by_weights @ self.directions).flatten(), by_biases[h:], tied])


class _Preconditioner:
    """The inverse of H, from blocks summed in the data's precision."""

    def __init__(self, problem: _Problem, report: Report) -> None:
        a, b, c, output_a, output_b = _blocks(problem, report)
        self.problem, self.output_blocks = problem, output_a
        h, n = b.shape[0], b.shape[2]
        scale = problem.moments.rsqrt()
        # The penalty spares the bias, the last row of the directions.
        bias = problem.directions[-1] * scale
        a.diagonal(dim1=1, dim2=2).add_(problem.penalty[:, None] * scale.square())
        a.addcmul_(problem.penalty[:, None, None], torch.outer(bias, bias), value=-1)
        self.factors = _cholesky(a)  # (H, R, R): of A_i for v of unit second moment
        del a
        self.hidden_solved = torch.cholesky_solve(b, self.factors)  # (H, R, N): A_i^-1 B_i
        self.output_solved = output_b / output_a[:, None]  # (O, N): A_i^-1 B_i
        c[:h] -= b.transpose(1, 2) @ self.hidden_solved
        c[h:] -= output_b[:, :, None] * self.output_solved[:, None, :]
        # Where (i, j) is no coupling it goes to one more row and column, cut off again.
        first, second = problem.pairs
        count = len(first)
        number = torch.full((n, n), count, device=c.device)
        number[first, second] = number[second, first] = torch.arange(count, device=c.device)
        system = c.new_zeros(count + 1, count + 1)
        for i in range(n):
            system[number[i, :, None], number[i]] += c[i]
        self.reduced = _cholesky(system[:count, :count])  # (P, P), of the couplings

    def __call__(self, x: Tensor) -> Tensor:
        scale, h = self.problem.moments.rsqrt(), self.problem.hidden
        along, biases, free = self.problem.parts(x)
        along = along[:, :, None] * scale[:, None]
        known = torch.cat(
            [
                (along.transpose(1, 2) @ self.hidden_solved)[:, 0],
                biases[:, None] * self.output_solved,
            ]
        )
        free = free - (known + known.T)[self.problem.pairs]
        free = torch.cholesky_solve(free[:, None], self.reduced)[:, 0]
        couplings = self.problem.symmetric(free)
        along = torch.cholesky_solve(along, self.factors)
        along = along - self.hidden_solved @ couplings[:h, :, None]
        biases = biases / self.output_blocks - (self.output_solved * couplings[h:]).sum(1)
        return torch.cat([(along[:, :, 0] * scale).flatten(), biases, free])


def _blocks(problem: _Problem, report: Report) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """A (H, R, R), B (H, R, N), C (N, N, N) and the outputs' A (O,), B (O, N), as float64.

    A and B for v of unit second moment, in which A_i differs from a multiple of one only by the
    spread of s_i^2 over the samples: float32 sums are good enough.
    """
    data, h = problem.data, problem.hidden
    inputs, dtype = data.inputs, data.inputs.dtype
    whitening = problem.directions * problem.moments.rsqrt()
    n, rank = data.coefficients.shape[1], whitening.shape[1]
    columns = list(_chunks(rank, -(-rank // GRAM_BLOCKS)))
    grams = [inputs.new_zeros(h, rank - part.start, part.stop - part.start) for part in columns]
    b, c = whitening.new_zeros(h, rank, n), whitening.new_zeros(n, n, n)
    output_a, output_b = whitening.new_zeros(n - h), whitening.new_zeros(n - h, n)
    times, roots = problem.times.to(dtype), problem.time_weights.sqrt().to(dtype)[:, None]
    budget = BUDGET[inputs.device.type]
    samples = min(GRAM_SAMPLES, len(inputs))
    buffers = inputs.new_empty(4, samples, len(times), n)
    group = min(h, max(1, budget // (samples * rank)))
    weighted = inputs.new_empty(group, samples, rank)
    phi = inputs.new_empty(n, min(samples * len(times), max(1, budget // n**2)), n)
    for rows in _chunks(len(inputs), samples):
        v = (_with_one(inputs[rows]) @ whitening).to(dtype)
        sin, cos, root_sin, root_cos = buffers[:, : len(v)].unbind()
        _sin_cos(data.coefficients[rows], times, sin, cos)
        torch.mul(sin, roots, out=root_sin)
        torch.mul(cos, roots, out=root_cos)
        squares = root_sin.square()
        # sum_k s_i phi_ij: (samples, N, N)
        cross = squares.transpose(1, 2) @ cos
        cross -= (root_sin * root_cos).transpose(1, 2) @ sin
        squares = squares.sum(1)
        output_a += squares[:, h:].sum(0)
        output_b += cross[:, h:].sum(0)
        b += (v.T @ cross[:, :h].flatten(1)).view(rank, h, n).transpose(0, 1)
        for some in _chunks(h, group):
            x = weighted[: some.stop - some.start, : len(v)]
            torch.mul(squares.T[some, :, None].sqrt(), v, out=x)
            for part, gram in zip(columns, grams, strict=True):
                gram[some].baddbmm_(x[:, :, part.start :].transpose(1, 2), x[:, :, part])
        c += _pair_grams(phi, *(y.flatten(0, 1) for y in (sin, cos, root_sin, root_cos)))
        report(rows.stop / len(inputs))
    a = whitening.new_empty(h, rank, rank)
    for part, gram in zip(columns, grams, strict=True):
        a[:, part.start :, part] = gram
        a[:, part, part.start :] = gram.transpose(1, 2)
    return a, b, c, output_a, output_b


def _pair_grams(
    phi: Tensor, sin: Tensor, cos: Tensor, root_sin: Tensor, root_cos: Tensor
) -> Tensor:
    """sum phi_i phi_i^T (N, N, N) over points (Q, N), in pieces of the buffer `phi` (N, q, N)."""
    total = phi.new_zeros(len(phi), len(phi), len(phi))
    for points in _chunks(len(sin), phi.shape[1]):
        x = phi[:, : points.stop - points.start]
        torch.mul(root_sin[points].T[:, :, None], cos[points], out=x)
        x.addcmul_(root_cos[points].T[:, :, None], sin[points], value=-1)
        total.baddbmm_(x.transpose(1, 2), x)
    return total


def _conjugate_gradients(
    problem: _Problem, preconditioner: Callable[[Tensor], Tensor], report: Report
) -> Tensor:
    """x with H x = -g: every step lowers the loss, and with H's own inverse one is enough."""
    residual = -problem.gradient()
    x = torch.zeros_like(residual)
    norms = [float(residual.norm())]
    if norms[0] == 0.0:
        return x
    direction = torch.zeros_like(residual)
    last = residual.new_tensor(math.inf)
    for _ in range(MOST_ITERATIONS):
        solved = preconditioner(residual)
        product = residual @ solved
        direction = solved + product / last * direction
        last = product
        image = problem.gradient(direction)
        step = product / (direction @ image)
        x += step * direction
        residual -= step * image
        norms.append(float(residual.norm()))
        stalled = min(norms[-4:]) > 0.9 * min(norms[:-4], default=math.inf)
        if stalled or not norms[-1] > TOLERANCE * norms[0]:
            break
        report(math.log(min(norms) / norms[0]) / math.log(TOLERANCE))
    return x


def _cholesky(matrices: Tensor) -> Tensor:
    """Lower factors of positive definite (..., n, n), lifted a little where rounding made them
    not so: a preconditioner need not be exact."""
    diagonal = matrices.diagonal(dim1=-2, dim2=-1)
    mean = diagonal.mean(-1, keepdim=True)
    for lift in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        lifted = matrices
        if lift:
            lifted = matrices + torch.diag_embed((lift * mean).clamp_min(1e-30).expand_as(diagonal))
        factors: Tensor
        factors, failed = torch.linalg.cholesky_ex(lifted)
        if not bool(failed.any()):
            return factors
    raise ArithmeticError("the normal equations of the path loss are not positive definite")


def _sin_cos(
    coefficients: Tensor, times: Tensor, sin: Tensor | None = None, cos: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """sech and tanh of times x coefficients (M, N): (M, T, N), both from one exponential."""
    sin = torch.mul(times[:, None], coefficients[:, None, :], out=sin).exp_()
    cos = torch.mul(sin, sin, out=cos).add_(1.0).reciprocal_()
    sin.mul_(cos).mul_(2.0)
    return sin, cos.mul_(-2.0).add_(1.0)


def _increments(coefficients: Tensor, times: Tensor, steps: int, out: Tensor) -> None:
    """The next increments of the teacher path, as in `Guide`, into (M, T, N)."""
    half = coefficients[:, None, :] / (2 * steps)
    torch.mul(times[:, None], coefficients[:, None, :], out=out).add_(half).cosh_().reciprocal_()
    out.mul_(half.sinh()).atan_().mul_(-2.0)


def _with_one(inputs: Tensor) -> Tensor:
    """v = [u ; 1] (M, D + 1), float64."""
    return torch.nn.functional.pad(inputs.double(), (0, 1), value=1.0)


def _chunks(count: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
