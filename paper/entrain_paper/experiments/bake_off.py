"""Every system that the paper compares with, trained and measured on one protocol: one split,
selection on validation images, the same seeds, the test images once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from entrain.evaluation import metrics, summarise
from entrain.rules import Assignment
from entrain.rules.training_data import TrainingData
from entrain.training import Stage
from entrain_paper.experiments.bake_off_own import OWN, Own, own_row
from entrain_paper.experiments.setting import BOTH, PAPER, TINY, Setting
from entrain_paper.experiments.spec import Experiment, ExperimentContext, Values
from entrain_paper.peers import SYSTEMS, Peer
from entrain_paper.peers.task import PeerTask

_TINY_EXAMPLES = 300  # to train with, of 3,000 small ones


def stage(setting: Setting, name: str, system: Peer) -> Stage:
    """Machines of one system on a dataset, one per seed."""
    suited = system.for_dataset(name)
    if setting.name != PAPER.name:
        suited = suited.quick()
    if setting.name == TINY.name:
        suited = replace(suited, examples=_TINY_EXAMPLES)
    suited = replace(suited, epochs=min(suited.epochs, setting.direct_epochs))
    return Stage(suited, setting.dataset(name), runs=tuple(range(setting.few_runs)))


def experiment(
    systems: Sequence[Peer],
    name: str = "bake-off",
    own: Sequence[Own] = (),
    datasets: Sequence[str] = BOTH,
) -> Experiment:
    """These systems, and these entries of ours, on these datasets."""

    def stages(setting: Setting) -> list[Stage]:
        theirs = [stage(setting, dataset, system) for dataset in datasets for system in systems]
        return theirs + [each.stage(setting, dataset) for dataset in datasets for each in own]

    def measure(context: ExperimentContext) -> Values:
        rows: list[Values] = []
        count = len(datasets) * (len(systems) + len(own))
        for dataset in datasets:
            data = TrainingData(context.data(dataset), context.device)
            for system in systems:
                rows.append(_row(context, dataset, data, stage(context.setting, dataset, system)))
                context.on_progress(len(rows) / count)
            for each in own:
                rows.append(own_row(context, dataset, each))
                context.on_progress(len(rows) / count)
        return {"rows": rows}

    title = "The compared systems, measured on one protocol"
    return Experiment(name, title, "", stages, measure)


def _row(context: ExperimentContext, dataset: str, data: TrainingData, of: Stage) -> Values:
    peer, state = of.rule, context.state(of)
    assert isinstance(peer, Peer)
    numbers = {n: t.to(context.device) for n, t in state.best.items() if "." not in n}
    task = PeerTask(peer, Assignment(data, of.network, of.runs, of.seed))
    test = data.images_of(context.data(dataset).test)
    assert test.images is not None
    tops = metrics.top_k(task.scores(numbers, test.images), test.labels).tolist()
    each = summarise(tops)
    return {
        "system": peer.name,
        "title": peer.title,
        "dataset": dataset,
        "cited": peer.cited.get(dataset),
        "measured_mean": each.mean,
        "measured_sd": each.sd,
        "runs": tops,
        "validation": [state.selected("top1", lane) for lane in range(of.lanes)],
        "epochs": [int(epoch) for epoch in state.best_epoch],
        "parameters": peer.adaptive(numbers),
        "variables": peer.variables,
        "couplers": peer.couplers(numbers),
        "seconds": context.seconds(of),
        "device": context.trained_on(of),
        "energy": task.energy(numbers, test.images),
        "why": peer.why,
    }


EXPERIMENT = experiment(list(SYSTEMS.values()), own=OWN)
