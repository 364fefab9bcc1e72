r"""A network with its input weights as an ONNX graph: raw pixels or features in, scores out.

    pixels (M, D) -> u -> fields b (M, N) -> K Euler steps of the phases -> scores (M, O)

in float32. The rollout is one `Loop` of K turns; a turn takes two matrix products, of the sine and
of the cosine of all phases, by the sums of `physics.phase_model`. Couplings and fields hold the
factor -mu dt already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from entrain.export.design import Design
from entrain.utils.errors import InputError

FILE = "network.onnx"
_OPSET, _IR_VERSION = 17, 8  # of 2022, which every runtime of today reads
_INPUT, _SCORES, _PHASES = "pixels", "scores", "phases"


@dataclass(frozen=True)
class Onnx:
    """An ONNX graph: nothing to choose."""

    def to_json(self) -> dict[str, Any]:
        """As a design keeps it."""
        return {"to": "onnx"}


def onnx_file(design: Design) -> bytes:
    """The graph as a file's content."""
    onnx, _ = _packages()
    graph = _Graph(onnx.helper)
    theta = _rollout(graph, design, _fields(graph, design))
    graph.add("Identity", theta, out=_PHASES)
    picked = graph.add("Gather", _PHASES, graph.whole(_read(design)), axis=1)
    graph.add("Cos", picked, out=_SCORES)
    made = graph.model(
        design.title,
        {_INPUT: _front(design).raw.shape[1]},
        {_SCORES: design.outputs, _PHASES: design.oscillators},
    )
    onnx.helper.set_model_props(made, {"class_names": ", ".join(design.class_names)})
    onnx.checker.check_model(made, full_check=True)
    return bytes(made.SerializeToString(deterministic=True))


def run_onnx(content: bytes, raw: np.ndarray) -> np.ndarray:
    """The phases at the end (M, N) of raw inputs (M, D) in onnxruntime, on the processor."""
    _, runtime = _packages()
    options = runtime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = runtime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
        (phases,) = session.run([_PHASES], {_INPUT: raw.astype(np.float32)})
    except Exception as error:  # onnxruntime's own have no common base
        raise InputError(f"onnxruntime cannot run the graph ({str(error)[:300]})") from error
    return np.asarray(phases, dtype=np.float64)


def _packages() -> tuple[Any, Any]:
    try:
        import onnx
        import onnxruntime
    except ImportError as error:
        raise InputError(
            "ONNX takes the packages onnx and onnxruntime: pip install 'entrain[onnx]'"
        ) from error
    return onnx, onnxruntime


def _front(design: Design) -> Any:
    if design.front is None:
        raise InputError("the design has no input weights; export the model to onnx again")
    return design.front


def _read(design: Design) -> np.ndarray:
    """Which oscillators are read."""
    return np.arange(design.oscillators - design.outputs, design.oscillators)


class _Graph:
    """Nodes and constants by name, in the order in which they were added."""

    def __init__(self, helper: Any, prefix: str = "") -> None:
        self.helper, self.prefix = helper, prefix
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, operation: str, *inputs: str, out: str = "", **attributes: Any) -> str:
        """One more node; the name of its output."""
        name = out or f"{self.prefix}{operation.lower()}{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, list(inputs), [name], **attributes))
        return name

    def number(self, values: Any) -> str:
        """A constant in float32."""
        with np.errstate(over="ignore"):
            found = np.asarray(values, dtype=np.float64).astype(np.float32)
        if not np.isfinite(found).all():
            raise InputError("the design has numbers beyond those of float32")
        return self._constant(found, 1)

    def whole(self, values: Any) -> str:
        """A constant of whole numbers."""
        return self._constant(np.asarray(values, dtype=np.int64), 7)

    def _constant(self, array: np.ndarray, kind: int) -> str:
        name = f"{self.prefix}constant{len(self.constants)}"
        made = self.helper.make_tensor(name, kind, array.shape, array.tobytes(), raw=True)
        self.constants.append(made)
        return name

    def model(self, name: str, inputs: dict[str, int], outputs: dict[str, int]) -> Any:
        """Everything, with the widths of what comes and goes."""
        ends = [
            [self.helper.make_tensor_value_info(each, 1, ["images", width]) for each, width in some]
            for some in (inputs.items(), outputs.items())
        ]
        graph = self.helper.make_graph(self.nodes, name, *ends, self.constants)
        opset = [self.helper.make_opsetid("", _OPSET)]
        return self.helper.make_model(
            graph, opset_imports=opset, ir_version=_IR_VERSION, producer_name="entrain"
        )


def _fields(graph: _Graph, design: Design) -> str:
    """-mu dt b of raw inputs."""
    front = _front(design)
    factor = -design.dynamics.mobility * design.dynamics.time_step
    centred = graph.add("Sub", _INPUT, graph.number(front.mean.numpy()))
    u = graph.add("Mul", centred, graph.number(front.scale.numpy()))
    if float(front.norm):
        length = graph.add("ReduceL2", u, axes=[1], keepdims=1)
        u = graph.add("Div", graph.add("Mul", u, graph.number(front.norm.numpy())), length)
    hidden, inputs = front.input_weights.shape
    weights = np.zeros((inputs, design.oscillators))
    weights[:, :hidden] = factor * front.input_weights.numpy().T
    product = graph.add("MatMul", u, graph.number(weights))
    return graph.add("Add", product, graph.number(factor * front.biases.numpy()))


def _rollout(graph: _Graph, design: Design, fields: str) -> str:
    """The phases at the end."""
    begun = graph.add("Mul", fields, graph.number(0.0))
    theta = graph.add("Add", begun, graph.number(design.start))
    body = _Graph(graph.helper, "step_")
    after = body.add("Identity", _step(body, design, "step_theta", fields), out="step_after")
    helper, shape = graph.helper, ["images", design.oscillators]
    body.add("Identity", "step_go", out="step_on")
    turn = helper.make_graph(
        body.nodes,
        "step",
        [
            helper.make_tensor_value_info("step_index", 7, []),
            helper.make_tensor_value_info("step_go", 9, []),
            helper.make_tensor_value_info("step_theta", 1, shape),
        ],
        [
            helper.make_tensor_value_info("step_on", 9, []),
            helper.make_tensor_value_info(after, 1, shape),
        ],
        body.constants,
    )
    return graph.add("Loop", graph.whole(design.dynamics.steps), "", theta, body=turn)


def _step(graph: _Graph, design: Design, theta: str, fields: str) -> str:
    """One Euler step of the phases."""
    model, dt = design.phase_model, design.dynamics.time_step
    factor = -design.dynamics.mobility * dt
    couplings = graph.number(factor * design.couplings.T)
    sine, cosine = graph.add("Sin", theta), graph.add("Cos", theta)
    lag = 0.0 if model.lag is None else float(model.lag[0])
    turned = _turned(graph, couplings, (sine, cosine), (float(np.cos(lag)), float(np.sin(lag))))
    pull = graph.add("Add", fields, turned[0])
    change = _torque(graph, (sine, cosine), (pull, turned[1]))
    doubled: tuple[str, str] | None = None
    if model.harmonic is not None or model.injection is not None:
        twice = graph.add("Add", theta, theta)
        doubled = graph.add("Sin", twice), graph.add("Cos", twice)
    if model.harmonic is not None and doubled is not None:
        parts = tuple(float(each) for each in model.harmonic[0])
        pulls = _turned(graph, couplings, doubled, (parts[0], parts[1]))
        change = graph.add("Add", change, _torque(graph, doubled, pulls))
    if (injection := design.shared("injection")) is not None and doubled is not None:
        pushed = graph.add("Mul", doubled[0], graph.number(2.0 * factor * injection))
        change = graph.add("Add", change, pushed)
    if (frequencies := design.shared("frequencies")) is not None:
        change = graph.add("Add", change, graph.number(dt * frequencies))
    return graph.add("Add", theta, change)


def _turned(
    graph: _Graph, couplings: str, waves: tuple[str, str], turn: tuple[float, float]
) -> tuple[str, str]:
    """p J cos + q J sin and p J sin - q J cos, of `turn` (p, q)."""
    along, across = (graph.add("MatMul", wave, couplings) for wave in reversed(waves))
    if turn == (1.0, 0.0):
        return along, across
    p, q = (graph.number(each) for each in turn)
    first = graph.add("Add", graph.add("Mul", p, along), graph.add("Mul", q, across))
    return first, graph.add("Sub", graph.add("Mul", p, across), graph.add("Mul", q, along))


def _torque(graph: _Graph, waves: tuple[str, str], pulls: tuple[str, str]) -> str:
    """sin (first pull) - cos (second pull)."""
    sine, cosine = waves
    return graph.add("Sub", graph.add("Mul", sine, pulls[0]), graph.add("Mul", cosine, pulls[1]))
