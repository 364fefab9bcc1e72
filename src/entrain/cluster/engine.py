"""Where independent tasks are computed: in this process, or on a Ray cluster."""

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
    """Maps a function over tasks that do not depend on one another."""

    def map(
        self,
        function: Callable[[S, T, torch.device], R],
        shared: S,
        tasks: Sequence[T],
        title: Callable[[T], str] = str,
    ) -> Iterator[tuple[T, R]]:
        """Each task with function(shared, task, device), as soon as it is computed.

        Parameters
        ----------
        function : callable
            A function of a module: a cluster imports it by name.
        shared : object
            What all tasks use; it reaches each worker once.
        tasks : sequence
        title : callable
            The name of a task in errors and in the cluster's own tools.
        """


class LocalEngine:
    """One task after the other, in this process.

    Parameters
    ----------
    device : torch.device, default cpu
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
        """See `Engine.map`; the order is that of the tasks."""
        for task in tasks:
            yield task, function(shared, task, self.device)


def engine_named(name: str, address: str | None = None, device: str = "auto") -> Engine:
    """The engine "process" or "ray".

    Parameters
    ----------
    name : str
    address : str, optional
        HOST:PORT of a Ray cluster that runs; without it Ray is started on this machine.
    device : str, default "auto"
        auto, cpu or cuda; for "process" also cuda:INDEX.
    """
    if name == "process":
        if address is not None:
            raise InputError("--address belongs to --engine ray")
        return LocalEngine(choose_device(device))
    if name == "ray":
        from entrain.cluster.ray_engine import RayEngine

        return RayEngine(address, device)
    raise unknown_name("engine", name, ("process", "ray"))
