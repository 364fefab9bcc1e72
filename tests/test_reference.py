"""The reference documents every parameter of every public callable, and its examples are true."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import entrain

PAGES = sorted((Path(__file__).parents[1] / "docs" / "reference" / "python").glob("*.md"))
NAMES = [name for page in PAGES for name in re.findall(r"^::: (\S+)", page.read_text(), re.M)]


def resolve(name: str) -> Any:
    """The object of a dotted name."""
    parts = name.split(".")
    found = importlib.import_module(parts[0])
    for index, part in enumerate(parts[1:], 2):
        if not hasattr(found, part):
            importlib.import_module(".".join(parts[:index]))
        found = getattr(found, part)
    return found


def callables(name: str) -> Iterator[tuple[str, Any]]:
    """An object and, of a class, the public methods that it defines."""
    found = resolve(name)
    if inspect.ismodule(found):
        return
    yield name, found
    if inspect.isclass(found):
        for method, value in vars(found).items():
            value = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if inspect.isfunction(value) and not method.startswith("_"):
                yield f"{name}.{method}", value


def undocumented(found: Any) -> list[str]:
    """The parameters that the Args section of a docstring does not name."""
    text = inspect.getdoc(found) or ""
    if inspect.isclass(found) and "Args:" not in text:
        text = inspect.getdoc(found.__init__) or ""
    if getattr(found, "_is_protocol", False):  # has no constructor
        return []
    section = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)*)", text, re.M)
    named = (
        re.findall(r"^    (\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: \(.*?\))?:", section[1], re.M)
        if section
        else []
    )
    documented = {part.strip(" *") for each in named for part in each.split(",")}
    try:
        parameters = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return []
    return [
        each
        for each in parameters
        if each not in {"self", "cls"} | documented and not each.startswith("_")
    ]


ALL = [pair for name in NAMES for pair in callables(name)]


@pytest.mark.parametrize(("name", "found"), ALL, ids=[name for name, _ in ALL])
def test_every_parameter_is_documented(name: str, found: Any) -> None:
    assert not undocumented(found), f"{name}: add to Args: {', '.join(undocumented(found))}"


def has_example(name: str) -> bool:
    """True if the docstring of a name has an example."""
    return ">>> " in (inspect.getdoc(resolve(name)) or "")


EXAMPLES = [name for name in NAMES if has_example(name)]
# They describe values that others return, or a union of classes.
WITHOUT = {"entrain.Dataset", "entrain.PROTOCOLS", "entrain.Parameters", "entrain.Stage"}
WITHOUT |= {"entrain.ImageDataset", "entrain.FeatureDataset", "entrain.SequenceDataset"}
WITHOUT |= {"entrain.Teacher", "entrain.Trained", "entrain.calibrate", "entrain.controls"}
# They take minutes, or need another program or library.
WITHOUT |= {"entrain.calibration.train_in_the_loop", "entrain.plots.memory.capacity_figure"}
WITHOUT |= {"entrain.export.verify", "entrain.export.ngspice.simulate"}
WITHOUT |= {"entrain.ising.sampler.from_bqm", "entrain.ising.sampler.to_bqm"}
WITHOUT |= {"entrain.rules.external_teacher.external_teacher"}


SLOW = {"entrain.KuramotoClassifier", "entrain.solve", "entrain.yield_of"}  # to compile
SLOW |= {
    "entrain.cost.cost_of_solution",
    "entrain.kernels.use",
    "entrain.calibration.simulated",
    "entrain.Memory",
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW)) for name in EXAMPLES],
)
def test_an_example_is_true(name: str) -> None:
    globs = {"entrain": entrain, "np": np, "torch": torch}
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    text = inspect.getdoc(resolve(name)) or ""
    test = doctest.DocTestParser().get_doctest(text, globs, name, None, 0)
    said: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        doctest.DocTestRunner(optionflags=flags).run(test, out=said.append)
    assert not said, "".join(said)


def test_every_function_and_every_name_of_the_package_has_an_example() -> None:
    public = {n for n in NAMES if n.count(".") == 1 or inspect.isfunction(resolve(n))}
    assert {name for name in public - WITHOUT if not has_example(name)} == set()
