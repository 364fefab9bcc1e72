"""Training rules: how a network is trained, one rule a file.

A rule is a frozen dataclass (`interface.Rule`). `RULES` names the kinds that files may hold,
`PROTOCOLS` the rules that have a name of their own, as on the command line.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from entrain.rules.augmentation import Augmentation
from entrain.rules.direct import DIRECT_PROTOCOLS, Direct
from entrain.rules.equilibrium import EQUILIBRIUM_PROTOCOLS, EquilibriumPropagation
from entrain.rules.interface import Assignment, Rule, Task, Tensors
from entrain.rules.pretrained import Pretrained
from entrain.rules.spsa import SPSA_PROTOCOLS, SimultaneousPerturbation
from entrain.rules.teacher import TeacherSpec
from entrain.rules.two_stage import PAPER_PROTOCOLS, Solver, TwoStage
from entrain.utils.errors import InputError, unknown_name

__all__ = [
    "DIRECT_PROTOCOLS",
    "PAPER_PROTOCOLS",
    "PROTOCOLS",
    "RULES",
    "Assignment",
    "Augmentation",
    "Direct",
    "EquilibriumPropagation",
    "Pretrained",
    "Rule",
    "SimultaneousPerturbation",
    "Solver",
    "Task",
    "TeacherSpec",
    "Tensors",
    "TwoStage",
    "from_json",
    "protocol_named",
]

RULES: dict[str, type[Rule]] = {
    rule.kind: rule
    for rule in (
        TeacherSpec,
        TwoStage,
        Direct,
        EquilibriumPropagation,
        SimultaneousPerturbation,
        Pretrained,
    )
}
PROTOCOLS: dict[str, Rule] = {
    **PAPER_PROTOCOLS,
    **DIRECT_PROTOCOLS,
    **EQUILIBRIUM_PROTOCOLS,
    **SPSA_PROTOCOLS,
}


def protocol_named(name: str) -> Rule:
    """The protocol of that name, upper or lower case."""
    if name.upper() not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name.upper()]


def from_json(values: dict[str, Any]) -> Rule:
    """The rule of `Rule.to_json`, checked like any other.

    Version 0.1 wrote no kind: what has an augmentation was DIRECT.
    """
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, Sequence) and not isinstance(value, str) else value
        for name, value in values.items()
    }
    kind = plain.pop("rule", "direct" if "augmentation" in plain else "two-stage")
    if kind not in RULES:
        raise unknown_name("rule", str(kind), RULES)
    try:
        return RULES[kind].from_settings(plain)
    except TypeError as error:
        raise InputError(f"not a complete {kind} rule: {error}") from error
