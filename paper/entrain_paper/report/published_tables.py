"""Tables of our network among published ones, with the qualifiers and footnotes of the paper."""

from __future__ import annotations

from entrain.utils import escape
from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.report.markdown import Column, Format, Row, percent, plain, table

_LETTERS = (
    "Superscripts: H hardware, S simulation, D stated in the source, A counted from the stated "
    "architecture. NR: not reported with enough information for the count. Reported accuracies "
    "are of different tasks and protocols. They identify an operating point and are no ranking; "
    "logical counts are no hardware footprint. Cited rows are those of the paper's table."
)
# The paper's footnotes, by system and dataset.
_MARKS = {
    ("Whitelam", "mnist"): "†",
    ("Whitelam", "fashion"): "#",
    ("SubDEQ", "mnist"): "‡",
    ("AOC", "mnist"): "¶",
    ("AOC", "fashion"): "¶",
    ("nmODE", "mnist"): "‖",
}
_VARIABLE_MARKS = {"SNN": "§"}


def _system(row: Row) -> str:
    return f"{row['system']}, {row['source']}" if "source" in row else f"**{row['system']}**"


def _paper_row(name: str) -> Row:
    """The row of the paper's network in one of its tables."""
    (row,) = (row for row in paper_numbers()[name]["rows"] if "citation" not in row)
    return {**row, "system": "the paper"}


def _qualified(name: str, part: str, form: Format) -> Format:
    """A format followed by the paper's qualifier of a field in its table `part`."""
    qualifiers = paper_numbers()["cross_platform_qualifiers"][part]

    def cell(row: Row) -> str:
        own = qualifiers.get(row.get("citation", ""), {})
        return form(row) + (f"; {own[name]}" if name in own else "")

    return cell


def _top1(row: Row) -> str:
    """Reported accuracies; NR for a dataset of the table without one."""
    values = []
    for label, name in (("MNIST", "mnist"), ("Fashion", "fashion")):
        mark = _MARKS.get((row["system"], name), "")
        mark = f"<sup>{mark}</sup>" if mark else ""
        mean = row.get(f"{name}_top1_mean", row.get(f"{name}_top1"))
        if text := percent(mean, row.get(f"{name}_top1_sd")):
            approx = "about " if row.get(f"{name}_top1_approx") else ""
            other = row.get(f"{name}_top1_mean_alt")
            suffix = f" / {percent(other)}" if other else ""
            values.append(f"{label} {approx}{text}{mark}{suffix}")
        elif row.get(f"{name}_top1_min"):
            span = f"{row[f'{name}_top1_min']} to {row[f'{name}_top1_max']}"
            values.append(f"{label} {span}{mark}")
        elif f"{name}_top1_approx" in row:  # the table has a column for this dataset
            values.append(f"{label} NR")
    if row.get("other_task_top1_mean"):
        values.append(percent(row["other_task_top1_mean"], row.get("other_task_top1_sd")))
    letter = row.get("prov_accuracy")
    return "; ".join(values) + (f"<sup>{letter}</sup>" if letter else "")


def _evolutions(row: Row) -> str:
    if "stage1_rollouts" in row:
        return f"{row['stage1_rollouts']} in Stage I, {row['stage2_rollouts']} in Stage II"
    samples = row.get("samples_per_phase")
    suffix = f"; {samples} samples per phase, of which the lowest in energy" if samples else ""
    count, kind = row.get("evolutions_per_update", "NR"), row["evolution_kind"]
    return f"{count} ({escape.markdown(str(kind))}{suffix})<sup>D</sup>"


def _hidden(row: Row) -> str:
    hidden = plain("hidden", "hidden")(row)
    return f"{hidden} / {row['hidden_alt']}" if "hidden_alt" in row else hidden


def _variables(row: Row) -> str:
    mark = _VARIABLE_MARKS.get(row["system"], "")
    return plain("n_dyn")(row) + (f"<sup>{mark}</sup>" if mark else "")


def resources(values: Row) -> str:
    """Oscillators, input coefficients and couplers."""
    columns: list[Column] = [
        ("system", _system),
        ("platform", plain("platform", "platform")),
        ("task", plain("task", "task")),
        ("top-1 %", _top1),
        ("hidden", _hidden),
        ("output", plain("output", "output")),
        ("logical variables", plain("total", "total")),
        ("input coefficients", plain("input_coefficients", "input_coefficients")),
        ("couplers", _qualified("couplers", "resources", plain("couplers", "couplers"))),
        ("input encoding", plain("input_encoding", "input_encoding")),
        (
            "evidence",
            _qualified("implementation", "resources", plain("implementation", "implementation")),
        ),
    ]
    rows = [values["ours"], _paper_row("cross_platform_resources"), *values["others"]]
    return table(rows, columns) + "\n\n" + _LETTERS


def protocols(values: Row) -> str:
    """Use of the dynamics in training and inference."""
    inference = plain("inference_evolution", "inference_evolution")
    columns: list[Column] = [
        ("system", _system),
        ("training rule", plain("training_rule", "training_rule")),
        ("states used", plain("training_states", "training_states")),
        ("evolutions per update", _qualified("evolutions", "training", _evolutions)),
        ("trained on", plain("training_hardware", "training_hardware")),
        ("update", _qualified("update", "training", plain("update", "update"))),
        ("read out", plain("inference_state", "inference_state")),
        ("inference", _qualified("inference_evolution", "training", inference)),
    ]
    rows = [values["ours"], _paper_row("cross_platform_training"), *values["others"]]
    return table(rows, columns) + "\n\n" + _LETTERS


def broader(values: Row) -> str:
    """State variables, dynamics and readout of other dynamical classifiers."""
    columns: list[Column] = [
        ("system", _system),
        ("substrate", plain("substrate")),
        ("architecture", plain("architecture")),
        ("variables", _variables),
        ("regime", plain("regime")),
        ("structure", plain("structure")),
        ("input", plain("input")),
        ("interactions", plain("interactions")),
        ("trained readout", plain("readout")),
        ("read out", plain("prediction_state")),
        ("top-1 %", _top1),
        ("evidence", plain("implementation")),
    ]
    notes = values["notes"]
    split = " / ".join(f"{part:g}" for part in notes["subdeq_split_percent"])
    text = (
        f"† Mean of {notes['whitelam_ensemble_size']} trajectories; a single one has "
        f"{notes['whitelam_mnist_single_trajectory_top1']} %. "
        f"# Derived: {notes['whitelam_fashion_fraction_of_teacher_percent']} % of a teacher's "
        f"{notes['whitelam_fashion_teacher_top1']} %. "
        f"‡ A test error of {notes['subdeq_test_error_mean']} ± {notes['subdeq_test_error_sd']} % "
        f"on another split ({split} % for training, validation and test). "
        f"¶ {notes['aoc_weights']} weights on hardware, read from a figure; the count covers the "
        "analog core, not the digital maps before and after it. "
        f"‖ The range of {notes['nmode_models']} models; their vote "
        f"({notes['nmode_voting_top1']} %) is not used. "
        f"§ {notes['snn_neurons']} spiking neurons on both datasets, which are no scalar "
        "variables. NR: not reported."
    )
    rows = [values["ours"], _paper_row("broader_context"), *values["others"]]
    return table(rows, columns) + "\n\n" + text


def scale(values: Row) -> str:
    """The points of the figure, and works without a printed accuracy."""
    rows = [{"system": "Entrain", "task": "MNIST", **point} for point in values["ours"]]
    columns: list[Column] = [
        ("system", _system),
        ("task", plain("task")),
        ("oscillators", plain("oscillators")),
        ("top-1 %", lambda row: percent(row["top1"])),
    ]
    missing = "; ".join(values["without_printed_accuracy"])
    return (
        table([*rows, *values["others"]], columns)
        + "\n\nThe paper's figure also shows these works but prints no accuracies for them, so our "
        f"figure leaves them out: {missing}. OscNet v1.5 (Cai et al.) evolves 784 phase variables "
        "in each pairwise rollout."
    )


PUBLISHED_TABLES: dict[str, Format] = {
    "resources": resources,
    "training-protocols": protocols,
    "broader-context": broader,
    "oscillator-scale": scale,
}
