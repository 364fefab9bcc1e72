"""The branches from exact zero on MNIST, trained for longer, for five teachers in training
order 0. The paper does not state their epochs."""

from __future__ import annotations

from dataclasses import replace

from entrain.training import Stage
from entrain_paper.experiments import shared_stages
from entrain_paper.experiments.comparison import Claim, Comparison
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values, summary
from entrain_paper.experiments.setting import AUXILIARY_RATE, MNIST, Setting

TIMES_LONGER = (1, 3)


def students(setting: Setting) -> dict[tuple[str, int], Stage]:
    """(method, epochs) -> a stage of one student per teacher."""
    path, _ = shared_stages.teacher_students(setting, MNIST)
    stages = {}
    for factor in TIMES_LONGER:
        longer = replace(setting, endpoint_epochs=factor * setting.endpoint_epochs)
        for protocol in shared_stages.FROM_ZERO:
            stage = longer.continue_from(path, protocol, rate=AUXILIARY_RATE)
            stages[protocol, longer.endpoint_epochs] = stage
    return stages


def measure(context: ExperimentContext) -> Values:
    """Test metrics of each teacher's student, by method and epochs."""
    rows = [
        {"method": protocol, "epochs": epochs, **summary(context.test(MNIST, stage))}
        for (protocol, epochs), stage in students(context.setting).items()
    ]
    return {"dataset": MNIST, "rows": rows}


def compare(values: Values) -> Comparison:
    """Claims about both methods at each length."""
    claims = []
    for row in values["rows"]:
        tops = [run["top1"] for run in row["runs"]]
        listed = ", ".join(f"{top:.2f}" for top in tops)
        if row["method"] == "Z-END":
            text, holds = "reaches 95 % with every teacher", min(tops) >= 95
        else:
            text, holds = "stays under 40 % with every teacher", max(tops) < 40
        claims.append(
            Claim(f"{row['method']}, {row['epochs']} epochs: {text}", holds, f"top-1 % {listed}")
        )
    return Comparison((), (), (), tuple(claims), notes=(_NOTE,))


_NOTE = (
    "The numbers are in the order of the teachers' seeds. For the main teacher (seed 0) this is "
    "the branch of the ablation, trained beside other runs. Sums are then taken in another order, "
    "and at this learning rate rounding alone can change the result of a run."
)


EXPERIMENT = Experiment(
    "from-zero",
    "Training from exact zero with more epochs and other teachers",
    "",
    lambda setting: list(students(setting).values()),
    measure,
    compare,
)
