"""Commands of other packages: missing, broken and installed plugins."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import typer
from click.testing import Result
from typer.testing import CliRunner

import entrain
from command_line import cli, strict
from entrain.cli import plugins
from entrain.cli.commands import Commands

INSTALL = "needs the package entrain-paper: pip install ./paper in a clone of Entrain"
Plugins = Callable[..., Callable[..., Result]]

# A module that is imported as plugin.
PLUGIN = """
import typer

def command(count: int = 1, json: bool = False) -> None:
    \"\"\"Count to COUNT.\"\"\"
    if count < 0:
        raise OSError(28, "No space left on device", "counts")
    print(*range(count))
"""


@pytest.fixture
def with_plugins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Plugins:
    """`with_plugins(name="module:command")("name", ...)`: a command of an app with plugins."""
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "counting.py").write_text(PLUGIN)
    (tmp_path / "broken.py").write_text("raise RuntimeError('a broken plugin')\n")

    def application(**entries: str) -> Callable[..., Result]:
        found = [EntryPoint(name, value, plugins.GROUP) for name, value in entries.items()]
        monkeypatch.setattr(plugins, "entry_points", lambda group: found)
        app = typer.Typer(cls=Commands, add_completion=False, rich_markup_mode=None)
        plugins.add_command(app, "show", lambda: print("shown"))  # noqa: T201
        plugins.add_plugins(app)
        return lambda *arguments: CliRunner().invoke(app, list(map(str, arguments)))

    return application


def test_a_plugin_is_a_command_with_exit_codes(with_plugins: Plugins) -> None:
    invoke = with_plugins(count="counting:command")
    assert "Count to COUNT." in invoke("--help").stdout
    assert invoke("count", "--count", 3).stdout == "0 1 2\n"
    failed = invoke("count", "--count", -1, "--json")
    assert failed.exit_code == 2
    assert strict(failed.stdout) == {"error": "counts: No space left on device", "code": 2}


@pytest.mark.parametrize("name", plugins.PAPER_COMMANDS)
def test_commands_of_the_paper_explain_how_to_install_it(with_plugins: Plugins, name: str) -> None:
    invoke = with_plugins()
    assert f"Not available: {INSTALL}." in " ".join(invoke("--help").stdout.split())
    for arguments in ((), ("all", "--quick", "--out", "folder"), ("--no-such-option",)):
        result = invoke(name, *arguments)
        assert result.exit_code == 2
        assert (result.stdout, result.stderr) == ("", f"error: entrain {name}: {INSTALL}\n")
    result = invoke(name, "all", "--json")
    assert result.exit_code == 2
    assert strict(result.stdout) == {"error": f"entrain {name}: {INSTALL}", "code": 2}


@pytest.mark.parametrize("entry", ["broken:command", "absent:command", "counting:no_such_name"])
def test_a_plugin_that_cannot_be_imported_leaves_the_other_commands(
    with_plugins: Plugins, entry: str
) -> None:
    invoke = with_plugins(bad=entry, count="counting:command")
    help_text = invoke("--help")
    assert help_text.exit_code == 0
    assert f"Not available: {entry} cannot be imported" in " ".join(help_text.stdout.split())
    assert invoke("count").exit_code == 0
    result = invoke("bad", "--json")
    assert result.exit_code == 2
    assert f"entrain bad: {entry} cannot be imported: " in strict(result.stdout)["error"]
    assert result.stderr.count("\n") == 1


def test_a_plugin_does_not_replace_a_command(with_plugins: Plugins) -> None:
    assert with_plugins(show="counting:command")("show").stdout == "shown\n"


@pytest.fixture
def without_paper(tmp_path: Path) -> dict[str, str]:
    """The environment of a Python that finds all installed packages except entrain-paper."""
    packages = tmp_path / "packages"
    packages.mkdir()
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if not path.name.startswith("entrain") and path.suffix != ".pth":
            (packages / path.name).symlink_to(path)
    source = Path(entrain.__file__).parents[1]
    return {"PYTHONPATH": f"{source}:{packages}"}


def test_the_installed_command_works_without_the_paper(without_paper: dict[str, str]) -> None:
    program = ("-S", "-m", "entrain")  # -S: no site-packages
    listed = cli("--help", env=without_paper, program=program)
    assert (listed.returncode, listed.stderr) == (0, "")
    assert " ".join(listed.stdout.split()).count(INSTALL) == len(plugins.PAPER_COMMANDS)
    failed = cli("reproduce", "all", "--json", env=without_paper, program=program)
    assert failed.returncode == 2
    assert strict(failed.stdout)["error"] == f"entrain reproduce: {INSTALL}"
    assert failed.stderr == f"error: entrain reproduce: {INSTALL}\n"
