"""Rollouts and the gradients of both losses, behind one set of signatures.

`reference` is the plain definition in PyTorch operations. The rest of the package calls the
functions exported here and does not know which implementation answers.
"""

from entrain.kernels.reference import (
    Pullback,
    noisy_rollout,
    path_loss,
    rollout,
    rollout_with_pullback,
)

__all__ = ["Pullback", "noisy_rollout", "path_loss", "rollout", "rollout_with_pullback"]
