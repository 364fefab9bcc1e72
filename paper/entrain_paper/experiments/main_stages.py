"""The first few main runs, for measurements of frozen networks."""

from __future__ import annotations

from entrain.training import Stage
from entrain_paper.experiments.setting import BOTH, Setting

METHODS = ("PATH", "TWO-STAGE-END")


def students(setting: Setting, name: str) -> dict[str, Stage]:
    """PATH and TWO-STAGE-END of a dataset."""
    path = setting.main_path(name)
    return {"PATH": path, "TWO-STAGE-END": setting.go_on(path)}


def stages(setting: Setting) -> list[Stage]:
    """Both on both datasets."""
    return [stage for name in BOTH for stage in students(setting, name).values()]
