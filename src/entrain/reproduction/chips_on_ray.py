"""Blocks of chips measured by the workers of a Ray cluster.

The network and its examples reach the workers through Ray's object store, accuracies come back.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import torch

import entrain
from entrain.device import choose_device
from entrain.reproduction.ray_cluster import (
    check_device,
    check_version,
    connection,
    outcome,
    resources_of_a_task,
    slots,
)
from entrain.yields import Block, ChipTest


class ChipsOnRay:
    """Every block of chips as a task of a Ray cluster; see `ray_engine.OnRay`."""

    def __init__(self, address: str | None = None, device: str = "auto", retries: int = 3) -> None:
        check_device(device)
        self._address, self._device, self._retries = address, device, retries

    def measure(
        self, test: ChipTest, blocks: Sequence[Block]
    ) -> Iterator[tuple[Block, list[float]]]:
        """The accuracies of every block, as they are measured."""
        with connection(self._address) as ray:
            device, asked = resources_of_a_task(ray, self._device)
            do = ray.remote(max_retries=self._retries, **asked)(_measure)
            shared = ray.put(test.to(torch.device("cpu")))
            waiting, running = list(reversed(blocks)), dict[Any, Block]()
            while waiting or running:
                while waiting and len(running) < slots(ray, asked):
                    block = waiting.pop()
                    task = do.options(name=_title(block))
                    running[task.remote(shared, block, device, entrain.__version__)] = block
                for each in ray.wait(list(running))[0]:
                    block = running.pop(each)
                    yield block, outcome(ray, each, _title(block), self._retries)


def _title(block: Block) -> str:
    return f"chips {block.seeds[0]} to {block.seeds[-1]}"


def _measure(test: ChipTest, block: Block, device: str, version: str) -> list[float]:
    """On a worker."""
    check_version(version)
    return test.to(choose_device(device)).accuracies(block)
