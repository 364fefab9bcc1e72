r"""A network with its input weights as an ONNX graph: raw pixels or features in, scores out.

    pixels (M, D) -> u -> fields b (M, N) -> K Euler steps of the phases -> scores (M, O)

in float32. The rollout is one `Loop` of K iterations of two matrix products, of the sine and of the
cosine of all phases, by the sums of `physics.phase_model`. Couplings and fields include the factor
-mu dt.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from entrain.export.design import Design
from entrain.export.input_stage import InputStage
from entrain.utils.errors import InputError, missing_extra

FILE = "network.onnx"
_OPSET, _IR_VERSION = 17, 8  # of 2022, which all current runtimes read
_FLOAT, _INT64, _BOOL = 1, 7, 9  # element types
_INPUT, _SCORES, _PHASES = "pixels", "scores", "phases"


def onnx_file(design: Design) -> bytes:
    """The content of the graph's file."""
    onnx = _package("onnx")
    if design.input_stage is None:
        raise InputError("the design has no input weights; export the model to onnx again")
    graph = _Graph(onnx)
    theta = _rollout(graph, design, _fields(graph, design, design.input_stage))
    graph.add("Identity", theta, out=_PHASES)
    outputs = graph.constant(np.arange(design.oscillators)[-design.outputs :], np.int64)
    graph.add("Cos", graph.add("Gather", _PHASES, outputs, axis=1), out=_SCORES)
    widths = {
        _INPUT: design.input_stage.raw.shape[1],
        _SCORES: design.outputs,
        _PHASES: design.oscillators,
    }
    first, *last = (graph.info(name, _FLOAT, "images", width) for name, width in widths.items())
    model = onnx.helper.make_model(
        onnx.helper.make_graph(graph.nodes, design.title, [first], last, graph.constants),
        opset_imports=[onnx.helper.make_opsetid("", _OPSET)],
        ir_version=_IR_VERSION,
        producer_name="entrain",
    )
    onnx.helper.set_model_props(model, {"class_names": ", ".join(design.class_names)})
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))


def run_onnx(content: bytes, raw: np.ndarray) -> np.ndarray:
    """The phases at the end (M, N) of raw inputs (M, D), by onnxruntime on the CPU."""
    runtime = _package("onnxruntime")
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        (phases,) = session.run([_PHASES], {_INPUT: raw.astype(np.float32)})
    except Exception as error:  # those of onnxruntime have no common base class
        raise InputError(f"onnxruntime cannot run the graph ({str(error)[:300]})") from error
    return np.asarray(phases, dtype=np.float64)


def _package(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise missing_extra(name, "onnx") from error


class _Graph:
    """Nodes and constants in the order in which they were added."""

    def __init__(self, onnx: Any, prefix: str = "") -> None:
        self.onnx, self.prefix = onnx, prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operation: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """Add a node; the name of its output."""
        name = out or f"{self.prefix}{operation.lower()}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def constant(self, values: Any, dtype: type = np.float32) -> str:
        """Add a constant; its name."""
        with np.errstate(over="ignore"):
            array: np.ndarray = np.asarray(values).astype(dtype)
        if not np.isfinite(array).all():
            raise InputError("the design has numbers beyond those of float32")
        name = f"{self.prefix}constant{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name

    def info(self, name: str, element: int, *shape: str | int) -> Any:
        """The type and shape of an input or output."""
        return self.onnx.helper.make_tensor_value_info(name, element, shape)


def _fields(graph: _Graph, design: Design, stage: InputStage) -> str:
    """-mu dt b of raw inputs."""
    factor = -design.dynamics.mobility * design.dynamics.time_step
    centred = graph.add("Sub", _INPUT, graph.constant(stage.mean.numpy()))
    u = graph.add("Mul", centred, graph.constant(stage.scale.numpy()))
    if float(stage.norm):
        length = graph.add("ReduceL2", u, axes=[1], keepdims=1)
        u = graph.add("Div", graph.add("Mul", u, graph.constant(stage.norm.numpy())), length)
    hidden, inputs = stage.input_weights.shape
    weights = np.zeros((inputs, design.oscillators))
    weights[:, :hidden] = factor * stage.input_weights.numpy().T
    product = graph.add("MatMul", u, graph.constant(weights))
    return graph.add("Add", product, graph.constant(factor * stage.biases.numpy()))


def _rollout(graph: _Graph, design: Design, fields: str) -> str:
    """The phases at the end."""
    zeros = graph.add("Mul", fields, graph.constant(0.0))
    theta = graph.add("Add", zeros, graph.constant(design.start))
    body = _Graph(graph.onnx, "step_")
    body.add("Identity", _step(body, design, "step_theta", fields), out="step_after")
    body.add("Identity", "step_go", out="step_on")
    shape = "images", design.oscillators
    inputs = [
        body.info("step_index", _INT64),
        body.info("step_go", _BOOL),
        body.info("step_theta", _FLOAT, *shape),
    ]
    outputs = [body.info("step_on", _BOOL), body.info("step_after", _FLOAT, *shape)]
    loop = graph.onnx.helper.make_graph(body.nodes, "step", inputs, outputs, body.constants)
    return graph.add("Loop", graph.constant(design.dynamics.steps, np.int64), "", theta, body=loop)


def _step(graph: _Graph, design: Design, theta: str, fields: str) -> str:
    """One Euler step of the phases."""
    model, dt = design.phase_model, design.dynamics.time_step
    factor = -design.dynamics.mobility * dt
    couplings = graph.constant(factor * design.couplings.T)
    waves = graph.add("Sin", theta), graph.add("Cos", theta)
    lag = 0.0 if model.lag is None else float(model.lag[0])
    cosines, sines = _pulls(graph, couplings, waves, float(np.cos(lag)), float(np.sin(lag)))
    change = _torque(graph, waves, (graph.add("Add", fields, cosines), sines))
    injection, frequencies = design.shared("injection"), design.shared("frequencies")
    if model.harmonic is not None or injection is not None:
        twice = graph.add("Add", theta, theta)
        waves = graph.add("Sin", twice), graph.add("Cos", twice)
    if model.harmonic is not None:
        pulls = _pulls(graph, couplings, waves, *model.harmonic[0].tolist())
        change = graph.add("Add", change, _torque(graph, waves, pulls))
    if injection is not None:
        torque = graph.add("Mul", waves[0], graph.constant(2.0 * factor * injection))
        change = graph.add("Add", change, torque)
    if frequencies is not None:
        change = graph.add("Add", change, graph.constant(dt * frequencies))
    return graph.add("Add", theta, change)


def _pulls(
    graph: _Graph, couplings: str, waves: tuple[str, str], p: float, q: float
) -> tuple[str, str]:
    """p J cos + q J sin and p J sin - q J cos."""
    cosines, sines = (graph.add("MatMul", wave, couplings) for wave in reversed(waves))
    if (p, q) == (1.0, 0.0):
        return cosines, sines
    c, s = graph.constant(p), graph.constant(q)
    along = graph.add("Add", graph.add("Mul", c, cosines), graph.add("Mul", s, sines))
    return along, graph.add("Sub", graph.add("Mul", c, sines), graph.add("Mul", s, cosines))


def _torque(graph: _Graph, waves: tuple[str, str], pulls: tuple[str, str]) -> str:
    """sin (first pull) - cos (second pull)."""
    sine, cosine = waves
    return graph.add("Sub", graph.add("Mul", sine, pulls[0]), graph.add("Mul", cosine, pulls[1]))
