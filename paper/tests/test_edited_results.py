"""Edited results are reported or refused by the name of their file."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from command_line import Invoke, Refuse
from committed import MEASURED, committed, whole_report
from entrain.utils import escape
from entrain.utils.errors import InputError
from entrain.utils.files import with_digest
from entrain_paper.figures.panels import panels
from entrain_paper.reproduction import ResultsFolder
from fuzzing.structured import header_changed

MUTANTS = 450


def write(folder: Path, name: str, result: object) -> None:
    sealed = with_digest(result) if isinstance(result, dict) else result
    (folder / f"{name}.json").write_text(json.dumps(sealed))


def test_edited_results_are_read_or_refused_by_the_name_of_their_file(tmp_path: Path) -> None:
    dice, refused = random.Random(27), 0
    folder, originals = ResultsFolder(tmp_path), {n: shortened(committed(n)) for n in MEASURED}
    for number in range(MUTANTS):
        name = list(originals)[number % len(originals)]
        write(tmp_path, name, header_changed(originals[name], dice))
        message = refusal(folder)
        assert message is None or f"{name}.json" in message, (number, message)
        refused += message is not None
        (tmp_path / f"{name}.json").unlink()
    assert MUTANTS / 5 < refused < MUTANTS


def refusal(folder: ResultsFolder) -> str | None:
    """The message that refuses the results of a folder; None for a report."""
    try:
        whole_report(folder.results(), []).encode()
    except InputError as error:
        return str(error)
    return None


def shortened(values: Any) -> Any:
    """JSON values with the first two entries of every list."""
    if isinstance(values, dict):
        return {name: shortened(value) for name, value in values.items()}
    return [shortened(value) for value in values[:2]] if isinstance(values, list) else values


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (("seconds",), "5", "seconds must be a number, got '5'"),
        (("stages", 0, "title"), None, r"stages\[0\].title must be a text"),
        (("stages", 0), 3, r"stages\[0\] must be an object"),
        (("versions", "torch"), 2, "versions.torch must be a text"),
        (("setting", "name"), [], "setting.name must be a text"),
        (("values", "rows", 0, "measured_mean"), 1e300, "at most 1e.12, got 1e.300"),
        (("values", "rows"), {"a": 1}, "not those that entrain reproduce writes"),
        (("values", "rows", 0, "cited"), "x", "not those that entrain reproduce writes"),
        (("values", "rows", 0, "title"), "\ud800", "unprintable"),
    ],
)
def test_refusal_names_file_and_place(
    place: tuple[str | int, ...], value: object, expected: str, tmp_path: Path
) -> None:
    result = copy.deepcopy(committed("bake-off"))
    holder: Any = result
    for name in place[:-1]:
        holder = holder[name]
    holder[place[-1]] = value
    write(tmp_path, "bake-off", result)
    with pytest.raises(InputError, match=rf"bake-off\.json: .*{expected}"):
        whole_report(ResultsFolder(tmp_path).results(), [])


def test_number_that_is_none_is_refused(tmp_path: Path) -> None:
    result = committed("trajectory")
    text = json.dumps(result).replace(str(result["seconds"]), "NaN", 1)
    (tmp_path / "trajectory.json").write_text(text)
    with pytest.raises(InputError, match=r"trajectory\.json"):
        ResultsFolder(tmp_path).results()


def test_figure_of_an_edited_result_is_refused(tmp_path: Path, refuse: Refuse) -> None:
    result = committed("trajectory")
    result["values"]["rows"] = 7
    write(tmp_path, "trajectory", result)
    assert "trajectory.json" in refuse("report", tmp_path)


def test_figure_for_thousands_of_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="7 x 500 inches"):
        panels(1, 1, (7.0, 500.0))


def test_measured_rows_of_an_edited_bake_off_are_refused(
    tmp_path: Path, refuse: Refuse, invoke: Invoke
) -> None:
    options = ("bakeoff", "logistic", "--dataset=mnist", "--size=tiny", "--device=cpu")
    assert invoke(*options, "--out", tmp_path).exit_code == 0
    result = json.loads((tmp_path / "bake-off-logistic-mnist.json").read_text())
    del result["values"]["rows"][0]["cited"]
    write(tmp_path, "bake-off-logistic-mnist", result)
    assert "bake-off-logistic-mnist.json" in refuse(*options, "--out", tmp_path)


HOSTILE = "<script>alert(1)</script> | [x](http://e) **b**"


@pytest.mark.parametrize(
    ("name", "place"),
    [("bake-off", ("values", "rows", 0, "title")), ("trajectory", ("device",))],
)
def test_texts_of_results_are_no_markup_of_the_report(
    name: str, place: tuple[str | int, ...], tmp_path: Path
) -> None:
    result = committed(name)
    holder: Any = result
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = HOSTILE
    write(tmp_path, name, result)
    text = whole_report(ResultsFolder(tmp_path).results(), [])
    assert escape.markdown(HOSTILE.partition(", ")[0]) in text
    assert "<script>" not in text
    assert "**b**" not in text
