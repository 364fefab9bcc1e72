"""Carrying out experiments: a folder of results, a queue of jobs, and who does them."""

from entrain_paper.reproduction.engines import Engine, ThisProcess, Watcher
from entrain_paper.reproduction.folder import Job, ResultsFolder
from entrain_paper.reproduction.queue import Queue

__all__ = ["Engine", "Job", "Queue", "ResultsFolder", "ThisProcess", "Watcher"]
