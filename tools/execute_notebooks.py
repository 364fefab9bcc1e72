"""Execute notebooks and store their outputs in them.

    python tools/execute_notebooks.py docs/notebooks/*.ipynb

A cell prints text, ends with a value, or leaves figures of matplotlib; these are its outputs. Cells
run in this process one after the other, in a new folder.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import io
import json
import os
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

DOTS_PER_INCH = 80


def execute(notebook: dict[str, Any]) -> list[str]:
    """Texts that the code cells print, one for each; stores all outputs in `notebook`."""
    import matplotlib

    matplotlib.use("Agg")
    names: dict[str, Any] = {"__name__": "__main__"}
    texts, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell["execution_count"] = count
            cell["outputs"] = _outputs("".join(cell["source"]), names)
            texts.append("".join(map(_text, cell["outputs"])))
    return texts


def _outputs(code: str, names: dict[str, Any]) -> list[dict[str, Any]]:
    """Outputs of one cell: a stream of text, then pictures."""
    from matplotlib import pyplot
    from matplotlib.figure import Figure

    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
            shown = not code.rstrip().endswith(";")  # as in Jupyter
            if value is not None and shown and not isinstance(value, Figure):
                print(repr(value))  # noqa: T201
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    if isinstance(value, Figure) and value not in figures:
        figures.append(value)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        lines = printed.getvalue().splitlines(keepends=True)
        outputs.append({"output_type": "stream", "name": "stdout", "text": lines})
    outputs += [_picture(figure) for figure in figures]
    pyplot.close("all")
    return outputs


def _picture(figure: Any) -> dict[str, Any]:
    """A figure as an output with a PNG."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS_PER_INCH, bbox_inches="tight")
    data = base64.b64encode(file.getvalue()).decode()
    return {"output_type": "display_data", "metadata": {}, "data": {"image/png": data}}


def _text(output: dict[str, Any]) -> str:
    return "".join(output.get("text", []))


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")


def main() -> int:
    """Execute the notebooks on the command line; the exit code."""
    failed = 0
    for path in [Path(name).resolve() for name in sys.argv[1:]]:
        notebook = json.loads(path.read_text())
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            try:
                execute(notebook)
            except Exception:
                traceback.print_exc()
                failed += 1
                continue
        write(path, notebook)
        print(f"{os.path.relpath(path)}: {path.stat().st_size / 1024:.0f} KiB")  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
