"""The systems of the bake-off by name, and the experiments that measure a choice of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entrain.utils.errors import unknown_name
from entrain_paper.experiments.bake_off import EXPERIMENT, experiment
from entrain_paper.experiments.bake_off_own import OWN
from entrain_paper.experiments.setting import BOTH, PAPER, Setting
from entrain_paper.experiments.spec import Experiment
from entrain_paper.peers import SYSTEMS

ALL = "all"
_CLASSES = 10  # of both datasets
_OWN = {each.name: each for each in OWN}


@dataclass(frozen=True)
class Entry:
    """One system: `cited` is its published test accuracy in percent by dataset."""

    name: str
    title: str
    cited: dict[str, float]
    variables: int
    is_ours: bool


def entries(setting: Setting = PAPER) -> list[Entry]:
    """Every system that is measured, those of others first."""
    theirs = [
        Entry(each.name, each.title, dict(each.cited), each.variables, False)
        for each in SYSTEMS.values()
    ]
    ours = []
    for each in OWN:
        cited = {name: top for name in BOTH if (top := each.cited(name)) is not None}
        hidden = each.stage(setting, BOTH[0]).network.hidden
        ours.append(Entry(each.name, each.title, cited, hidden + _CLASSES, True))
    return theirs + ours


def datasets_named(name: str | None) -> tuple[str, ...]:
    """The dataset of that name in upper or lower case; both where there is none."""
    if name is None:
        return BOTH
    found = tuple(each for each in BOTH if each.lower() == name.lower())
    if not found:
        raise unknown_name("dataset", name, BOTH)
    return found


def systems_named(names: Sequence[str]) -> list[str]:
    """These names, each once; every system for `all`."""
    known = [*SYSTEMS, *_OWN]
    if ALL in names:
        return known
    for name in names:
        if name not in known:
            raise unknown_name("system", name, (ALL, *known))
    return list(dict.fromkeys(names))


def experiments(names: Sequence[str], datasets: Sequence[str] = BOTH) -> list[Experiment]:
    """The whole bake-off as one experiment; for a choice, one experiment per system.

    A later, larger choice then measures no system again.
    """
    ending = "" if tuple(datasets) == BOTH else "-" + "-".join(datasets).lower()
    if ALL in names:
        if not ending:
            return [EXPERIMENT]
        name = EXPERIMENT.name + ending
        return [experiment(list(SYSTEMS.values()), name, OWN, datasets)]
    found = []
    for each in systems_named(names):
        name = f"{EXPERIMENT.name}-{each}{ending}"
        if each in SYSTEMS:
            found.append(experiment([SYSTEMS[each]], name, datasets=datasets))
        else:
            found.append(experiment([], name, [_OWN[each]], datasets))
    return found
