"""Accuracy after calibration and retraining for a calibrated chip: results/calibration.json.

    python benchmarks/calibration.py simulated    a simulated chip of mnist-74
    python benchmarks/calibration.py circuit      LC oscillators of spread components in ngspice

Each part writes its measurements to the file, and a second call continues after them. Fields and
training images come from the training set; the test set is evaluated once for each network.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import entrain
from entrain.calibration import Traces, calibrate, plan, read_traces, simulated, train_in_the_loop
from entrain.calibration.calibrate import Calibration
from entrain.export import Spice, design_of
from entrain.export.design import Design
from entrain.export.ngspice import simulate
from entrain.hardware import Components, FrequencySpread, Hardware, Mismatch
from entrain.hardware.chip import on_chips
from entrain.models.model import Model
from entrain.utils.files import strict_json, write_atomically

RESULT = Path(__file__).parent.parent / "results" / "calibration.json"
HARDWARE = Hardware(
    mismatch=Mismatch(couplings=0.1, fields=0.1), frequency_spread=FrequencySpread(1.0)
)
SEED = 3
SPREAD = Components(
    inductance=0.05, tuning=2e-4, negative_conductance=0.05, transconductance=0.05, injection=0.05
)


def stored() -> dict[str, Any]:
    return json.loads(RESULT.read_text()) if RESULT.exists() else {}


def measure(part: str, name: str, how: Callable[[], Any]) -> Any:
    """The value of `how()`, from the file if it is there."""
    results = stored()
    if name not in results.get(part, {}):
        began = time.monotonic()
        value = how()
        results = stored()
        results.setdefault(part, {})[name] = value
        write_atomically(RESULT, (strict_json(results, 1) + "\n").encode())
        print(f"{part} {name}: {value} ({time.monotonic() - began:.0f} s)", flush=True)  # noqa: T201
    return results[part][name]


def progress(stage: str, fraction: float) -> None:
    print(f"\r{stage} {100 * fraction:3.0f} %  ", end="", file=sys.stderr)  # noqa: T201


# A simulated chip of mnist-74


def truth(model: Model) -> tuple[np.ndarray, np.ndarray]:
    parameters = on_chips(model.batched_parameters(), HARDWARE, [SEED]).parameters
    assert parameters.frequencies is not None
    return parameters.couplings[0].double().numpy(), parameters.frequencies[0].double().numpy()


def errors(calibration: Calibration, model: Model) -> dict[str, float]:
    couplings, frequencies = truth(model)
    used = couplings != 0
    rms = np.sqrt(np.square(couplings[used]).mean())

    def percent(estimate: np.ndarray) -> float:
        return float(100 * np.sqrt(np.square((estimate - couplings)[used]).mean()) / rms)

    weak = calibration.unknowns.programmed * calibration.unknowns.gains(calibration.weak)
    own, spread = calibration.part("frequencies")
    return {
        "traces": calibration.traces,
        "couplings_percent_of_rms": percent(calibration.couplings),
        "couplings_weak_form_percent": percent(weak),
        "couplings_as_programmed_percent": percent(calibration.unknowns.programmed),
        "frequencies": float(np.sqrt(np.square(own - frequencies).mean())),
        "frequencies_in_errors": float(np.sqrt(np.square((own - frequencies) / spread).mean())),
        "noise": calibration.noise,
    }


def of_images(model: Model, runs: int) -> Traces:
    """Experiments with the fields of training images."""
    data = entrain.load_dataset("mnist")
    inputs = model.inputs(data.train.features[:runs], unseen=False)
    fields = model.batched_parameters().phase_model(inputs[None]).fields[0].double().numpy()
    return Traces(plan(model).times, fields)


def on_simulated_chip() -> None:
    model = entrain.load("mnist-74")
    chip = HARDWARE.sample(SEED)
    calibrations: dict[str, Calibration] = {}
    cases = {
        "clean, 200 traces, images": (lambda: of_images(model, 200), 0.0),
        "clean, 200 traces, planned": (lambda: plan(model, runs=200), 0.0),
        "0.01 rad, 200 traces, planned": (lambda: plan(model, runs=200), 0.01),
        "0.01 rad, 1,000 traces, images": (lambda: of_images(model, 1000), 0.01),
    }
    for name, (experiments, noise) in cases.items():

        def one(experiments: Any = experiments, noise: float = noise, name: str = name) -> Any:
            traces = simulated(model, chip, experiments(), noise=noise)
            calibrations[name] = calibrate(model, traces, on_progress=progress)
            return errors(calibrations[name], model)

        measure("simulated", name, one)
    test = entrain.load_test_split("mnist")
    for shipped in ("mnist-74",):
        ideal = entrain.load(shipped)
        measure("simulated", f"{shipped}, ideal", lambda i=ideal: i.evaluate(test)["top1"])
        on = ideal.on(chip)
        measure("simulated", f"{shipped}, on the chip", lambda o=on: o.evaluate(test)["top1"])

        def retrained(ideal: Model = ideal) -> float:
            traces = simulated(ideal, chip, plan(ideal, runs=200), noise=0.01)
            calibrated = calibrate(ideal, traces, on_progress=progress).model(ideal)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "calibrated.safetensors"
                calibrated.save(path)
                trained = entrain.train("mnist", network=path, epochs=5, progress=True).model
            return trained.on(chip).evaluate(test)["top1"]

        measure("simulated", f"{shipped}, retrained, on the chip", retrained)


# LC oscillators in ngspice


class Circuit:
    """A chip simulated in ngspice: 26 LC oscillators of components with tolerances."""

    def __init__(self, model: Model, data: Any) -> None:
        self.design: Design = design_of(model, data.test.features[:1], data.test.labels[:1])
        self.spice = Spice("lc", cycles=100.0, spread=SPREAD, seed=SEED)

    def traces(self, couplings: np.ndarray, fields: np.ndarray, times: int = 20) -> np.ndarray:
        design = self.design.under(fields)
        programmed = replace(
            design.phase_model, couplings=torch.from_numpy(couplings)[None].double()
        )
        return simulate(
            replace(design, phase_model=programmed),
            self.spice,
            times=times,
            on_progress=lambda fraction: progress("ngspice", fraction),
        )

    def __call__(self, couplings: np.ndarray, fields: np.ndarray) -> np.ndarray:
        return self.traces(couplings, fields)[-1]

    def accuracy(self, model: Model, split: Any) -> float:
        """Accuracy in percent of the circuit programmed with `model`, on `split`."""
        parameters = model.batched_parameters()
        fields = parameters.phase_model(model.inputs(split.features)[None]).fields[0].double()
        phases = self(parameters.couplings[0].double().numpy(), fields.numpy())
        answers = self.design.scores(phases).argmax(-1)
        return float(100 * np.mean(answers == split.labels))


IMAGES = 100  # of the 300 test images, the first: a run of the circuit takes a second or more


def on_circuit() -> None:
    data = entrain.load_dataset("digits")
    test = entrain.Split(data.test.features[:IMAGES], data.test.labels[:IMAGES])
    folder = Path(tempfile.gettempdir()) / "entrain-calibration"
    model = entrain.train(
        data, protocol="DIRECT", network=16, folder=folder / "digits", progress=True
    ).model
    circuit = Circuit(model, data)
    nominal = Circuit(model, data)
    nominal.spice = Spice("lc", cycles=100.0)
    measure("circuit", "phase model", lambda: model.evaluate(test)["top1"])
    measure("circuit", "components as designed", lambda: nominal.accuracy(model, test))
    measure("circuit", "spread components", lambda: circuit.accuracy(model, test))
    path = folder / "calibrated.safetensors"

    def calibrated() -> dict[str, Any]:
        file = folder / "traces.safetensors"
        if not file.exists():
            experiments = plan(model, runs=100)
            couplings = model.batched_parameters().couplings[0].double().numpy()
            phases = circuit.traces(couplings, experiments.fields)[1:]
            Traces(experiments.times, experiments.fields, phases).save(file)
        result = calibrate(model, read_traces(file), on_progress=progress)
        result.model(model).save(path)
        return result.summary()

    measure("circuit", "calibration", calibrated)
    twin = entrain.load(path)
    assert twin.hardware is not None
    measure("circuit", "twin", lambda: twin.on(0).evaluate(test)["top1"])
    retrained = entrain.train(
        "digits", network=path, folder=folder / "retrained", progress=True
    ).model
    measure("circuit", "retrained", lambda: circuit.accuracy(retrained, test))

    def looped() -> float:
        trained = train_in_the_loop(
            twin,
            circuit,
            data.train.features,
            data.train.labels,
            steps=10,
            batch_size=16,
            on_step=lambda step, loss, right: print(step, loss, right, flush=True),  # noqa: T201
        )
        return circuit.accuracy(trained, test)

    measure("circuit", "in the loop, 10 steps of 16", looped)


if __name__ == "__main__":
    parts = {"simulated": on_simulated_chip, "circuit": on_circuit}
    for part in sys.argv[1:] or list(parts):
        parts[part]()
