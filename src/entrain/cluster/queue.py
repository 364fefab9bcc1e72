"""A queue of jobs with prerequisites, shared by several processes through locks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

SECONDS_BETWEEN_LOOKS = 0.5  # for jobs that other processes have finished


class Job(Protocol):
    """Work with a unique key, and the jobs whose results it needs."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def needs(self) -> Sequence[Job]: ...


J = TypeVar("J", bound=Job)
J_contra = TypeVar("J_contra", bound=Job, contravariant=True)


class Store(Protocol[J_contra]):
    """Storage of results, shared by all processes."""

    def claim(self, job: J_contra) -> AbstractContextManager[bool]:
        """Lock `job` against other processes; True if this process has the lock."""

    def finished(self, job: J_contra) -> bool:
        """True if the result of `job` is stored."""


class Queue(Generic[J]):
    """Jobs that are claimed after their prerequisites.

    `claim` gives a job whose prerequisites are finished and that no other process has locked. When
    its result is in the store, `mark_finished` unlocks it.

    Args:
        store: Storage of results and locks.
        jobs: All jobs, prerequisites before the jobs that need them.
    """

    def __init__(self, store: Store[J], jobs: Iterable[J]) -> None:
        self._store = store
        self._locks: dict[str, contextlib.ExitStack] = {}
        self.all: dict[str, J] = {}
        for job in jobs:
            self.all.setdefault(job.key, job)
        self.done = {key for key, job in self.all.items() if store.finished(job)}
        self.already_done = frozenset(self.done)

    @property
    def pending(self) -> list[J]:
        """Jobs that are neither finished nor claimed by this process."""
        unavailable = self.done | self._locks.keys()
        return [job for key, job in self.all.items() if key not in unavailable]

    def claim(self, *, wait: bool = True) -> J | None:
        """The next job; None when all are finished or, without `wait`, none is ready."""
        while True:
            for job in self.pending:
                if all(need.key in self.done for need in job.needs) and self._lock(job):
                    return job
            if not wait or not self.pending:
                return None
            time.sleep(SECONDS_BETWEEN_LOOKS)
            for job in self.pending:
                if self._store.finished(job):
                    self.done.add(job.key)

    def mark_finished(self, job: J) -> None:
        """Unlock a claimed job whose result is in the store."""
        self.done.add(job.key)
        self.release(job)

    def release(self, job: J) -> None:
        """Unlock a claimed job."""
        self._locks.pop(job.key).close()

    def close(self) -> None:
        """Unlock all claimed jobs."""
        for lock in self._locks.values():
            lock.close()
        self._locks.clear()

    def _lock(self, job: J) -> bool:
        lock = contextlib.ExitStack()
        if not lock.enter_context(self._store.claim(job)):
            lock.close()
            return False
        if self._store.finished(job):  # by another process meanwhile
            lock.close()
            self.done.add(job.key)
            return False
        self._locks[job.key] = lock
        return True
