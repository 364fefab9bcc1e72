"""Computation of independent tasks, in this process or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

import torch

from entrain.utils.device import choose_device
from entrain.utils.errors import InputError, unknown_name

S = TypeVar("S")
T = TypeVar("T")
R = TypeVar("R")


class Engine(Protocol):
    """Maps a function over independent tasks."""

    def map(
        self,
        function: Callable[[S, T, torch.device], R],
        shared: S,
        tasks: Sequence[T],
        title: Callable[[T], str] = str,
    ) -> Iterator[tuple[T, R]]:
        """Pairs of a task and function(shared, task, device), in the order of completion.

        Args:
            function: A function of a module: a cluster imports it by name.
            shared: An object for all tasks, sent once to each worker.
            tasks: Arguments of `function`.
            title: The name of a task in errors and in the tools of a cluster.
        """


class LocalEngine:
    """Computes one task after the other in this process.

    Args:
        device: Device of all tasks; cpu by default.
    """

    def __init__(self, device: torch.device | None = None) -> None:
        self.device = torch.device("cpu") if device is None else device

    def map(
        self,
        function: Callable[[S, T, torch.device], R],
        shared: S,
        tasks: Sequence[T],
        title: Callable[[T], str] = str,
    ) -> Iterator[tuple[T, R]]:
        """See `Engine.map`; results come in the order of the tasks."""
        for task in tasks:
            yield task, function(shared, task, self.device)


def engine_named(name: str, address: str | None = None, device: str = "auto") -> Engine:
    """The engine "process" or "ray".

    Args:
        name: process or ray.
        address: HOST:PORT of a running Ray cluster; without it Ray is started on this machine.
        device: auto, cpu or cuda; for "process" also cuda:INDEX.

    Examples:
        >>> type(entrain.cluster.engine_named("process", device="cpu")).__name__
        'LocalEngine'
    """
    if name == "process":
        if address is not None:
            raise InputError("address belongs to the engine ray, got the engine process")
        return LocalEngine(choose_device(device))
    if name == "ray":
        from entrain.cluster.ray_engine import RayEngine

        return RayEngine(address, device)
    raise unknown_name("engine", name, ("process", "ray"))
