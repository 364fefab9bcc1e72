"""The principal result: PATH, PATH-CONT and TWO-STAGE-END over paired training orders."""

from __future__ import annotations

from entrain.experiments.setting import BOTH, Setting
from entrain.experiments.spec import Experiment, Lab, Values, summary
from entrain.learning import Stage, StudentStage

METHODS = ("PATH", "PATH-CONT", "TWO-STAGE-END")


def students(setting: Setting, name: str) -> dict[str, StudentStage]:
    """The stage of each method; the continuations start from the same PATH checkpoints."""
    path = setting.principal(name)
    return {"PATH": path} | {method: setting.go_on(path, method) for method in METHODS[1:]}


def stages(setting: Setting) -> list[Stage]:
    """Every method on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name).values()]


def measure(lab: Lab) -> Values:
    """Test metrics of every run, with mean and sample SD, and the range of selected epochs."""
    rows = []
    for name in BOTH:
        for method, stage in students(lab.setting, name).items():
            rows.append({"dataset": name, "method": method, **summary(lab.test(name, stage))})
            lab.on_progress(len(rows) / 6)
    return {"rows": rows}


EXPERIMENT = Experiment(
    "multiseed",
    "Autonomous inference over paired training orders",
    "tab:appendix_B1_multiseed_main_results_lr10",
    stages,
    measure,
)
