"""Execution of experiments: a folder of results, a queue of jobs, and executors of jobs."""

from entrain_paper.reproduction.executors import Callbacks, Executor, LocalExecutor
from entrain_paper.reproduction.folder import Job, ResultsFolder
from entrain_paper.reproduction.queue import Queue

__all__ = ["Callbacks", "Executor", "Job", "LocalExecutor", "Queue", "ResultsFolder"]
