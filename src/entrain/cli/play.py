"""`entrain play`: a network simulated in the browser, on a drawing or on features."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from entrain.cli.console import err, out, print_json, print_line
from entrain.cli.options import Json, argument, option
from entrain.utils.errors import InputError

if TYPE_CHECKING:
    from entrain.playground.files import Content


def command(
    model: Annotated[
        str | None,
        argument("MODEL", "Model file, run folder or shipped model to open first.", "mnist-74"),
    ] = None,
    port: Annotated[int, option("Port on 127.0.0.1; 0: any free port.")] = 0,
    browser: Annotated[bool, option("Open the page in the browser.")] = True,
    target: Annotated[
        Path | None,
        option(
            "Write the page instead: to a folder for a static host, or to one file that a "
            "browser opens from disk.",
            name="--export",
            metavar="DIR|FILE.html",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Serve the playground on this machine until Ctrl-C, or write it to a folder or a file.

    It simulates models of up to 512 oscillators in the browser. A model of pictures has a pad to
    draw on, a model of features a slider for each. The page sends no requests to other hosts.
    """
    from entrain.playground import page_files

    if not 0 <= port <= 65535:
        raise InputError(f"--port must be from 0 to 65535, got {port}")
    if target is not None:
        _export(target, model, json)
        return
    _serve(page_files(model), port, browser, json)


def _export(target: Path, model: str | None, json: bool) -> None:
    from entrain.playground import export, export_file
    from entrain.playground.single import SUFFIXES

    if target.suffix.lower() in SUFFIXES and not target.is_dir():
        size = export_file(target, model).stat().st_size
        result: dict[str, object] = {"file": str(target), "bytes": size}
        text = f"{target} ({size / 1e6:.1f} MB): open it in a browser, no server is needed"
    else:
        written = export(target, model)
        size = sum(path.stat().st_size for path in written)
        result = {"folder": str(target), "files": len(written), "bytes": size}
        text = f"{len(written)} files ({size / 1e6:.1f} MB) in {target}: copy to a static host"
    if json:
        print_json(result)
    else:
        print_line(text)


def _serve(files: Mapping[str, Content], port: int, browser: bool, json: bool) -> None:
    import signal
    import threading
    import webbrowser

    from entrain.playground import PageServer

    try:
        server = PageServer(files, port)
    except OSError as error:
        raise InputError(
            f"port {port} cannot be opened ({error.strerror}); choose another --port, or none"
        ) from error

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, stop)
    with server:
        if json:
            print_json({"url": server.url})
        else:
            out.print(server.url)
            err.print("stop with Ctrl-C")
        if browser:  # in a thread: a browser in the foreground blocks
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        try:
            server.serve_forever(poll_interval=0.1)
        except KeyboardInterrupt:
            err.print("stopped")
