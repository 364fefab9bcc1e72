"""`entrain show`: the sizes, dynamics and training of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rich.table import Column, Table

from entrain.cli.console import number, out, print_json, print_line
from entrain.cli.options import Json, ModelArgument, option

if TYPE_CHECKING:
    from entrain.data import FeatureScaling, Preprocessing, SequenceScaling
    from entrain.tasks import Metric


def command(
    model: ModelArgument,
    card: Annotated[bool, option("Print the card of a shipped model.", name="--card")] = False,
    json: Json = False,
) -> None:
    """Describe MODEL: sizes, dynamics, preprocessing, training, validation metrics, hardware."""
    from dataclasses import asdict

    from entrain.cli.loading import load_model
    from entrain.models.pretrained import card as model_card
    from entrain.physics import TERMS

    if card:
        text = model_card(model)
        if json:
            print_json({"model": model, "card": text})
        elif out.is_terminal:
            from rich.markdown import Markdown

            out.print(Markdown(text, hyperlinks=False))
        else:
            print_line(text)
        return
    path, loaded = load_model(model)
    network, details = loaded.network, loaded.details
    couplings, weights = network.couplings.detach(), network.input_weights.detach()
    result: dict[str, Any] = {
        "model": str(path),
        "bytes": path.stat().st_size,
        "dataset": loaded.dataset,
        "protocol": loaded.protocol,
        "inputs": network.inputs,
        "hidden": network.hidden,
        "outputs": network.outputs,
        "oscillators": network.oscillators,
        "parameters": network.parameter_count,
        "couplers": network.couplers,
        "couplers_used": loaded.couplers_used,
        "hardware": None if loaded.hardware is None else loaded.hardware.to_json(),
        "largest_coupling": float(couplings.abs().max()),
        "largest_input_weight": float(weights.abs().max()),
        "terms": [name for name in TERMS if getattr(network, name) is not None],
        "dynamics": asdict(network.dynamics),
        "preprocessing": asdict(loaded.preprocessing),
        "task": loaded.task.to_json(),
        "class_names": list(loaded.class_names),
        "teacher_widths": None if loaded.teacher is None else list(loaded.teacher.widths),
        "details": {key: value for key, value in details.items() if key != "recipe"},
    }
    if json:
        print_json(result | {"recipe": details.get("recipe")})
        return
    d, used = network.dynamics, loaded.couplers_used
    validation = details.get("validation")
    validation = validation if isinstance(validation, dict) else {}
    in_use = f" ({used:,} in use)" if used < network.couplers else ""
    rows = {
        "file": f"{path} ({result['bytes'] / 1000:.0f} kB)",
        "predicts": f"{loaded.dataset}: {loaded.task.description}",
        "oscillators": f"{network.oscillators} ({network.hidden} hidden, {network.outputs} output)",
        "parameters": f"{network.parameter_count:,}, of them {network.couplers:,} couplers{in_use}",
        "largest": f"coupling {result['largest_coupling']:.3g}, "
        f"input weight {result['largest_input_weight']:.3g}",
        "terms": ", ".join(result["terms"]).replace("_", " ") or "none",
        "dynamics": f"mobility {d.mobility:g}, t_f {d.observation_time:g}, {d.steps} Euler steps",
        "inputs": _inputs(loaded.preprocessing),
        "teacher": "none"
        if loaded.teacher is None
        else "-".join(map(str, (network.inputs, *loaded.teacher.widths, network.outputs))),
        "trained by": ", ".join(
            [loaded.protocol]
            + [f"{name} {details[name]}" for name in ("run", "seed", "epoch") if name in details]
        ),
        "validation": ", ".join(
            f"{metric.title.removesuffix(' %')} "
            f"{number(validation[metric.name], metric.form)}{metric.unit}"
            for metric in _validation_metrics(loaded.task.metrics)
            if metric.name in validation
        )
        or "not measured",
    }
    if loaded.hardware is not None:
        if not loaded.hardware.is_identity:
            rows["validation"] += " (on chips)"
        effects = ", ".join(name.replace("_", " ") for name, _ in loaded.hardware.effects)
        names = (loaded.hardware.name, effects or "ideal chips")
        rows["trained for"] = ": ".join(name for name in names if name)
    cells = Table(Column(style="bold"), Column(), show_header=False, box=None)
    for row in rows.items():
        cells.add_row(*row)
    out.print(cells)


def _validation_metrics(of_task: tuple[Metric, ...]) -> list[Metric]:
    """Metrics of the selected epoch: those of the task, of a teacher, and the loss."""
    from entrain.tasks import Metric

    agreement = Metric("agreement", "agreement", ".2f", " %")
    endpoint = Metric("endpoint_rmse", "endpoint RMSE", ".4f")
    return [*of_task, agreement, endpoint, Metric("cross_entropy", "cross-entropy", ".4f")]


def _inputs(scaling: Preprocessing | FeatureScaling | SequenceScaling) -> str:
    from entrain.data import Preprocessing, SequenceScaling

    if isinstance(scaling, SequenceScaling):
        return f"{_inputs(scaling.channels)}, in {scaling.frames} frames"
    if not isinstance(scaling, Preprocessing):
        if set(scaling.mean) == {0.0} and set(scaling.sd) == {1.0} and scaling.factor == 1.0:
            return f"{scaling.inputs} features, unchanged"
        return f"{scaling.inputs} features, each standardised, times {scaling.factor:.3g}"
    rows, columns = scaling.image_shape
    text = (
        f"{rows} x {columns} pixels, 0 to {scaling.pixel_max:g}; mean {scaling.mean:.3f}, "
        f"SD {scaling.sd:.3f}, norm {scaling.norm:.3f}"
    )
    unseen = f" (unseen {scaling.test_norm:.3f})" if scaling.test_norm != scaling.norm else ""
    return text + unseen
