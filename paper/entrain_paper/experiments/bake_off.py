"""Every system that the paper compares with, trained and measured on one protocol: one split,
epochs selected on validation images, the same seeds, the test images used once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from entrain.evaluation import summarise
from entrain.rules import Assignment
from entrain.rules.training_data import TrainingData
from entrain.tasks import metrics
from entrain.training import Stage
from entrain.utils.errors import unknown_name
from entrain_paper.experiments.bake_off_entrain import ENTRAIN_SYSTEMS, EntrainSystem, entrain_row
from entrain_paper.experiments.experiment import Experiment, ExperimentContext, Values
from entrain_paper.experiments.setting import BOTH, PAPER, TINY, Setting
from entrain_paper.peers import SYSTEMS, Peer
from entrain_paper.peers.training import PeerTraining

ALL = "all"
_CLASSES = 10  # of both datasets
_TINY_EXAMPLES = 300  # training images at the smallest size


def stage(setting: Setting, name: str, system: Peer) -> Stage:
    """Training runs of one system on a dataset, one per seed."""
    rule = system.for_dataset(name)
    if setting.name != PAPER.name:
        rule = rule.quick()
    if setting.name == TINY.name:
        rule = replace(rule, examples=_TINY_EXAMPLES)
    rule = replace(rule, epochs=min(rule.epochs, setting.direct_epochs))
    return Stage(rule, setting.dataset(name), runs=tuple(range(setting.few_runs)))


def experiment(
    peers: Sequence[Peer],
    name: str = "bake-off",
    networks: Sequence[EntrainSystem] = (),
    datasets: Sequence[str] = BOTH,
) -> Experiment:
    """The measurement of compared systems and of networks of Entrain on these datasets."""

    def stages(setting: Setting) -> list[Stage]:
        trained = [stage(setting, dataset, peer) for dataset in datasets for peer in peers]
        return trained + [
            network.stage(setting, dataset) for dataset in datasets for network in networks
        ]

    def measure(context: ExperimentContext) -> Values:
        rows: list[Values] = []
        count = len(datasets) * (len(peers) + len(networks))
        for dataset in datasets:
            data = TrainingData(context.data(dataset), context.device)
            for peer in peers:
                rows.append(_row(context, dataset, data, stage(context.setting, dataset, peer)))
                context.on_progress(len(rows) / count)
            for network in networks:
                rows.append(entrain_row(context, dataset, network))
                context.on_progress(len(rows) / count)
        return {"rows": rows}

    title = "Comparison with published systems on one protocol"
    return Experiment(name, title, "", stages, measure)


def _row(context: ExperimentContext, dataset: str, data: TrainingData, trained: Stage) -> Values:
    peer, state = trained.rule, context.state(trained)
    assert isinstance(peer, Peer)
    tensors = {n: t.to(context.device) for n, t in state.best.items() if "." not in n}
    training = PeerTraining(peer, Assignment(data, trained.network, trained.runs, trained.seed))
    test = data.images_of(context.data(dataset).test)
    assert test.images is not None
    top1 = metrics.top_k(training.scores(tensors, test.images), test.targets).tolist()
    summary = summarise(top1)
    return {
        "system": peer.name,
        "title": peer.title,
        "dataset": dataset,
        "cited": peer.cited.get(dataset),
        "measured_mean": summary.mean,
        "measured_sd": summary.sd,
        "runs": top1,
        "validation": [state.selected("top1", run) for run in range(trained.parallel_runs)],
        "epochs": [int(epoch) for epoch in state.best_epoch],
        "parameters": peer.parameter_count(tensors),
        "variables": peer.variables,
        "couplers": peer.couplers(tensors),
        "seconds": context.seconds(trained),
        "device": context.trained_on(trained),
        "energy": training.energy(tensors, test.images),
        "why": peer.why,
    }


EXPERIMENT = experiment(list(SYSTEMS.values()), networks=ENTRAIN_SYSTEMS)


@dataclass(frozen=True)
class Entry:
    """A system in a list: `cited` is its published test accuracy in percent, by dataset."""

    name: str
    title: str
    cited: dict[str, float]
    variables: int


def entries(setting: Setting = PAPER) -> list[Entry]:
    """Every system of the bake-off: the compared ones, then the networks of Entrain."""
    listed = [
        Entry(peer.name, peer.title, dict(peer.cited), peer.variables) for peer in SYSTEMS.values()
    ]
    for network in ENTRAIN_SYSTEMS:
        cited = {name: top1 for name in BOTH if (top1 := network.cited(name)) is not None}
        hidden = network.stage(setting, BOTH[0]).network.hidden
        listed.append(Entry(network.name, network.title, cited, hidden + _CLASSES))
    return listed


def datasets_named(name: str | None) -> tuple[str, ...]:
    """The dataset of that name in upper or lower case; both for None."""
    if name is None:
        return BOTH
    matching = tuple(dataset for dataset in BOTH if dataset.lower() == name.lower())
    if not matching:
        raise unknown_name("dataset", name, BOTH)
    return matching


def systems_named(names: Sequence[str]) -> list[str]:
    """These names without repetition; every system for `all`."""
    known = [*SYSTEMS, *(network.name for network in ENTRAIN_SYSTEMS)]
    if ALL in names:
        return known
    for name in names:
        if name not in known:
            raise unknown_name("system", name, (ALL, *known))
    return list(dict.fromkeys(names))


def experiments_named(names: Sequence[str], datasets: Sequence[str] = BOTH) -> list[Experiment]:
    """The complete bake-off as one experiment for `all`, otherwise one experiment per system.

    A later, larger selection then measures no system again.
    """
    suffix = "" if tuple(datasets) == BOTH else "-" + "-".join(datasets).lower()
    if ALL in names:
        if not suffix:
            return [EXPERIMENT]
        name = EXPERIMENT.name + suffix
        return [experiment(list(SYSTEMS.values()), name, ENTRAIN_SYSTEMS, datasets)]
    networks = {network.name: network for network in ENTRAIN_SYSTEMS}
    selected = []
    for system in systems_named(names):
        name = f"{EXPERIMENT.name}-{system}{suffix}"
        if system in SYSTEMS:
            selected.append(experiment([SYSTEMS[system]], name, datasets=datasets))
        else:
            selected.append(experiment([], name, [networks[system]], datasets))
    return selected
