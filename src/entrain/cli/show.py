"""`entrain show`: the sizes, dynamics and training of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from rich.markdown import Markdown
from rich.table import Column, Table

from entrain.cli.console import number, out, print_json, print_line
from entrain.cli.options import Json, ModelArgument, option

if TYPE_CHECKING:
    from entrain.data import FeatureScaling, Preprocessing

# Validation metrics of the selected epoch: name, title, format, unit.
VALIDATION = (
    ("top1", "top-1", ".2f", " %"),
    ("agreement", "agreement", ".2f", " %"),
    ("endpoint_rmse", "endpoint RMSE", ".4f", ""),
    ("cross_entropy", "cross-entropy", ".4f", ""),
)


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
        "task": f"{loaded.dataset}: {', '.join(loaded.class_names)}",
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
            f"{title} {number(validation[name], form)}{unit}"
            for name, title, form, unit in VALIDATION
            if name in validation
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


def _inputs(scaling: Preprocessing | FeatureScaling) -> str:
    from entrain.data import Preprocessing

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
