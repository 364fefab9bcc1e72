"""From exact zero all hidden oscillators are equal, and only rounding separates them.

With W = 0 and J = 0 every hidden oscillator gets the same gradient from every image. In exact
arithmetic their rows of W stay equal. If floating-point sums are taken in another order for another
row, rows begin to differ, and the difference grows. This is shown twice: step by step in one
training order, in single and double precision; and at the end of each training order of
single-runs.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from entrain.rules.interface import shuffled
from entrain.rules.two_stage_training import endpoint_loss
from entrain.training import Stage
from entrain_paper.experiments import shared_stages, single_runs
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import AUXILIARY_RATE, MNIST, Setting

EVERY = 10  # steps between two recorded ones, after the first ten


def orders(setting: Setting) -> dict[str, Stage]:
    """The stages from exact zero in many training orders, by method."""
    branches = single_runs.branches(setting, MNIST)
    return {method: branches[method][0] for method in shared_stages.FROM_ZERO}


def stages(setting: Setting) -> list[Stage]:
    """The teacher and the stages from exact zero."""
    return [setting.teacher(MNIST), *orders(setting).values()]


def measure(context: ExperimentContext) -> Values:
    """Spread of the rows of W: over the steps of one order, and for the selected network of every
    order."""
    runs: list[Values] = []
    for method, stage in orders(context.setting).items():
        spreads = _spread(context.state(stage).best["input_weights"]).tolist()
        for run, spread in zip(context.test(MNIST, stage), spreads, strict=True):
            row = {"method": method, "order": run["run"], "top1": run["top1"], "spread": spread}
            runs.append(row)
    return {"dataset": MNIST, "rows": _over_steps(context), "runs": runs}


def _spread(weights: Tensor) -> Tensor:
    """Largest difference between two rows of the weights (..., H, D)."""
    return (weights.amax(-2) - weights.amin(-2)).amax(-1)


def _over_steps(context: ExperimentContext) -> list[Values]:
    """Spread over the steps of ZERO-END-ONLY in order 0, in both precisions."""
    setting, data = context.setting, context.data(MNIST)
    teacher = context.teacher(setting.teacher(MNIST))
    inputs = data.preprocessing(data.train.features, unseen=False).to(context.device)
    targets = teacher.targets(inputs)
    batches: list[Tensor] = []
    for epoch in range(setting.endpoint_epochs):
        order = shuffled("student", 0, (0,), epoch, len(inputs))[0]
        batches += torch.split(order.to(context.device), setting.batch_size)
    rows: list[Values] = []
    for dtype in (torch.float32, torch.float64):
        start, share = len(rows) / 2, 0.5 / len(batches)
        steps, spreads, sizes = list[int](), list[float](), list[float]()
        for index, weights in enumerate(_trained(setting, inputs, targets, batches, dtype)):
            step = index + 1
            if step <= EVERY or step % EVERY == 0:
                steps.append(step)
                spreads.append(float(_spread(weights)))
                sizes.append(float(weights.abs().max()))
            context.on_progress(start + share * step)
        rows.append(
            {
                "arithmetic": str(dtype).removeprefix("torch."),
                "step": steps,
                "spread": spreads,
                "size": sizes,
            }
        )
    return rows


def _trained(
    setting: Setting, inputs: Tensor, targets: Tensor, batches: list[Tensor], dtype: torch.dtype
) -> Iterator[Tensor]:
    """Input weights (H, D) after each step of ZERO-END-ONLY at the auxiliary rate."""
    network = setting.main_path(MNIST).network
    outputs = targets.shape[-1]
    n = network.hidden + outputs
    like = torch.zeros((), dtype=dtype, device=inputs.device)
    tensors = {
        "input_weights": like.new_zeros(1, network.hidden, inputs.shape[1]),
        "biases": like.new_zeros(1, n),
        "couplings": like.new_zeros(1, n, n),
    }
    spec = network.on(like, 1, outputs)
    for rows in batches:
        parameters, batch = spec.parameters(tensors), inputs[rows].to(dtype)[None]
        model = parameters.phase_model(batch)
        _, by_model = endpoint_loss(model, targets[rows].to(dtype)[None], network.dynamics)
        for name, gradient in parameters.pullback(by_model, batch).items():
            tensors[name] = tensors[name] - AUXILIARY_RATE * gradient
        yield tensors["input_weights"][0]


EXPERIMENT = Experiment(
    "from-zero-symmetry",
    "Effect of rounding on training from exact zero",
    "",
    stages,
    measure,
)
