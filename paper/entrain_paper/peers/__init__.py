"""Published systems that the paper compares with, one file each.

Every system is a training rule (`interface.Peer`), so that all share the trainer, splits, epoch
selection, checkpoints and run axis of Entrain. `experiments.bake_off` measures them side by side.
"""

from __future__ import annotations

from entrain.utils.errors import unknown_name
from entrain_paper.peers.aoc import AnalogOpticalComputer
from entrain_paper.peers.baselines import DistortedPerceptron, Logistic, Perceptron, RadialBasis
from entrain_paper.peers.fan import Fan
from entrain_paper.peers.gower import CoarseGower, Gower
from entrain_paper.peers.interface import Peer
from entrain_paper.peers.laydevant import AnnealedIsingMachine, IsingMachine
from entrain_paper.peers.mresn import Reservoirs
from entrain_paper.peers.nmode import NMODE, NMODE_AUGMENTED
from entrain_paper.peers.rageau import Rageau
from entrain_paper.peers.scellier import Scellier
from entrain_paper.peers.small_systems import SMALL_SYSTEMS
from entrain_paper.peers.snn import Spiking
from entrain_paper.peers.subdeq import SubDEQ
from entrain_paper.peers.wang import Wang
from entrain_paper.peers.whitelam import LangevinComputer

SYSTEMS: dict[str, Peer] = {
    system.name: system
    for system in (
        Rageau(),
        Gower(),
        CoarseGower(),
        Wang(),
        IsingMachine(),
        AnnealedIsingMachine(),
        Fan(),
        LangevinComputer(),
        Scellier(),
        SubDEQ(),
        AnalogOpticalComputer(),
        NMODE,
        NMODE_AUGMENTED,
        Reservoirs(),
        Spiking(),
        *SMALL_SYSTEMS,
        Logistic(),
        Perceptron(),
        DistortedPerceptron(),
        RadialBasis(),
    )
}

__all__ = ["SYSTEMS", "Peer", "system_named"]


def system_named(name: str) -> Peer:
    """The compared system called `name`."""
    if name not in SYSTEMS:
        raise unknown_name("system", name, SYSTEMS)
    return SYSTEMS[name]
