"""Settings of DIRECT for sequences, chosen by benchmarks/tasks.py on validation examples."""

from __future__ import annotations

import math
from typing import Any

OBSERVATION_TIME = 0.4
STEPS_OF_A_FRAME = 4
_STEPS = 4500  # of AdamW
_LEAST_EPOCHS, _MOST_EPOCHS = 20, 120
_DISTORTIONS = {"input_noise": 0.8, "time_shift": 0.1, "time_stretch": 0.1}


def sequence_set(examples: int, has_classes: bool) -> dict[str, Any]:
    """Fields for sequences: no decay of weights, but noise on the inputs of classes, and shifts and
    stretches in time.

    Args:
        examples: Number of training examples.
        has_classes: False for numbers to predict, which noise on the inputs would change.
    """
    batch = min(64, max(16, examples // 20))
    epochs = min(_MOST_EPOCHS, max(_LEAST_EPOCHS, _STEPS // math.ceil(examples / batch)))
    return {
        "batch_size": batch,
        "epochs": epochs,
        "fine_epochs": epochs,
        "weight_decay": 0.0,
        "gain": 8.0,
        "initial_weights": 0.3,
        "averaging": 0.999,
        "second_order_steps": 0,
        "validation_interval": 0,
        "patience": 0,
        **(_DISTORTIONS if has_classes else {}),
    }
