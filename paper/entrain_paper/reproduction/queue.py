"""The jobs of experiments, and the states that they start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from entrain import cluster
from entrain.training import TrainingState
from entrain_paper.experiments import Experiment, Measurement, Setting, Values, with_prerequisites
from entrain_paper.reproduction.folder import Job, ResultsFolder


@dataclass(frozen=True)
class Inputs:
    """States that a job needs and their headers, by key, and its state if it was interrupted."""

    needs: dict[str, TrainingState]
    headers: dict[str, Values]
    saved: TrainingState | None = None
    saved_seconds: float = 0.0


class Queue(cluster.Queue[Job]):
    """Unfinished stages and measurements of experiments at a setting, in a folder of results."""

    def __init__(
        self, folder: ResultsFolder, experiments: Sequence[Experiment], setting: Setting
    ) -> None:
        self.folder = folder
        jobs: list[Job] = []
        for experiment in experiments:
            measurement = Measurement(experiment, setting)
            if not folder.finished(measurement):  # otherwise its stages are not needed
                jobs += [*with_prerequisites(measurement.needs), measurement]
        super().__init__(folder, jobs)

    def inputs(self, job: Job) -> Inputs:
        """The states that `job` starts from, read from the folder."""
        # A measurement also needs the teachers of its students, and the devices of all trainings.
        measuring = isinstance(job, Measurement)
        needs, headers = dict[str, TrainingState](), dict[str, Values]()
        for stage in with_prerequisites(job.needs) if measuring else job.needs:
            saved = self.folder.state(stage)
            assert saved is not None, f"{stage.key} is finished but not in {self.folder.stages}"
            needs[stage.key], headers[stage.key] = saved
        if isinstance(job, Measurement) or (saved := self.folder.state(job)) is None:
            return Inputs(needs, headers)
        return Inputs(needs, headers, saved[0], float(saved[1].get("seconds", 0.0)))

    def finish(self, job: Job, outcome: bytes | Values) -> None:
        """Write the outcome of a claimed job to the folder."""
        if isinstance(job, Measurement):
            assert isinstance(outcome, dict)
            self.folder.write_result(job, outcome)
        else:
            assert isinstance(outcome, bytes)
            self.folder.write_state(job, outcome)
        self.mark_finished(job)


def cost(job: Job) -> float:
    """Rough duration of a job in arbitrary units, for the remaining time."""
    if isinstance(job, Measurement):
        return {"temperature": 60.0, "refinement": 20.0}.get(job.experiment.name, 3.0)
    size = 0.5 + job.parallel_runs * job.network.hidden / 64
    return 0.05 * job.epochs * size * job.rule.cost
