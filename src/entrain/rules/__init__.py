"""Training rules, one a file.

A rule is a frozen dataclass (`interface.Rule`) beside the training that computes its gradient.
`RULES` are the classes by their tag in files, `PROTOCOLS` the rules by their name on the command
line.
"""

from __future__ import annotations

from typing import Any

from entrain.rules.augmentation import Augmentation
from entrain.rules.direct import DIRECT_PROTOCOLS, Direct
from entrain.rules.equilibrium import EQUILIBRIUM_PROTOCOLS, EquilibriumPropagation
from entrain.rules.equilibrium_gradient import ep_gradient
from entrain.rules.gradient_rule import GradientRule
from entrain.rules.gradient_training import GradientTraining
from entrain.rules.interface import Assignment, Rule, Tensors, Training
from entrain.rules.pretrained import Pretrained
from entrain.rules.spsa import SPSA_PROTOCOLS, SimultaneousPerturbation
from entrain.rules.teacher import TeacherSpec
from entrain.rules.two_stage import PAPER_PROTOCOLS, Solver, TwoStage
from entrain.utils.errors import InputError, unknown_name

__all__ = ["DIRECT_PROTOCOLS", "PAPER_PROTOCOLS", "PROTOCOLS", "RULES", "Assignment"]
__all__ += ["Augmentation", "Direct", "EquilibriumPropagation", "GradientRule"]
__all__ += ["GradientTraining", "Pretrained", "Rule", "SimultaneousPerturbation", "Solver"]
__all__ += ["TeacherSpec", "Tensors", "Training", "TwoStage"]
__all__ += ["ep_gradient", "from_json", "protocol_named"]

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
PROTOCOLS: dict[str, Rule] = {**PAPER_PROTOCOLS, **DIRECT_PROTOCOLS}
PROTOCOLS |= {**EQUILIBRIUM_PROTOCOLS, **SPSA_PROTOCOLS}


def protocol_named(name: str) -> Rule:
    """The protocol of a name.

    Args:
        name: In upper or lower case, such as "DIRECT".

    Examples:
        >>> entrain.rules.protocol_named("direct").name
        'DIRECT'
    """
    if name.upper() not in PROTOCOLS:
        raise unknown_name("protocol", name, PROTOCOLS)
    return PROTOCOLS[name.upper()]


def from_json(values: dict[str, Any]) -> Rule:
    """The rule that `Rule.to_json` turned into JSON values."""
    plain: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    kind = plain.pop("rule", None)
    if kind not in RULES:
        raise unknown_name("rule", str(kind), RULES)
    try:
        return RULES[kind].from_settings(plain)
    except TypeError as error:
        raise InputError(f"not a complete {kind} rule: {error}") from error
