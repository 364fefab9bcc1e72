"""Ship models from the stages of `entrain reproduce`, with their cards.

    python paper/tools/ship_models.py results            # PATH and TWO-STAGE-END of the main tables
    python paper/tools/ship_models.py results --direct   # networks that were trained on labels
    python paper/tools/ship_models.py results --robust   # networks that were trained for chips
    python paper/tools/ship_models.py FOLDER --distilled # networks of benchmarks/distillation.py

PATH and TWO-STAGE-END are the first run of `multiseed`, with its teacher: the network from which
the ablation and the trajectories of the report continue. Of the five DIRECT networks of `records`
the best on validation images ships, of the networks for chips (`trained-for-chips`) the best on
the validation chips, of the distilled networks the best on validation images, which
`benchmarks/distillation.py --models FOLDER` keeps. The test images are evaluated afterwards.

A trial with small networks:

    entrain reproduce trained-for-chips --quick --out trial
    python paper/tools/ship_models.py trial --robust --size quick --chips 5 --models trial
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from model_cards import card, card_for_chips

from entrain.data import ImageDataset, load_dataset
from entrain.evaluation.chip_yield import yield_of
from entrain.models.model import Model, read_model
from entrain.training import Recipe, Stage, TrainingState
from entrain.utils.device import choose_device
from entrain.utils.files import write_atomically
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.setting import BOTH, SETTINGS, Setting
from entrain_paper.experiments.trained_for_chips import ROBUST
from entrain_paper.reproduction import ResultsFolder

_MAIN_RUN = 0
MODELS = Path(__file__).resolve().parents[2] / "src" / "entrain" / "models"


@dataclass(frozen=True)
class Shipping:
    """Folders of stages and models, the number of chips of a measurement, and its device."""

    folder: ResultsFolder
    setting: Setting
    models: Path
    chips: int
    device: torch.device

    def main(self) -> None:
        """Ship PATH and TWO-STAGE-END of the first run of the main tables, with their teacher."""
        for name in BOTH:
            students = shared_stages.main_students(self.setting, name)
            self._ideal(name, students["TWO-STAGE-END"], _MAIN_RUN, "")
            self._ideal(name, students["PATH"], _MAIN_RUN, "-path")

    def direct(self) -> None:
        """Ship the best networks that were trained on labels."""
        for name in BOTH:
            stage = shared_stages.direct_stage(self.setting, name)
            self._ideal(name, stage, self._best(stage), "-direct")

    def distilled(self) -> None:
        """Ship the networks that were trained on the convolutional teacher."""
        for name in BOTH:
            dataset = self.setting.dataset(name)
            model = read_model(self.folder.path / f"{dataset}-74-teacher.safetensors")
            data = load_dataset(dataset)
            training = Recipe.from_json(model.details["recipe"]).protocols[-1].settings()
            selection = {key: model.details[key] for key in ("run", "seed", "epoch", "validation")}
            details = selection | {"training": training, "test": model.evaluate(data.test)}
            title = f"{dataset}-74-distilled"
            shipped = replace(model, details=details)
            self._ship(title, shipped, card(title, name, shipped, data))

    def _ideal(self, name: str, stage: Stage, run: int, ending: str) -> None:
        """Ship a run of a stage, without imperfections."""
        data = load_dataset(self.setting.dataset(name))
        model = self._model(stage, run, data)
        title = f"{data.name}-{model.network.oscillators}{ending}"
        self._ship(title, model, card(title, name, model, data))

    def robust(self) -> None:
        """Ship the networks for typical and published chips; at the end, name untrained stages."""
        missing = []
        for name, constraint in ROBUST:
            stage = constraint.stage(self.setting, name)
            if not self.folder.finished(stage):
                missing.append(stage.title)
                continue
            run = self._best(stage)
            data = load_dataset(self.setting.dataset(name))
            model = self._model(stage, run, data)
            on_device = model.to(self.device)
            result = yield_of(on_device, constraint.hardware, data.test, chips=self.chips)
            model.details["on_chips"] = result.summary() | {"chips": self.chips}
            ending = "-robust" if constraint.hardware.oscillators is None else "-chip"
            title = f"{data.name}-{model.network.oscillators}{ending}"
            text = card_for_chips(title, name, model, data, runs=stage.parallel_runs)
            self._ship(title, model, text)
        if missing:
            sys.exit(f"not trained in {self.folder.path}: {'; '.join(missing)}")

    def _ship(self, title: str, model: Model, text: str) -> None:
        model.save(self.models / f"{title}.safetensors")
        write_atomically(self.models / f"{title}.md", text.encode())
        print(title, model.details.get("on_chips", model.details["test"]))  # noqa: T201

    def _best(self, stage: Stage) -> int:
        """The run with the best validation top-1."""
        state = self._state(stage)
        return max(range(stage.parallel_runs), key=lambda run: state.selected("top1", run))

    def _state(self, stage: Stage) -> TrainingState:
        saved = self.folder.state(stage)
        if saved is None or not self.folder.finished(stage):
            sys.exit(f"not trained in {self.folder.path}: {stage.title}")
        return saved[0]

    def _model(self, stage: Stage, run: int, data: ImageDataset) -> Model:
        """The network of one run as a model, evaluated on the test images."""
        state = self._state(stage)
        teacher, training, seed = None, stage.rule.settings(), stage.seed
        if stage.teachers:
            teacher_stage = stage.teachers[run % len(stage.teachers)]
            teacher = teacher_stage.teacher(self._state(teacher_stage))
            seed, training["teacher"] = teacher_stage.seed, teacher_stage.rule.settings()
        metrics = [
            m for m in ("top1", "agreement", "endpoint_rmse", "cross_entropy") if m in state.history
        ]
        model = Model(
            network=stage.networks(state, torch.device("cpu"))[run],
            preprocessing=data.preprocessing,
            task=data.task,
            dataset=data.name,
            protocol=stage.rule.name,
            teacher=teacher,
            details={
                "run": stage.runs[run],
                "seed": seed,
                "epoch": int(state.best_epoch[run]),
                "validation": {metric: state.selected(metric, run) for metric in metrics},
                "training": training,
            },
            gain=stage.rule.gain_of(run),
            hardware=stage.rule.hardware,
        )
        model.details["test"] = model.evaluate(data.test)
        return model.with_reject_option(data.train.features, data.validation)


def main() -> None:
    """Ship the models of the command line."""
    parser = argparse.ArgumentParser(description="Select and write the models that ship.")
    parser.add_argument("folder", type=Path, help="results of entrain reproduce, or models")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--direct", action="store_true", help="networks trained on labels")
    which.add_argument("--robust", action="store_true", help="networks trained for chips")
    which.add_argument("--distilled", action="store_true", help="networks of a folder of models")
    parser.add_argument("--chips", type=int, default=1000, help="1,000 take 10 CPU minutes a model")
    parser.add_argument("--size", choices=SETTINGS, default="paper")
    parser.add_argument("--models", type=Path, default=MODELS, help="folder to write to")
    parser.add_argument("--device", type=choose_device, default="cpu", help="of the chips")
    arguments = parser.parse_args()
    shipping = Shipping(
        ResultsFolder(arguments.folder),
        SETTINGS[arguments.size],
        arguments.models,
        arguments.chips,
        arguments.device,
    )
    if arguments.robust:
        shipping.robust()
    elif arguments.direct:
        shipping.direct()
    elif arguments.distilled:
        shipping.distilled()
    else:
        shipping.main()


if __name__ == "__main__":
    main()
