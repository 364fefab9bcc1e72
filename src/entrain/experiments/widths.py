"""Teacher and network scaled together: H hidden activations for H hidden oscillators."""

from __future__ import annotations

from entrain.evaluation import summarise
from entrain.experiments.setting import BOTH, Setting, matched_widths
from entrain.experiments.spec import Experiment, Lab, Values, summary
from entrain.learning import Stage, StudentStage


def pair(setting: Setting, name: str, hidden: int) -> tuple[StudentStage, StudentStage]:
    """PATH and TWO-STAGE-END at one width; at the principal width, the principal ones."""
    if hidden == setting.hidden:
        path = setting.principal(name)
    else:
        teacher = setting.teacher(name, matched_widths(hidden))
        path = setting.path(teacher, runs=tuple(range(setting.few_runs)))
    return path, setting.go_on(path)


def stages(setting: Setting) -> list[Stage]:
    """Both stages at every width on both datasets."""
    return [
        stage for name in BOTH for hidden in setting.widths for stage in pair(setting, name, hidden)
    ]


def measure(lab: Lab) -> Values:
    """Teacher, PATH, TWO-STAGE-END and their paired difference at every width."""
    rows: list[Values] = []
    setting = lab.setting
    for name in BOTH:
        for hidden in setting.widths:
            path, end = pair(setting, name, hidden)
            before = lab.test(name, path)[: setting.few_runs]
            after = lab.test(name, end)[: setting.few_runs]
            gains = [b["top1"] - a["top1"] for a, b in zip(before, after, strict=True)]
            gain = summarise(gains)
            rows.append(
                {
                    "dataset": name,
                    "H": hidden,
                    "N": hidden + len(lab.data(name).class_names),
                    "teacher": lab.teacher_test(name, path.teachers[0]),
                    "path": summary(before),
                    "two_stage_end": summary(after),
                    "paired_top1": {"mean": gain.mean, "sd": gain.sd, "runs": gains},
                }
            )
            lab.on_progress(len(rows) / (2 * len(setting.widths)))
    return {"rows": rows}


EXPERIMENT = Experiment(
    "widths", "Hidden-width scaling", "tab:appendix_F2_hidden_width_scaling", stages, measure
)
