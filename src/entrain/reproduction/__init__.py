"""Carrying out experiments: a folder of results, a queue of work, and who does it."""

from entrain.reproduction.engines import Engine, ThisProcess, Watcher
from entrain.reproduction.folder import ResultsFolder, Work
from entrain.reproduction.queue import Queue

__all__ = ["Engine", "Queue", "ResultsFolder", "ThisProcess", "Watcher", "Work"]
