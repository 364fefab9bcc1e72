"""Tables of networks among published ones, and of the additional experiments."""

from __future__ import annotations

from entrain_paper.experiments.paper_numbers import paper_numbers
from entrain_paper.report.bake_off import bake_off
from entrain_paper.report.chip_tables import CHIP_TABLES
from entrain_paper.report.control_tables import CONTROL_TABLES
from entrain_paper.report.markdown import (
    Column,
    Format,
    Row,
    metric_sd,
    percent,
    plain,
    table,
)
from entrain_paper.report.order_tables import ORDER_TABLES
from entrain_paper.report.rule_tables import RULE_TABLES

_LETTERS = (
    "Superscripts: H hardware, S simulation, D stated in the source, A counted from the stated "
    "architecture. NR: not reported. Cited rows are those of the paper's table."
)


def _system(row: Row) -> str:
    return f"{row['system']}, {row['source']}" if "source" in row else f"**{row['system']}**"


def _paper_row(name: str) -> Row:
    """The row of the paper's network in one of its tables."""
    (row,) = (row for row in paper_numbers()[name]["rows"] if "citation" not in row)
    return {**row, "system": "the paper"}


def _top1(row: Row) -> str:
    values = []
    for label, name in (("MNIST", "mnist"), ("Fashion", "fashion")):
        mean = row.get(f"{name}_top1_mean", row.get(f"{name}_top1"))
        if text := percent(mean, row.get(f"{name}_top1_sd")):
            approx = "about " if row.get(f"{name}_top1_approx") else ""
            alternative = row.get(f"{name}_top1_mean_alt")
            values.append(
                f"{label} {approx}{text}" + (f" / {percent(alternative)}" if alternative else "")
            )
        elif row.get(f"{name}_top1_min"):
            values.append(f"{label} {row[f'{name}_top1_min']} to {row[f'{name}_top1_max']}")
    if row.get("other_task_top1_mean"):
        values.append(percent(row["other_task_top1_mean"], row.get("other_task_top1_sd")))
    letter = row.get("prov_accuracy")
    return "; ".join(values) + (f"<sup>{letter}</sup>" if letter else "")


def _evolutions(row: Row) -> str:
    if "stage1_rollouts" in row:
        return f"{row['stage1_rollouts']} in Stage I, {row['stage2_rollouts']} in Stage II"
    samples = row.get("samples_per_phase")
    suffix = f"; {samples} samples per phase, of which the lowest in energy" if samples else ""
    return f"{row.get('evolutions_per_update', 'NR')} ({row['evolution_kind']}{suffix})"


def _hidden(row: Row) -> str:
    hidden = plain("hidden", "hidden")(row)
    return f"{hidden} / {row['hidden_alt']}" if "hidden_alt" in row else hidden


def _evidence(row: Row) -> str:
    spins = row.get("physical_spins_per_logical")
    suffix = f", about {spins} physical spins per logical spin" if spins else ""
    return plain("implementation", "implementation")(row) + suffix


def resources(values: Row) -> str:
    """Oscillators, input coefficients and couplers."""
    columns: list[Column] = [
        ("system", _system),
        ("platform", plain("platform", "platform")),
        ("task", plain("task", "task")),
        ("top-1 %", _top1),
        ("hidden", _hidden),
        ("output", plain("output", "output")),
        ("variables", plain("total", "total")),
        ("input coefficients", plain("input_coefficients", "input_coefficients")),
        ("couplers", plain("couplers", "couplers")),
        ("input encoding", plain("input_encoding", "input_encoding")),
        ("evidence", _evidence),
    ]
    rows = [values["ours"], _paper_row("cross_platform_resources"), *values["others"]]
    return table(rows, columns) + "\n\n" + _LETTERS


def protocols(values: Row) -> str:
    """Use of the dynamics in training and inference."""
    columns: list[Column] = [
        ("system", _system),
        ("training rule", plain("training_rule", "training_rule")),
        ("states used", plain("training_states", "training_states")),
        ("evolutions per update", _evolutions),
        ("trained on", plain("training_hardware", "training_hardware")),
        ("update", plain("update", "update")),
        ("read out", plain("inference_state", "inference_state")),
        ("inference", plain("inference_evolution", "inference_evolution")),
    ]
    rows = [values["ours"], _paper_row("cross_platform_training"), *values["others"]]
    return table(rows, columns) + "\n\n" + _LETTERS


def broader(values: Row) -> str:
    """State variables, dynamics and readout of other dynamical classifiers."""
    columns: list[Column] = [
        ("system", _system),
        ("substrate", plain("substrate")),
        ("architecture", plain("architecture")),
        ("variables", plain("n_dyn")),
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
    text = (
        f"Whitelam: mean of {notes['whitelam_ensemble_size']} trajectories (a single one has "
        f"{notes['whitelam_mnist_single_trajectory_top1']} %). Its Fashion-MNIST value is derived: "
        f"{notes['whitelam_fashion_fraction_of_teacher_percent']} % of a teacher's "
        f"{notes['whitelam_fashion_teacher_top1']} %. SubDEQ: a test error of "
        f"{notes['subdeq_test_error_mean']} ± {notes['subdeq_test_error_sd']} % on another split "
        f"({' / '.join(f'{part:g}' for part in notes['subdeq_split_percent'])} % for training, "
        f"validation and test). AOC: {notes['aoc_weights']} weights, read from a figure. The count "
        "covers its analog core, not the digital maps before and after it. nmODE: the range of "
        f"{notes['nmode_models']} models. Their vote has {notes['nmode_voting_top1']} %. SNN: "
        f"{notes['snn_neurons']} spiking neurons on both datasets, not scalar variables."
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
        ("top-1 %", lambda row: f"{row['top1']:.2f}"),
    ]
    missing = "; ".join(values["without_printed_accuracy"])
    return (
        table([*rows, *values["others"]], columns)
        + "\n\nThe paper's figure also shows these works but prints no accuracies for them, so our "
        f"figure leaves them out: {missing}."
    )


def records(values: Row) -> str:
    """Accuracy by size."""

    def epochs(row: Row) -> str:
        selected = [run["epoch"] for run in row["runs"]]
        return f"{min(selected)} to {max(selected)} of {row['epochs']}"

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("oscillators", plain("N")),
        ("augmentation", lambda row: "yes" if row["augmented"] else "no"),
        ("validation top-1 %", metric_sd("validation_top1")),
        ("test top-1 %", metric_sd("top1")),
        ("test top-2 %", metric_sd("top2")),
        ("runs", lambda row: str(len(row["runs"]))),
        ("selected epochs", epochs),
    ]
    return table(values["rows"], columns)


def teacher_needed(values: Row) -> str:
    """Accuracy by start and objective, and the epochs to each validation accuracy."""
    first = values["rows"][0]

    def epoch(level: str) -> Format:
        def form(row: Row) -> str:
            epochs = row["reached"][level]
            listed = ", ".join("never" if epoch is None else str(epoch) for epoch in epochs)
            return listed if any(epochs) else "never"

        return form

    columns: list[Column] = [
        ("start", plain("start")),
        ("objective", plain("objective")),
        ("test top-1 %", metric_sd("top1")),
        *((f"first epoch with {level} % validation", epoch(level)) for level in first["reached"]),
    ]
    text = (
        f"Epochs: one number per run, of {first['epochs']} epochs, without those of teachers and "
        "path training. Exact zero is a saddle point without a gradient of the couplings, which "
        "AdamW leaves slowly."
    )
    return table(values["rows"], columns) + "\n\n" + text


def anytime(values: Row) -> str:
    """Accuracy of early readout, of early stopping, and of networks trained for other times."""

    def at(time: float) -> Format:
        def form(row: Row) -> str:
            index = min(range(len(row["time"])), key=lambda i: abs(row["time"][i] - time))
            return f"{row['top1'][index]:.2f}"

        return form

    def stop(margin: float) -> Format:
        def form(row: Row) -> str:
            index = row["margins"].index(margin)
            return f"{row['exit_top1'][index]:.2f} at {row['exit_time'][index]:.2f}"

        return form

    columns: list[Column] = [
        ("dataset", plain("dataset")),
        ("method", plain("method")),
        *((f"t = {time:g} t_f", at(time)) for time in (0.1, 0.2, 0.5, 1.0)),
        *((f"stop at margin {margin:g}", stop(margin)) for margin in (0.1, 0.2, 0.4)),
    ]
    trained: list[Column] = [
        ("dataset", plain("dataset")),
        ("trained for t_f", lambda row: f"{row['observation_time']:g}"),
        ("test top-1 %", lambda row: percent(row["mean"], row["sd"])),
    ]
    return (
        "Test top-1 % for readout at a fraction of the observation time. In the last columns, each "
        "image stops when its largest output leads by a margin; they give the accuracy and the "
        "mean time.\n\n"
        + table(values["rows"], columns)
        + "\n\nNetworks trained for other observation times (DIRECT, a quarter of the epochs):\n\n"
        + table(values["trained"], trained)
    )


TABLES: dict[str, Format] = {
    "records": records,
    "fine-records": records,
    "teacher-needed": teacher_needed,
    "anytime": anytime,
    "resources": resources,
    "training-protocols": protocols,
    "broader-context": broader,
    "oscillator-scale": scale,
    "bake-off": bake_off,
    **CONTROL_TABLES,
    **ORDER_TABLES,
    **CHIP_TABLES,
    **RULE_TABLES,
}
