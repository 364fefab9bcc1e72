"""Settings of DIRECT for numbers to predict from rows."""

from __future__ import annotations

import math
from typing import Any

WEIGHT_DECAY = 0.05
_STEPS, _PATIENCE = 3000, 240  # of AdamW
_LEAST_EPOCHS, _MOST_EPOCHS = 20, 600


def regression_set(examples: int, batch_size: int) -> dict[str, Any]:
    """Fields for numbers to predict, over those for rows with classes.

    Small first input weights begin with a smooth function, so that little decay is needed, and a
    smooth series is fitted closely: a decay of 2 limits it to an NRMSE of 0.05.

    Args:
        examples: Number of training examples.
        batch_size: Examples of a step.
    """
    steps = math.ceil(examples / batch_size)
    epochs = min(_MOST_EPOCHS, max(_LEAST_EPOCHS, _STEPS // steps))
    return {
        "epochs": epochs,
        "fine_epochs": max(1, epochs // 20),
        "weight_decay": WEIGHT_DECAY,
        "initial_weights": 0.03,
        "patience": 2 * max(math.ceil(_PATIENCE / 2 / steps), examples // 20),
    }
