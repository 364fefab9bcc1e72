"""Cards of the models that ship: their training and their measured accuracy."""

from __future__ import annotations

import textwrap
from typing import Any

import torch

from entrain.data import ImageDataset
from entrain.evaluation import noisy_scores, stochastic
from entrain.hardware import describe
from entrain.models.model import Model


def card(title: str, dataset: str, model: Model, data: ImageDataset) -> str:
    """Card of a network without imperfections; `dataset` is its name in the paper."""
    network, details = model.network, model.details
    inputs = model.inputs(data.test.features)
    noisy = stochastic(
        noisy_scores(network, inputs, temperature=1.0, replicates=10),
        torch.from_numpy(data.test.labels),
    )
    test, validation, training = details["test"], details["validation"], details["training"]
    rows = [("test top-1", f"{test['top1']:.2f} %"), ("test top-2", f"{test['top2']:.2f} %")]
    if model.teacher is not None:
        rows += [
            ("agreement with its teacher, test", f"{test['agreement']:.2f} %"),
            ("endpoint RMSE, test", f"{test['endpoint_rmse']:.4f}"),
        ]
    rows += [
        ("validation top-1", f"{validation['top1']:.2f} %"),
        ("test top-1 at kT = 1, one trajectory", f"{noisy['single']['top1']:.2f} %"),
        ("test top-1 at kT = 1, mean output of 10", f"{noisy['ensemble']['top1']:.2f} %"),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return _TEXT.format(
        title=title,
        dataset=dataset,
        network=network,
        protocol=_protocol(model, training),
        seed=details["seed"],
        run=details["run"],
        epoch=details["epoch"],
        table=table,
        chosen=_CHOSEN[model.protocol],
        counts=(len(data.train), len(data.validation), len(data.test)),
    )


def card_for_chips(title: str, dataset: str, model: Model, data: ImageDataset, runs: int) -> str:
    """Card of a network that was trained for chips, the best of `runs` runs."""
    details, hardware = model.details, model.hardware
    assert hardware is not None
    chips, training = details["on_chips"], details["training"]["chips"]
    rows = [
        (f"test top-1, mean over {chips['chips']:,} chips", f"{chips['mean']:.2f} %"),
        ("standard deviation from chip to chip", f"{chips['sd']:.2f}"),
        ("5th percentile of the chips", f"{chips['p5']:.2f} %"),
        ("the worst chip", f"{chips['worst']:.2f} %"),
        ("test top-1 of the ideal network", f"{details['test']['top1']:.2f} %"),
        (
            f"validation top-1, images divided among {training['validation_chips']} chips",
            f"{details['validation']['top1']:.2f} %",
        ),
    ]
    effects = ", ".join(name.replace("_", " ") for name, _ in hardware.effects)
    wrapped = textwrap.fill(effects, 98).replace("\n", "\n  ")
    return _FOR_CHIPS.format(
        title=title,
        dataset=dataset,
        network=model.network,
        hardware=hardware.name,
        what=describe(hardware.name).title,
        effects=wrapped,
        used=model.couplers_used,
        protocol=_protocol(model, details["training"]),
        training=training,
        seed=details["seed"],
        run=details["run"],
        epoch=details["epoch"],
        runs=runs,
        table="\n".join(f"| {name} | {value} |" for name, value in rows),
        counts=(len(data.train), len(data.validation), len(data.test)),
    )


def _protocol(model: Model, training: dict[str, Any]) -> str:
    if model.protocol == "DIRECT":
        steps, fine = training["coarse_steps"], training["fine_epochs"]
        until = f" but in the last {fine} epochs" if steps < model.network.dynamics.steps else ""
        targets, teacher = "labels", "No teacher"
        if training["distillation"]:
            targets = f"probabilities of a teacher at temperature {training['temperature']:g}"
            teacher = "Teacher: two convolutional networks,\n  which see the same distorted images"
        return (
            f"DIRECT: {targets},\n  {training['epochs']} epochs of AdamW from small random "
            f"couplings; batch size 256, rates {training['input_rate']:g} and "
            f"{training['coupling_rate']:g}, {steps} Euler steps{until},\n"
            f"  augmentation {_distortion(training['augmentation'])}. {teacher}"
        )
    spent = f"{training['epochs']} epochs of SGD at rate {training['learning_rate']:g}"
    how = {
        "PATH": f"PATH: the path loss from exact zero, {spent}",
        "TWO-STAGE-END": f"TWO-STAGE-END: path and endpoint loss, {spent}, from the PATH network",
    }[model.protocol]
    teacher = training["teacher"]
    sizes = (model.network.inputs, *teacher["widths"], model.network.outputs)
    return (
        f"{how}; batch size 256, no augmentation.\n  Teacher: {'-'.join(map(str, sizes))}, tanh, "
        f"SGD, {teacher['epochs']} epochs, initialisations: {teacher['initialisations']}"
    )


def _distortion(values: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:g}" for name, value in values.items() if value)


_CHOSEN = {
    "DIRECT": "Selected** on validation top-1, of five runs",
    "TWO-STAGE-END": "Not selected**: the first of the ten runs of the report's main tables",
    "PATH": "Not selected**: the first of the ten runs of the report's main tables",
}
_TEXT = """# {title}

{network.oscillators} Kuramoto oscillators ({network.hidden} hidden, {network.outputs} outputs),
{network.parameter_count:,} parameters, {network.couplers:,} couplings, read out as cos(theta) at
t_f = {network.dynamics.observation_time:g} after {network.dynamics.steps} Euler steps.

- **Data**: {dataset}; {counts[0]:,} training and {counts[1]:,} validation images of the official
  training set (fixed stratified split), the official {counts[2]:,} test images.
- **Training**: {protocol}.
- **Seeds**: seed {seed}, run {run}; selected epoch {epoch}.
- **{chosen};
  the epoch was selected on validation images, and the test images were evaluated afterwards.

| | |
|---|---|
{table}

**Limits.** A simulation, with ideal couplings and no device mismatch. Images must be prepared as
the dataset's are (28 x 28 grey levels, centred). Small margins and pictures unlike the training
images are marked as unsure, but not every wrong answer is. The scores are activations, not
probabilities. One class of the ten is always named.
"""

_FOR_CHIPS = """# {title}

{network.oscillators} Kuramoto oscillators ({network.hidden} hidden, {network.outputs} outputs),
{network.parameter_count:,} parameters, read out as cos(theta) at
t_f = {network.dynamics.observation_time:g} after {network.dynamics.steps} Euler steps.
Trained for imperfect chips.

- **Hardware**: `{hardware}`: {what}.
  Its effects:
  {effects};
  `entrain hardware {hardware}` shows their numbers and sources.
  {used:,} of {network.couplers:,} couplers are in use.
- **Data**: {dataset}; {counts[0]:,} training and {counts[1]:,} validation images of the official
  training set (fixed stratified split), the official {counts[2]:,} test images.
- **Training**: {protocol}.
  Every batch is divided among {training[chips]} new chips.
- **Seeds**: seed {seed}, run {run}; selected epoch {epoch}.
- **Selected** on validation top-1 over chips, of {runs} runs; the test images were evaluated
  afterwards, on chips that neither training nor validation saw (seeds from 0 on).

| | |
|---|---|
{table}

`entrain yield {title} --chips 1000` measures it again.

**Limits.** A simulation: no chip was measured, and of the hardware's numbers some are assumed.
`evaluate` and `predict` answer as the ideal network does unless a chip is chosen. Images must be
prepared as the dataset's are (28 x 28 grey levels, centred). Small margins and pictures unlike the
training images are marked as unsure, but not every wrong answer is. The scores are activations, not
probabilities. One class of the ten is always named.
"""
