"""Choose the models that ship, from the trained stages of `entrain reproduce`, and write cards.

    python tools/ship_models.py results

Of all TWO-STAGE-END networks trained by the main protocol (ten orders of the main
teacher, and one of each of five teachers) the one with the best validation top-1 ships, with the
PATH network it started from; and the best of the five DIRECT networks of `records`. The test images
are evaluated afterwards, for the card.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch

from entrain.data import ImageDataset, load_dataset
from entrain.evaluation import noisy_scores, stochastic
from entrain.experiments import PAPER, direct, main_stages, teacher_seeds
from entrain.experiments.setting import BOTH
from entrain.files import write_atomically
from entrain.learning import Stage
from entrain.model import Model
from entrain.reproduction import ResultsFolder

MODELS = Path(__file__).parents[1] / "src" / "entrain" / "models"


def main(folder: ResultsFolder) -> None:
    for name in BOTH:
        candidates = [main_stages.students(PAPER, name)["TWO-STAGE-END"]]
        candidates.append(teacher_seeds.students(PAPER, name)[1])
        lanes = [(stage, lane) for stage in candidates for lane in range(stage.lanes)]
        end, lane = max(lanes, key=lambda each: _validation(folder, *each))
        assert end.start is not None
        data = load_dataset(PAPER.dataset(name))
        best = direct.stage(PAPER, name)
        top = max(range(best.lanes), key=lambda each: _validation(folder, best, each))
        chosen = ((end, lane, ""), (end.start, lane, "-path"), (best, top, "-direct"))
        for stage, lane, ending in chosen:
            model = _model(folder, stage, lane, data)
            title = f"{data.name}-{model.network.oscillators}{ending}"
            model.save(MODELS / f"{title}.safetensors")
            card = _card(title, name, model, data)
            write_atomically(MODELS / f"{title}.md", card.encode())
            print(title, model.details["test"])  # noqa: T201


def _validation(folder: ResultsFolder, stage: Stage, lane: int) -> float:
    kept = folder.state(stage)
    assert kept is not None, f"{stage.title} is not trained in {folder.path}"
    return kept[0].selected("top1", lane)


def _model(folder: ResultsFolder, stage: Stage, lane: int, data: ImageDataset) -> Model:
    kept = folder.state(stage)
    assert kept is not None
    state = kept[0]
    teacher, training, seed = None, stage.rule.settings(), stage.seed
    if stage.teachers:
        teacher_stage = stage.teachers[lane % len(stage.teachers)]
        taught = folder.state(teacher_stage)
        assert taught is not None
        teacher, seed = teacher_stage.teacher(taught[0]), teacher_stage.seed
        training["teacher"] = teacher_stage.rule.settings()
    metrics = [
        m for m in ("top1", "agreement", "endpoint_rmse", "cross_entropy") if m in state.history
    ]
    model = Model(
        network=stage.networks(state, torch.device("cpu"))[lane],
        preprocessing=data.preprocessing,
        class_names=data.class_names,
        dataset=data.name,
        protocol=stage.rule.name,
        teacher=teacher,
        details={
            "run": stage.runs[lane],
            "seed": seed,
            "epoch": int(state.best_epoch[lane]),
            "validation": {metric: state.selected(metric, lane) for metric in metrics},
            "training": training,
        },
        gain=stage.rule.gain_of(lane),
    )
    model.details["test"] = model.evaluate(data.test)
    return model.with_reject_option(data.train.features, data.validation)


def _card(title: str, dataset: str, model: Model, data: ImageDataset) -> str:
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
        among="five runs" if model.teacher is None else "ten training orders and five teachers",
        counts=(len(data.train), len(data.validation), len(data.test)),
    )


def _protocol(model: Model, training: dict[str, Any]) -> str:
    if model.protocol == "DIRECT":
        return (
            f"DIRECT: labels, {training['epochs']} epochs of AdamW from small random couplings;\n"
            f"  batch size 256, augmentation {_distortion(training['augmentation'])}. No teacher"
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


_TEXT = """# {title}

{network.oscillators} Kuramoto oscillators ({network.hidden} hidden, {network.outputs} outputs),
{network.parameter_count:,} parameters, {network.couplers:,} couplings, read out as cos(theta) at
t_f = {network.dynamics.observation_time:g} after {network.dynamics.steps} Euler steps.

- **Data**: {dataset}; {counts[0]:,} training and {counts[1]:,} validation images of the official
  training set (fixed stratified split), the official {counts[2]:,} test images.
- **Training**: {protocol}.
- **Seeds**: seed {seed}, run {run}; selected epoch {epoch}.
- **Chosen** on validation top-1, of {among}; the test images were evaluated afterwards.

| | |
|---|---|
{table}

**Limits.** A simulation, with ideal couplings and no device mismatch. Images must be prepared as
the dataset's are (28 x 28 grey levels, centred). Small margins and pictures unlike the training
images are marked as unsure, but not every wrong answer is. The scores are activations, not
probabilities. One class of the ten is always named.
"""


if __name__ == "__main__":
    main(ResultsFolder(Path(sys.argv[1] if len(sys.argv) > 1 else "results")))
