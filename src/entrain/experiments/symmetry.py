"""From exact zero all hidden oscillators are alike, and only rounding tells them apart.

With W = 0 and J = 0 every hidden oscillator gets the same gradient from every image, so that their
rows of W stay equal for ever in exact arithmetic. Sums of floating-point numbers are taken in
another order for another row, and what they differ by grows.
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from entrain.experiments.setting import AUXILIARY_RATE, MNIST, Setting
from entrain.experiments.spec import Experiment, ExperimentContext, Values
from entrain.learning import Stage
from entrain.rules.interface import shuffled
from entrain.rules.two_stage_task import endpoint_loss

STEPS = 600  # at the paper's size, three epochs


def stages(setting: Setting) -> list[Stage]:
    """The teacher alone."""
    return [setting.teacher(MNIST)]


def measure(context: ExperimentContext) -> Values:
    """Spread of the rows of W after every step of SGD on the endpoint loss, from exact zero."""
    setting, data = context.setting, context.data(MNIST)
    teacher = context.teacher(setting.teacher(MNIST))
    inputs = data.preprocessing(data.train.features, unseen=False).to(context.device)
    targets = teacher.targets(inputs)
    batches: list[Tensor] = []
    for epoch in range(3):
        order = shuffled("student", 0, (0,), epoch, len(inputs))[0]
        batches += torch.split(order.to(context.device), setting.batch_size)
    batches = batches[: STEPS if setting.is_paper else 40]
    rows: list[Values] = []
    for dtype in (torch.float32, torch.float64):
        start, share = len(rows) / 2, 0.5 / len(batches)
        spreads, sizes = [], []
        for step, weights in enumerate(_trained(setting, inputs, targets, batches, dtype)):
            spreads.append(float((weights.amax(0) - weights.amin(0)).max()))
            sizes.append(float(weights.abs().max()))
            context.on_progress(start + share * step)
        rows.append(
            {
                "arithmetic": str(dtype).removeprefix("torch."),
                "spread": spreads,
                "size": sizes,
                "first_apart": next((i + 1 for i, each in enumerate(spreads) if each), None),
            }
        )
    return {"dataset": MNIST, "batches": len(batches), "rows": rows}


def _trained(
    setting: Setting, inputs: Tensor, targets: Tensor, batches: list[Tensor], dtype: torch.dtype
) -> Iterator[Tensor]:
    """The input weights (H, D) after each step of ZERO-END-ONLY at the auxiliary rate."""
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
        parameters, some = spec.parameters(tensors), inputs[rows].to(dtype)[None]
        model = parameters.phase_model(some)
        _, by_model = endpoint_loss(model, targets[rows].to(dtype)[None], network.dynamics)
        for name, gradient in parameters.pullback(by_model, some).items():
            tensors[name] = tensors[name] - AUXILIARY_RATE * gradient
        yield tensors["input_weights"][0]


EXPERIMENT = Experiment(
    "from-zero-symmetry",
    "Rounding decides what training from exact zero becomes",
    "",
    stages,
    measure,
)
