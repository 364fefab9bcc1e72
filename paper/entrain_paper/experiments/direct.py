"""Networks trained on labels (DIRECT) for the experiments."""

from __future__ import annotations

from dataclasses import replace

from entrain.physics import NetworkSpec
from entrain.rules import Direct
from entrain.rules.direct import tuned
from entrain.training import Stage
from entrain_paper.experiments.setting import MNIST, Setting


def stage(
    setting: Setting,
    name: str,
    hidden: int | None = None,
    *,
    augmented: bool = True,
    epochs: int | None = None,
) -> Stage:
    """Networks of one size, one per run, with the settings found for the dataset."""
    dataset = setting.dataset(name)
    epochs = setting.direct_epochs if epochs is None else epochs
    protocol = tuned(Direct(), dataset, epochs=epochs, augmented=augmented)
    return Stage(
        replace(protocol, batch_size=setting.batch_size),
        dataset,
        NetworkSpec(hidden=setting.hidden if hidden is None else hidden),
        runs=tuple(range(setting.few_runs)),
    )


def refined(rule: Direct, name: str) -> Direct:
    """With what the searches in results/searches/records-*.json found on validation at the main
    size."""
    if name == MNIST:
        return replace(rule, input_rate=5e-3)
    return replace(rule, weight_decay=0.03, averaging=0.9995)
