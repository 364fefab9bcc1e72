"""What the tests of protocol DIRECT share."""

from __future__ import annotations

import torch

from entrain.learning import TrainingState


def equal_states(ours: TrainingState, theirs: TrainingState) -> bool:
    pairs = [(ours.current, theirs.current), (ours.best, theirs.best)]
    return (
        ours.epoch == theirs.epoch
        and ours.history == theirs.history
        and torch.equal(ours.best_epoch, theirs.best_epoch)
        and torch.equal(ours.best_merit, theirs.best_merit)
        and all(torch.equal(a[name], b[name]) for a, b in pairs for name in a)
    )
