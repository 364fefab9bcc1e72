"""Independent tasks and jobs with prerequisites, in this process or on a Ray cluster."""

from entrain.cluster.engine import Engine, LocalEngine, engine_named
from entrain.cluster.queue import Job, Queue, Store
from entrain.cluster.ray_engine import RayEngine

__all__ = ["Engine", "Job", "LocalEngine", "Queue", "RayEngine", "Store", "engine_named"]
