"""Networks trained on labels (DIRECT): the settings, chosen on validation images."""

from __future__ import annotations

from dataclasses import replace

from entrain.experiments.setting import FASHION, MNIST, Setting
from entrain.learning import Augmentation, DirectProtocol, DirectStage

# Chosen on validation accuracy at 74 oscillators, from grids of rates, gains, starts and
# augmentations of 30 to 60 epochs.
AUGMENTATION = {
    MNIST: Augmentation(shift=1.5, rotation=8.0, scale=0.1, shear=3.0, elastic=0.5),
    FASHION: Augmentation(shift=0.7, rotation=2.0, scale=0.03, flip=True),
}


def protocol(setting: Setting, name: str, *, augmented: bool = True) -> DirectProtocol:
    """The protocol of the records of a dataset."""
    epochs = setting.direct_epochs
    base = DirectProtocol(
        epochs=epochs,
        batch_size=setting.batch_size,
        input_rate=1e-2,
        coupling_rate=3e-2,
        gain=6.0,
        initial_weights=0.5,
        fine_epochs=max(1, epochs // 40),
    )
    if not augmented:
        return replace(
            base, epochs=max(1, epochs // 5), fine_epochs=max(1, epochs // 100), weight_decay=1.0
        )
    return replace(base, augmentation=AUGMENTATION[name], unaugmented_epochs=max(1, epochs // 20))


def stage(
    setting: Setting, name: str, hidden: int | None = None, *, augmented: bool = True
) -> DirectStage:
    """Networks of one size, one per run."""
    return DirectStage(
        setting.dataset(name),
        protocol(setting, name, augmented=augmented),
        hidden=setting.hidden if hidden is None else hidden,
        runs=tuple(range(setting.few_runs)),
    )
