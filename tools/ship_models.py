"""Choose the models that ship, from the trained stages of `entrain reproduce`, and write cards.

    python tools/ship_models.py results

Of all TWO-STAGE-END networks trained by the principal protocol (ten orders of the principal
teacher, and one of each of five teachers) the one with the best validation top-1 ships, with the
PATH network it started from. The test images are evaluated afterwards, for the card.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from entrain.data import Dataset, load_dataset
from entrain.evaluation import noisy_scores, stochastic
from entrain.experiments import PAPER, principal, teacher_seeds
from entrain.experiments.setting import BOTH
from entrain.files import write_atomically
from entrain.learning import StudentStage, chosen_teacher, network_of
from entrain.model import Model
from entrain.reproduction import ResultsFolder

MODELS = Path(__file__).parents[1] / "src" / "entrain" / "models"


def main(folder: ResultsFolder) -> None:
    for name in BOTH:
        candidates = [principal.students(PAPER, name)["TWO-STAGE-END"]]
        candidates.append(teacher_seeds.students(PAPER, name)[1])
        lanes = [(stage, lane) for stage in candidates for lane in range(stage.lanes)]
        end, lane = max(lanes, key=lambda each: _validation(folder, *each))
        assert end.start is not None
        data = load_dataset(PAPER.dataset(name))
        for stage, ending in ((end, ""), (end.start, "-path")):
            model = _model(folder, stage, lane, data)
            title = f"{data.name}-{model.network.oscillators}{ending}"
            model.save(MODELS / f"{title}.safetensors")
            card = _card(title, name, model, data)
            write_atomically(MODELS / f"{title}.md", card.encode())
            print(title, model.details["test"])  # noqa: T201


def _validation(folder: ResultsFolder, stage: StudentStage, lane: int) -> float:
    kept = folder.state(stage)
    assert kept is not None, f"{stage.title} is not trained in {folder.path}"
    return kept[0].selected("top1", lane)


def _model(folder: ResultsFolder, stage: StudentStage, lane: int, data: Dataset) -> Model:
    kept = folder.state(stage)
    assert kept is not None
    state = kept[0]
    teacher_stage = stage.teachers[lane % len(stage.teachers)]
    taught = folder.state(teacher_stage)
    assert taught is not None
    metrics = ("top1", "agreement", "endpoint_rmse")
    model = Model(
        network=network_of(state.best, lane, stage.dynamics),
        preprocessing=data.preprocessing,
        class_names=data.class_names,
        dataset=data.name,
        protocol=stage.protocol.name,
        teacher=chosen_teacher(taught[0]),
        details={
            "run": stage.runs[lane],
            "seed": teacher_stage.seed,
            "epoch": int(state.best_epoch[lane]),
            "validation": {metric: state.selected(metric, lane) for metric in metrics},
            "training": asdict(stage.protocol) | {"teacher": asdict(teacher_stage.spec)},
        },
    )
    model.details["test"] = model.evaluate(data.test)
    return model


def _card(title: str, dataset: str, model: Model, data: Dataset) -> str:
    network, details = model.network, model.details
    inputs = model.inputs(data.test.pixels)
    assert model.teacher is not None
    noisy = stochastic(
        noisy_scores(network, inputs, temperature=1.0, replicates=10),
        torch.from_numpy(data.test.labels),
    )
    test, validation, training = details["test"], details["validation"], details["training"]
    teacher = training["teacher"]
    widths = "-".join(map(str, (network.inputs, *teacher["widths"], network.outputs)))
    rows = [
        ("test top-1", f"{test['top1']:.2f} %"),
        ("test top-2", f"{test['top2']:.2f} %"),
        ("agreement with its teacher, test", f"{test['agreement']:.2f} %"),
        ("endpoint RMSE, test", f"{test['endpoint_rmse']:.4f}"),
        ("validation top-1", f"{validation['top1']:.2f} %"),
        ("test top-1 at kT = 1, one trajectory", f"{noisy['single']['top1']:.2f} %"),
        ("test top-1 at kT = 1, mean output of 10", f"{noisy['ensemble']['top1']:.2f} %"),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    return _TEXT.format(
        title=title,
        dataset=dataset,
        network=network,
        protocol=_protocol(model.protocol, training),
        widths=widths,
        teacher=teacher,
        starts=teacher["initialisations"],
        seed=details["seed"],
        run=details["run"],
        epoch=details["epoch"],
        table=table,
        counts=(len(data.train), len(data.validation), len(data.test)),
    )


def _protocol(name: str, training: dict[str, Any]) -> str:
    spent = f"{training['epochs']} epochs of SGD at rate {training['learning_rate']:g}"
    if name == "PATH":
        return f"PATH: the path loss from exact zero, {spent}"
    return f"{name}: path and endpoint loss, {spent}, from the PATH network beside it"


_TEXT = """# {title}

{network.oscillators} Kuramoto oscillators ({network.hidden} hidden, {network.outputs} outputs),
{network.parameter_count:,} parameters, {network.couplers:,} couplings, read out as cos(theta) at
t_f = {network.dynamics.observation_time:g} after {network.dynamics.steps} Euler steps.

- **Data**: {dataset}; {counts[0]:,} training and {counts[1]:,} validation images of the official
  training set (fixed stratified split), the official {counts[2]:,} test images. No augmentation.
- **Training**: {protocol}; batch size 256.
  Teacher: {widths}, tanh, SGD, {teacher[epochs]} epochs, initialisations: {starts}.
- **Seeds**: teacher {seed}, training order {run}; selected epoch {epoch}.
- **Chosen** on validation top-1, of ten training orders and five teachers; the test images were
  evaluated afterwards.

| | |
|---|---|
{table}

**Limits.** A simulation, with ideal couplings and no device mismatch. Images must be prepared as
the dataset's are (28 x 28 grey levels, centred); other pictures get an answer all the same,
without a warning. The scores are activations, not probabilities. One class of the ten is always
named.
"""


if __name__ == "__main__":
    main(ResultsFolder(Path(sys.argv[1] if len(sys.argv) > 1 else "results")))
