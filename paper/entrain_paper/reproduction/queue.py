"""The jobs of some experiments, and what each starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entrain import cluster
from entrain.training import TrainingState
from entrain_paper.experiments import (
    Experiment,
    Measurement,
    Setting,
    Values,
    with_prerequisites,
)
from entrain_paper.reproduction.folder import Job, ResultsFolder


@dataclass(frozen=True)
class Inputs:
    """The states a job needs and their headers by key, and its own state if interrupted."""

    needs: dict[str, TrainingState]
    headers: dict[str, Values]
    saved: TrainingState | None = None
    saved_seconds: float = 0.0


class Queue(cluster.Queue[Job]):
    """The unfinished stages and measurements of experiments, in a folder of results.

    Parameters
    ----------
    folder : ResultsFolder
    experiments : sequence of Experiment
    setting : Setting
        The size of the experiments.
    """

    def __init__(
        self, folder: ResultsFolder, experiments: Sequence[Experiment], setting: Setting
    ) -> None:
        self.folder = folder
        jobs: list[Job] = []
        for experiment in experiments:
            measurement = Measurement(experiment, setting)
            if not folder.finished(measurement):  # else its stages are not needed again
                jobs += [*with_prerequisites(measurement.needs), measurement]
        super().__init__(folder, jobs)

    def inputs(self, job: Job) -> Inputs:
        """What `job` starts from, read from the folder."""
        # A measurement also reads the teachers of its students, and where all were trained.
        measuring = isinstance(job, Measurement)
        needs, headers = dict[str, TrainingState](), dict[str, Values]()
        for stage in with_prerequisites(job.needs) if measuring else job.needs:
            kept = self.folder.state(stage)
            assert kept is not None, f"{stage.key} is finished but not in {self.folder.stages}"
            needs[stage.key], headers[stage.key] = kept
        if isinstance(job, Measurement) or (begun := self.folder.state(job)) is None:
            return Inputs(needs, headers)
        return Inputs(needs, headers, begun[0], float(begun[1].get("seconds", 0.0)))

    def finish(self, job: Job, outcome: bytes | Values) -> None:
        """Keep the outcome of a claimed job."""
        if isinstance(job, Measurement):
            assert isinstance(outcome, dict)
            self.folder.keep_result(job, outcome)
        else:
            assert isinstance(outcome, bytes)
            self.folder.keep_state(job, outcome)
        self.mark_finished(job)


def cost(job: Job) -> float:
    """The duration of a job against that of others, roughly: for the time that is left."""
    if isinstance(job, Measurement):
        return {"temperature": 60.0, "refinement": 20.0}.get(job.experiment.name, 3.0)
    size = 0.5 + job.parallel_runs * job.network.hidden / 64
    return 0.05 * job.epochs * size * job.rule.cost
