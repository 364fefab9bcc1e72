"""The auxiliary single run: branches at the larger rate from the first main PATH run."""

from __future__ import annotations

from entrain.training import Stage
from entrain_paper.experiments.setting import AUXILIARY_RATE, BOTH, Setting

CONTINUATIONS = ("PATH-CONT", "PRETRAIN-END-ONLY", "TWO-STAGE-END")
FROM_ZERO = ("Z-END", "ZERO-END-ONLY")


def branch(setting: Setting, name: str, protocol: str) -> Stage:
    """One branch of a dataset: a continuation of PATH's run 0, or from exact zero."""
    path = setting.main_path(name)
    return setting.go_on(path, protocol, runs=(0,), rate=AUXILIARY_RATE)


def pair(setting: Setting, name: str) -> list[Stage]:
    """PATH and TWO-STAGE-END; the single run is the first lane of each."""
    return [setting.main_path(name), branch(setting, name, "TWO-STAGE-END")]


def pairs(setting: Setting) -> list[Stage]:
    """The pair of both datasets."""
    return [stage for name in BOTH for stage in pair(setting, name)]
