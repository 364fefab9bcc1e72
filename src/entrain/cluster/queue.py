"""Jobs that need the outcome of others, shared by several processes through locks."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Generic, Protocol, TypeVar

SECONDS_BETWEEN_LOOKS = 0.5  # at jobs that other processes have finished


class Job(Protocol):
    """A piece of work with a unique key, and the jobs whose outcome it needs."""

    @property
    def key(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def needs(self) -> Sequence[Job]: ...


J = TypeVar("J", bound=Job)
J_contra = TypeVar("J_contra", bound=Job, contravariant=True)


class Store(Protocol[J_contra]):
    """Where outcomes are kept, seen by all processes."""

    def claim(self, job: J_contra) -> AbstractContextManager[bool]:
        """Lock `job` against other processes; True if this process has it."""

    def finished(self, job: J_contra) -> bool:
        """True if the outcome of `job` is kept."""


class Queue(Generic[J]):
    """Jobs in an order in which each follows what it needs.

    `claim` gives a job whose needs are met and that no other process has locked. When its outcome
    is in the store, `mark_finished` unlocks it.

    Parameters
    ----------
    store : Store
    jobs : iterable of Job
        Every job, those before that others need.
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
        """The jobs that are neither finished nor claimed by this process."""
        return [j for k, j in self.all.items() if k not in self.done and k not in self._locks]

    def claim(self, *, wait: bool = True) -> J | None:
        """A job to do now; None when all are finished or, without `wait`, none is ready."""
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
        """Unlock a claimed job whose outcome is in the store."""
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
        if self._store.finished(job):  # by another process, since the last look
            lock.close()
            self.done.add(job.key)
            return False
        self._locks[job.key] = lock
        return True
