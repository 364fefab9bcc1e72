# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc"
"""Functions that Numba compiles, and the folder where their machine code is stored.

This file alone uses what Numba does not document: two options of `njit`, the classes of its cache
on disk and its events. Without them the kernels compile a third slower, in each process anew and
without notice; `tests/test_compiled_kernels.py` names what another version of Numba has changed.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import os
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding
from numba import njit

from entrain.utils.cache import cache_folder
from entrain.utils.errors import InputError
from entrain.utils.files import file_lock

_NAME_BITS = 62  # of the first of a process's symbols
_MOST_FOLDERS = 20  # of other versions that are kept
_LOCK = "entrain.lock"
_COMPILING = "compiling.lock"


def _options() -> dict[str, Any]:
    """Options of all functions; those without a caller in Python need no wrappers for one."""
    options = {"nogil": True, "error_model": "numpy"}
    with contextlib.suppress(ImportError):
        from numba.core.options import DefaultOptions

        for name in ("no_cpython_wrapper", "no_cfunc_wrapper"):
            if hasattr(DefaultOptions, name):
                options[name] = True
    return options


def _separate_symbols() -> bool:
    """Name the symbols of this process differently from those of every other; True if that works.

    Numba counts closures from 1 in each process, on in its forks, and puts the count into their
    symbols. A process that loads the machine code of two others would link a call to whichever
    function of a name was loaded first, which may be another one.
    """
    try:
        from numba.core.bytecode import FunctionIdentity

        next(FunctionIdentity._unique_ids)
    except (ImportError, AttributeError, TypeError):
        return False
    FunctionIdentity._unique_ids = itertools.count(secrets.randbits(_NAME_BITS))
    return True


_can_store = _separate_symbols()
if hasattr(os, "register_at_fork"):  # a copy of this process would continue its count
    os.register_at_fork(after_in_child=_separate_symbols)
INNER_OPTIONS: Any = _options()
inner = njit(**INNER_OPTIONS)


def compiled(function):
    """Compile with a cache on disk, where a folder is writable; see `kernel_folder`."""
    dispatcher = njit(**INNER_OPTIONS | {"no_cpython_wrapper": False})(function)
    with contextlib.suppress(Exception):  # no folder, or another Numba: compiled in each process
        if _can_store:
            dispatcher._cache = _cache_class()(function)
    return dispatcher


def on_compilation(notify: Callable[[], None]) -> None:
    """Call `notify` whenever Numba begins to compile a function in this process."""
    with contextlib.suppress(ImportError, AttributeError):
        from numba.core import event

        process = os.getpid()

        class Listener(event.Listener):
            def on_start(self, _: Any) -> None:
                if os.getpid() == process:  # a fork inherits listeners, but not their threads
                    notify()

            def on_end(self, _: Any) -> None:
                pass

        event.register("numba:compile", Listener())


@contextlib.contextmanager
def compiling(kernels: str) -> Iterator[bool]:
    """A context in which kernels are compiled and stored; True if they are to be.

    False if they are stored, or cannot be. One process compiles while others, as of n_jobs, wait.
    """
    folder = Path(_numba_folder()) if _numba_folder() else kernel_folder()
    mark = Path() if folder is None else folder / f"{kernels}-{_key()[:16]}"
    if folder is None or mark.exists():
        yield False
        return
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(InputError):
            stack.enter_context(file_lock(folder / _COMPILING, wait=True))
        is_missing = not mark.exists()
        yield is_missing
        if is_missing:
            with contextlib.suppress(OSError):
                mark.touch()


@functools.cache
def kernel_folder() -> Path | None:
    """The folder for machine code, `kernels/VERSION-KEY` in the cache; None if none is safe.

    KEY is a digest of the sources, the versions of Python, Numba and llvmlite, and the processor:
    all environments of a version share it. Only its owner may write to it, since the code is
    executed.
    """
    from entrain import __version__

    base = cache_folder()
    if base is None:
        return None
    folder = base / "kernels" / f"{__version__}-{_key()[:16]}"
    try:
        if not folder.is_dir():
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            _remove_old(folder)
        status = folder.stat()
    except OSError:
        return None
    others = stat.S_IWGRP | stat.S_IWOTH
    if os.name == "posix" and (status.st_uid != os.geteuid() or status.st_mode & others):
        return None
    return folder


def _remove_old(folder: Path) -> None:
    """Keep the newest of the folders of other versions."""
    folders = [path for path in folder.parent.iterdir() if path.is_dir() and path != folder]
    folders.sort(key=lambda path: path.stat().st_mtime, reverse=True)
    for path in folders[_MOST_FOLDERS:]:
        shutil.rmtree(path, ignore_errors=True)


@functools.cache
def _key() -> str:
    processor = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    versions = sys.implementation.cache_tag, numba.__version__, llvmlite.__version__
    text = "\n".join(map(str, (_sources(), *versions, *processor)))
    return hashlib.sha256(text.encode()).hexdigest()


@functools.cache
def _sources() -> str:
    """A digest of everything that the compiled functions are made of."""
    here = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted([*here.glob("*.py"), *here.parent.glob("physics/terms/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _stamp() -> str:
    """Stamp of machine code: a digest of its sources, and the width of the blocks."""
    from entrain.kernels.blocks import BLOCK_LANES

    return f"{_sources()}-{BLOCK_LANES}"


def _numba_folder() -> str:
    """The folder that the user has chosen for Numba's cache, or ""."""
    config: Any = numba.config
    return str(config.CACHE_DIR)


class _SharedFolder:
    """The place of a function's machine code: `kernel_folder`, if it can be written to."""

    def __init__(self, function: Any, _: str) -> None:
        self._name = f"{function.__code__.co_firstlineno}"

    @classmethod
    def from_function(cls, function: Any, file: str) -> _SharedFolder | None:
        """See Numba's `CacheLocator`; None leaves the choice to Numba."""
        if _numba_folder() or kernel_folder() is None:
            return None
        return cls(function, file)

    def ensure_cache_path(self) -> None:
        """Nothing to do: `kernel_folder` has made the folder."""

    def get_cache_path(self) -> str:
        """The folder."""
        return str(kernel_folder())

    def get_source_stamp(self) -> str:
        """`_stamp`, by which Numba recognises changed sources."""
        return _stamp()

    def get_disambiguator(self) -> str:
        """The line of the function."""
        return self._name


@functools.cache
def _cache_class() -> Any:
    """Numba's cache of functions in `kernel_folder`, or else in a folder of Numba's choice.

    Damaged files are compiled anew, and a folder that cannot be written to is ignored.
    """
    from numba.core.caching import CompileResultCacheImpl, FunctionCache

    class Implementation(CompileResultCacheImpl):
        _locator_classes = [_SharedFolder, *CompileResultCacheImpl._locator_classes]  # noqa: RUF012

    class Cache(FunctionCache):
        _impl_class = Implementation

        def __init__(self, function: Any) -> None:
            super().__init__(function)
            # Numba's own folders notice edits of the function's own file alone.
            self._cache_file._source_stamp = _stamp()

        def load_overload(self, sig: Any, target_context: Any) -> Any:
            try:
                return super().load_overload(sig, target_context)
            except Exception:  # a damaged file may raise anything
                with contextlib.suppress(OSError):
                    self.flush()
                return None

        def save_overload(self, sig: Any, data: Any) -> None:
            # Two processes would give different functions the same name.
            lock = Path(self.cache_path, _LOCK)
            with contextlib.suppress(OSError, InputError), file_lock(lock, wait=True):
                super().save_overload(sig, data)

    return Cache
