"""Stages that several experiments share, which are trained once: the main runs, the paper's
single-run branches at the auxiliary rate, and networks trained on labels (DIRECT)."""

from __future__ import annotations

from dataclasses import replace

from entrain.physics import NetworkSpec
from entrain.rules import Direct, TwoStage
from entrain.rules.direct import tuned
from entrain.training import Stage
from entrain_paper.experiments.setting import AUXILIARY_RATE, BOTH, MNIST, Setting

METHODS = ("PATH", "TWO-STAGE-END")
CONTINUATIONS = ("PATH-CONT", "PRETRAIN-END-ONLY", "TWO-STAGE-END")
FROM_ZERO = ("Z-END", "ZERO-END-ONLY")


def main_students(setting: Setting, name: str) -> dict[str, Stage]:
    """PATH and TWO-STAGE-END of a dataset, by method."""
    path = setting.main_path(name)
    return {"PATH": path, "TWO-STAGE-END": setting.continue_from(path)}


def main_stages(setting: Setting) -> list[Stage]:
    """PATH and TWO-STAGE-END on both datasets."""
    return [stage for name in BOTH for stage in main_students(setting, name).values()]


def teacher_students(setting: Setting, name: str) -> tuple[Stage, Stage]:
    """PATH and TWO-STAGE-END of teachers of several seeds, one student per teacher side by side,
    all in training order 0."""
    teachers = [setting.teacher(name, seed=seed) for seed in range(setting.sweep_seeds)]
    path = setting.path(*teachers, runs=(0,) * len(teachers))
    return path, setting.continue_from(path)


def branch(setting: Setting, name: str, protocol: str) -> Stage:
    """One single-run branch: a continuation of PATH's run 0, or from exact zero."""
    path = setting.main_path(name)
    return setting.continue_from(path, protocol, runs=(0,), rate=AUXILIARY_RATE)


def branch_pair(setting: Setting, name: str) -> list[Stage]:
    """PATH and the TWO-STAGE-END branch; the single run is the first of each."""
    return [setting.main_path(name), branch(setting, name, "TWO-STAGE-END")]


def branch_pairs(setting: Setting) -> list[Stage]:
    """PATH and the TWO-STAGE-END branch on both datasets."""
    return [stage for name in BOTH for stage in branch_pair(setting, name)]


def exact_path(path: Stage) -> Stage:
    """PATH solved exactly: at the minimum of the path loss."""
    assert isinstance(path.rule, TwoStage)
    return replace(path, rule=replace(path.rule, solver="exact", epochs=1))


def direct_stage(
    setting: Setting,
    name: str,
    hidden: int | None = None,
    *,
    augmented: bool = True,
    epochs: int | None = None,
) -> Stage:
    """DIRECT networks of one size, one per run, with the settings tuned for the dataset."""
    dataset = setting.dataset(name)
    epochs = setting.direct_epochs if epochs is None else epochs
    rule = tuned(Direct(), dataset, epochs=epochs, augmented=augmented)
    return Stage(
        replace(rule, batch_size=setting.batch_size),
        dataset,
        NetworkSpec(hidden=setting.hidden if hidden is None else hidden),
        runs=tuple(range(setting.few_runs)),
    )


def refined(rule: Direct, name: str) -> Direct:
    """`rule` with the settings of results/searches/records-*.json that were best on validation at
    the main size."""
    if name == MNIST:
        return replace(rule, input_rate=5e-3)
    return replace(rule, weight_decay=0.03, averaging=0.9995)
