"""What must hold on a real GPU: `make gpu-test`, in under five minutes.

    PYTHONPATH=src:paper:tests python3 tests/gpu_check.py [DEVICE [CHECK...]]

Kernels, an epoch of every protocol, kill and resume to the same bits, and evaluation. Plain
Python, because a GPU machine may have neither pytest nor a network: it takes PyTorch, NumPy,
SciPy, scikit-learn, safetensors, rich, typer and matplotlib. Prints a line for each fact and
exits with 1 if one does not hold.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import torch

import kernel_facts as facts
import model_facts

SHAPES = [(1, 1, 8, 7), (3, 9, 25, 5), (1, 256, 74, 200), (10, 100, 74, 50), (2, 40, 138, 60)]
LARGE = [(1, 37, 200, 40), (2, 67, 300, 30), (1, 301, 512, 20), (1, 97, 1000, 10)]
BOTH_LAYOUTS = [(1, 256, 74, 200), (2, 40, 138, 60), (1, 37, 200, 40), (1, 97, 1000, 10)]
SMALL = (2, 5, 23, 12)
MODELS = {"mnist-74": 96.85, "fashion-mnist-74": 86.13, "mnist-74-direct": 98.97}

ENTRAIN = [sys.executable, "-m", "entrain"]
TINY = ["--network=8,4,4", "--set=steps=40"]
TINY_STAGES = {
    "TWO-STAGE-END": {
        "TEACHER.initialisations": 2,
        "TEACHER.epochs": 20,
        "PATH.learning_rate": 1000,
        "PATH.epochs": 20,
    },
    "DIRECT": {"DIRECT.epochs": 40},
}


def kernels(device: torch.device) -> str:
    """Outputs and every gradient of every term against float64, and captured graphs."""
    from entrain.kernels import gpu

    gpu.check(device)
    worst = 0.0
    for shape in SHAPES + LARGE:
        for symmetric in (True, False):
            worst = max(worst, *facts.check_terms(gpu, device, shape, symmetric=symmetric).values())
    alone = [(term,) for term in facts.TERMS]
    for terms, noisy, record in itertools.product(
        [*alone, facts.TERMS, ()], (False, True), (False, True)
    ):
        found = facts.check_terms(gpu, device, SMALL, terms, noisy=noisy, record=record)
        worst = max(worst, *found.values())
        facts.check_terms(gpu, device, SMALL, terms, shared=True, noisy=noisy, record=record)
    for shape, terms in itertools.product(BOTH_LAYOUTS, (("harmonic",), facts.TERMS)):
        worst = max(worst, *facts.check_terms(gpu, device, shape, terms).values())
    for shape, nodes in itertools.product(SHAPES, (None, 4)):
        facts.check_path_loss(gpu, device, shape, nodes)
    facts.check_layout_of_tensors(gpu, device, SMALL)
    facts.check_runs_are_apart(gpu, device)
    facts.check_capture(gpu, device, (2, 64, 74, 50))
    facts.check_fresh_thread(gpu, device)
    facts.check_memory(gpu, device, (1, 256, 74, 200))
    facts.check_memory(gpu, device, (1, 200, 300, 20), ["harmonic"])
    return f"largest relative error {worst:.1e}"


def terms_and_schedules(device: torch.device) -> str:
    """Every registered term, constant and varied in time, in every layout, also noisy."""
    from entrain.kernels import gpu, gpu_steps

    worst, count = 0.0, 0
    small, everything = (2, 5, 23, 12), model_facts.EVERY_TERM
    for backend, degree in ((gpu, None), (gpu, 3.0), (gpu_steps, None)):
        for terms in ((), *((term,) for term in everything), everything):
            model = model_facts.model_of(small, terms, degree=degree, start=True)
            varied = model_facts.varied(model, 12, model_facts.all_names(model), hold=5, first=2)
            for noise in (None, model_facts.varied_noise(small)):
                for case in (model, varied):
                    errors = model_facts.check_model(
                        backend, device, case, 12, noise=noise, record=3
                    )
                    worst, count = max(worst, *errors.values()), count + 1
    some = ("injection", "lag", "harmonic", "edge_lag")
    for shape in [(1, 64, 74, 40), (1, 40, 138, 20), (1, 20, 300, 20), (1, 10, 1000, 8)]:
        for terms in ((), some):
            model = model_facts.model_of(shape, terms)
            model = model_facts.varied(model, shape[-1], model_facts.all_names(model), hold=4)
            errors = model_facts.check_model(gpu, device, model, shape[-1])
            worst, count = max(worst, *errors.values()), count + 1
    return f"{count} models, largest relative error {worst:.1e}"


def sparse_and_large_networks(device: torch.device) -> str:
    """One launch per step: sparse graphs and matrices beyond a block, and their memory."""
    from entrain.kernels import gpu_steps, select_backend

    worst = 0.0
    some = ("frequencies", "injection", "harmonic", "edge_lag")
    shapes = [(1, 32, 2000, 20), (2, 5, 1100, 10), (1, 70, 1500, 6), (1, 1, 5000, 5)]
    for (shape, degree), terms in itertools.product(
        [*((shape, 8.0) for shape in shapes), *((shape, None) for shape in shapes[:3])],
        ((), some),
    ):
        model = model_facts.model_of(shape, terms, degree=degree, shared=True)
        assert select_backend(model_facts.single(model, device)) is gpu_steps
        noise = model_facts.some_noise(shape) if terms and shape[1] == 5 else None
        varied = model_facts.varied(model, shape[-1], model_facts.all_names(model), hold=3)
        for case in (model, varied) if terms else (model,):
            errors = model_facts.check_model(gpu_steps, device, case, shape[-1], noise=noise)
            worst = max(worst, *errors.values())
    facts.check_capture(gpu_steps, device, (1, 32, 300, 10))
    used = [
        model_facts.check_peak_memory(gpu_steps, device, (1, 32, 20_000, 50), 8.0),
        model_facts.check_peak_memory(gpu_steps, device, (1, 64, 1500, 50)),
    ]
    return f"largest relative error {worst:.1e}, at most {max(used):.0%} of the tape's bytes"


def cut_batches(device: torch.device) -> str:
    """Work that does not fit is cut along the batch, and stays on the fast kernel."""
    import entrain.kernels as chosen
    from entrain.kernels import memory
    from entrain.physics import Dynamics

    model = facts.single(facts.example((2, 33, 74, 50)), device)
    dynamics, before = Dynamics(steps=50), memory.TAPE_BYTES
    gradient = torch.ones_like(model.fields)
    phases, pullback = chosen.rollout_with_pullback(model, dynamics)
    whole = pullback(gradient)
    memory.TAPE_BYTES = 8 * 2 * chosen.select_backend(model).tape_bytes(model, 50)
    try:
        pieces, pullback = chosen.rollout_with_pullback(model, dynamics)
        found = pullback(gradient)
    finally:
        memory.TAPE_BYTES = before
    assert torch.allclose(pieces, phases, atol=1e-5)
    assert torch.allclose(found.fields, whole.fields, atol=1e-5)
    error = float((found.couplings - whole.couplings).abs().max() / whole.couplings.abs().max())
    assert error < 1e-5, error
    return f"gradient apart by {error:.1e}"


def every_protocol(device: torch.device) -> str:
    """An epoch of every protocol, elastic distortions included, gives finite networks."""
    import entrain
    from entrain.rules import PROTOCOLS
    from entrain.training import Recipe, run_pipeline

    done = []
    alike: dict[object, list[str]] = {}  # what is read at a finite time, and what at rest
    for name, protocol in PROTOCOLS.items():
        alike.setdefault(protocol.dynamics, []).append(name)
    for name in ("mnist-small", "fashion-mnist-small"):
        data = entrain.load_dataset(name)
        for solver, names in itertools.product(("sgd", "exact"), alike.values()):
            recipe = Recipe.for_dataset(name, names, path_solver=solver, runs=2)
            recipe = recipe.adjusted(
                teacher={"epochs": 1}, path={"epochs": 1}, endpoint={"epochs": 1},
                direct={"epochs": 3, "fine_epochs": 1, "unaugmented_epochs": 1},
            )  # fmt: skip
            trained = run_pipeline(recipe, data, device=device)
            assert not trained.diverged, trained.diverged
            for protocol, models in trained.models.items():
                for model in models:
                    top1 = model.evaluate(data.validation, unseen=False)["top1"]
                    stored = model.details["validation"]["top1"]
                    assert abs(top1 - stored) <= 0.1 + 1e-9, (protocol, top1, stored)
            done.append(len(trained.models))
    return f"{sum(done)} trainings of {len(PROTOCOLS)} protocols"


def terms_are_trained(device: torch.device) -> str:
    """DIRECT with class weights on a sparse graph, training every term."""
    import entrain
    from entrain.physics import NetworkSpec, layered_graph
    from entrain.training import Recipe, run_pipeline

    data, n = entrain.load_dataset("digits"), 26
    graph = layered_graph(16, 10) & (torch.rand(n, n, generator=torch.manual_seed(0)) < 0.5).triu(1)
    graph = graph | graph.T
    names = ("frequencies", "start_phases", "injection", "lag", "harmonic")
    network = NetworkSpec.from_graph(
        graph,
        hidden=16,
        frequencies=(0.1,) * n,
        start_phases=(1.5,) * n,
        injection=(0.1,) * n,
        lag=0.05,
        harmonic=(0.1, -0.05),
        trainable=names,
    )
    weights = (1.0, 2.0) * 5
    protocol = entrain.Direct(epochs=8, batch_size=32, fine_epochs=1, class_weights=weights)
    recipe = Recipe("digits", protocols=(protocol,), network=network)
    model = run_pipeline(recipe, data, device=device).model
    assert not bool(model.network.couplings[~graph.to(device)].any())
    top1 = model.evaluate(data.test)["top1"]
    assert top1 > 70, top1
    return f"digits {top1:.1f} %"


def chips(device: torch.device) -> str:
    """DIRECT for every kind of chip, twice to the same bits; the same chips on the CPU."""
    import entrain
    from entrain import hardware

    data = entrain.load_dataset("digits")
    kinds = [hardware.preset(name) for name in hardware.presets()]
    ring = hardware.CouplingFunction(0.2, second=0.2, second_even=0.1)
    kinds += [
        hardware.Hardware(coupling_function=ring, name="ring oscillators"),
        hardware.Hardware(delay=hardware.Delay(0.02), name="delayed"),
    ]
    found = []
    for kind in kinds:
        hidden = 38 if kind.oscillators == 48 else 64
        models = [
            entrain.train(data, hardware=kind, network=hidden, epochs=6, device=device).model
            for _ in range(2)
        ]
        first, second = (model.network.state_dict() for model in models)
        assert all(torch.equal(first[name], second[name]) for name in first), kind.name
        there, here = (
            entrain.yield_of(model, kind, data.test, chips=5)
            for model in (models[0], models[0].to("cpu"))
        )
        apart = max(abs(a - b) for a, b in zip(there.accuracies, here.accuracies, strict=True))
        assert apart <= 1.0, (kind.name, apart)  # three of 300 images
        found.append(f"{kind.name} {there.mean:.0f}")
    return "digits on " + ", ".join(found) + " %"


def kill_and_resume(device: torch.device) -> str:
    """A training that is killed and goes on ends with the bits of one that was not."""
    for protocol, settings in TINY_STAGES.items():
        with tempfile.TemporaryDirectory() as folder:
            first, second = Path(folder, "first"), Path(folder, "second")
            options = ["--protocol", protocol, "--device", str(device), *TINY]
            options += [f"--set={name}={value}" for name, value in settings.items()]
            _entrain("train", "digits", "--out", str(first), *options)
            stage = "direct" if protocol == "DIRECT" else "path"
            _killed(second, stage, "train", "digits", "--out", str(second), *options)
            _entrain("train", "--resume", str(second))
            name = f"{protocol.lower()}-0.safetensors"
            assert _tensors(first / name) == _tensors(second / name), f"{protocol}: other bits"
    return "TWO-STAGE-END and DIRECT, the same bits"


def compared_systems(device: torch.device) -> str:
    """A system of the bake-off that continues from its first epoch ends with the same bits,
    whatever the state of the global generator."""
    from dataclasses import replace

    import entrain
    from entrain.rules.training_data import TrainingData
    from entrain.training import Stage, pack_state, train_stage, unpack_state
    from entrain_paper.peers import SYSTEMS

    data = TrainingData(entrain.load_dataset("digits"), device)
    names = ("wang", "fan", "laydevant", "laydevant-annealed", "whitelam", "aoc")
    for name in names:
        stage = Stage(replace(SYSTEMS[name], epochs=3, examples=500), "digits", runs=(0, 1))
        saved: list[bytes] = []
        whole = train_stage(
            stage, data, {}, on_epoch=lambda state, saved=saved: saved.append(pack_state(state, {}))
        )
        torch.manual_seed(len(name))
        resumed = train_stage(stage, data, {}, saved=unpack_state(saved[0], name)[0])
        assert whole.history == resumed.history, name
        for key, tensor in whole.current.items():
            assert torch.equal(tensor, resumed.current[key]), (name, key)
    return f"{len(names)} systems, the same bits"


def evaluation(device: torch.device) -> str:
    """The shipped models are as accurate as they are on a CPU, without and with noise."""
    import entrain
    from entrain.evaluation import noisy_scores, stochastic

    for name, expected in MODELS.items():
        model = entrain.load(name).to(device)
        split = entrain.load_test_split(model.dataset)
        top1 = model.evaluate(split)["top1"]
        assert abs(top1 - expected) <= 0.03, (name, top1, expected)
    inputs, labels = model.inputs(split.features[:2000]), torch.from_numpy(split.labels[:2000])
    scores = noisy_scores(model.network, inputs, temperature=0.25, replicates=4)
    ensemble = stochastic(scores, labels.to(device))["ensemble"]["top1"]
    assert ensemble > 97, ensemble
    return f"{len(MODELS)} models; mnist-74-direct at kT = 0.25: {ensemble:.1f} %"


def _entrain(*arguments: str) -> None:
    done = subprocess.run(
        [*ENTRAIN, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def _killed(folder: Path, stage: str, *arguments: str) -> None:
    """Start a training and kill it once a state of `stage` was saved."""
    process = subprocess.Popen(
        [*ENTRAIN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    end = time.monotonic() + 120
    while not (folder / "state" / f"{stage}.safetensors").exists():
        assert process.poll() is None, "it ended before it could be killed"
        assert time.monotonic() < end, "no checkpoint in two minutes"
        time.sleep(0.005)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=60)
    with contextlib.suppress(FileNotFoundError):
        assert not (folder / "results.json").exists(), "it was killed after its end"


def _tensors(path: Path) -> dict[str, bytes]:
    from safetensors.torch import load_file

    return {name: tensor.numpy().tobytes() for name, tensor in load_file(path).items()}


CHECKS: tuple[Callable[[torch.device], str], ...] = (
    kernels,
    terms_and_schedules,
    sparse_and_large_networks,
    cut_batches,
    every_protocol,
    terms_are_trained,
    chips,
    kill_and_resume,
    compared_systems,
    evaluation,
)


def main() -> int:
    """Run the checks of the command line, by default every one; how many do not hold."""
    if not torch.cuda.is_available():
        sys.stderr.write("make gpu-test needs a CUDA device, which PyTorch does not see here\n")
        return 1
    device = torch.device(sys.argv[1] if len(sys.argv) > 1 else "cuda:0")
    by_name = {check.__name__: check for check in CHECKS}
    if unknown := set(sys.argv[2:]) - by_name.keys():
        sys.stderr.write(f"no check {', '.join(unknown)}; there are {', '.join(by_name)}\n")
        return 2
    checks = [by_name[name] for name in sys.argv[2:]] or CHECKS
    began, failed = time.monotonic(), 0
    print(f"{torch.cuda.get_device_name(device)}, PyTorch {torch.__version__}")  # noqa: T201
    for check in checks:
        print(f"{check.__name__:<25}", end=" ", flush=True)  # noqa: T201
        start = time.monotonic()
        try:
            outcome = f"ok      {check(device)}"
        except Exception:
            failed += 1
            outcome = "FAILED\n" + traceback.format_exc()
        seconds = time.monotonic() - start
        print(f"{seconds:6.1f} s  {outcome}", flush=True)  # noqa: T201
    total = time.monotonic() - began
    print(f"{len(checks) - failed} passed, {failed} failed, {total:.0f} s")  # noqa: T201
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main())
