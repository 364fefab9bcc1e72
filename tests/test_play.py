"""`entrain play`: what is served, to whom, and what is not; the export; the built page."""

from __future__ import annotations

import base64
import hashlib
import http.client
import json
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from command_line import Refuse, environment, killed_after, printed
from entrain.playground import PageServer, export, page_files
from entrain.playground.files import MODELS, PAGE

SOURCE = Path(__file__).parents[1] / "playground"
LATER = {f"models/{name}.safetensors" for name in MODELS[1:]} | {
    "test-images.safetensors",
    "digits.safetensors",
}


@pytest.fixture(scope="module")
def server() -> Iterator[PageServer]:
    with PageServer(page_files()) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,))
        thread.start()
        yield running
        running.shutdown()
        thread.join(60)


def ask(
    server: PageServer, path: str, method: str = "GET", host: str | None = None
) -> tuple[int, dict[str, str], bytes]:
    """A request whose path is sent as it is."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True)
    connection.putheader("Host", host or f"127.0.0.1:{server.server_port}")
    connection.endheaders()
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_every_file_of_the_page_is_served_as_it_is(server: PageServer) -> None:
    for name, path in page_files().items():
        status, headers, body = ask(server, f"/{name}")
        assert status == 200
        assert body == path.read_bytes()
        assert headers["X-Content-Type-Options"] == "nosniff"
    assert ask(server, "/")[2] == ask(server, "/index.html?from=here")[2]
    assert ask(server, "/")[1]["Content-Type"].startswith("text/html")
    status, headers, body = ask(server, "/index.html", "HEAD")
    assert (status, body) == (200, b"")


def test_the_policy_allows_this_page_and_nothing_else(server: PageServer) -> None:
    policy = ask(server, "/")[1]["Content-Security-Policy"]
    rules = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["style-src"] == rules["connect-src"] == "'self'"
    assert rules["script-src"] == "'self' 'wasm-unsafe-eval'"  # WebAssembly, no eval of scripts
    assert policy.count("unsafe") == 1
    assert ask(server, "/nothing")[1]["Content-Security-Policy"] == policy


@pytest.mark.parametrize(
    "path",
    [
        "/../server.py",
        "/assets/../../server.py",
        "/%2e%2e/server.py",
        "/..%2fserver.py",
        "/models/../../../../pyproject.toml",
        "//etc/passwd",
        "/etc/passwd",
        "/models/",
        "/assets",
        "/models/mnist-74.md",
        "http://127.0.0.1/../server.py",
        "/index.html/..",
        "/\x01",
        "http://[/",
    ],
)
def test_nothing_outside_the_page_is_served(server: PageServer, path: str) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port), 60) as connection:
        host = f"127.0.0.1:{server.server_port}"
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        connection.sendall(request.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.split(b" ", 2)[1] in (b"404", b"400"), answer[:200]
    assert b"ThreadingHTTPServer" not in answer
    assert b"root:" not in answer


def test_only_requests_to_loopback_names_are_answered(server: PageServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert ask(server, "/", host=f"localhost:{server.server_port}")[0] == 200
    for host in ("evil.example", f"evil.example:{server.server_port}", "127.0.0.1", ""):
        assert ask(server, "/", host=host or " ")[0] == 421
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert ask(server, "/", method)[0] == 501


def test_the_server_waits_while_no_descriptor_is_free() -> None:
    program = """
import os, resource, socket, threading, time
from entrain.playground import PageServer

server = PageServer({"index.html": b""})
threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
waiting = socket.socket()  # created before the descriptors run out
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
used = []
try:
    while True:
        used.append(os.dup(0))
except OSError:
    pass
waiting.connect(("127.0.0.1", server.server_port))
before = time.process_time()
time.sleep(1.0)
print(time.process_time() - before)
os.close(used.pop())
waiting.sendall(f"GET / HTTP/1.1\\r\\nHost: 127.0.0.1:{server.server_port}\\r\\n\\r\\n".encode())
waiting.settimeout(10)
print(waiting.recv(12).decode(), flush=True)
os._exit(0)  # the server still runs
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True
    )
    seconds, answer = done.stdout.splitlines()
    assert float(seconds) < 0.05  # of CPU time in a second
    assert answer == "HTTP/1.1 200"


def start(*options: str, **variables: str) -> tuple[subprocess.Popen[str], str]:
    """`entrain play OPTIONS` and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "entrain", "play", "--json", *options],
        env=environment(**variables),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    with killed_after(120, process):
        return process, json.loads(process.stdout.readline())["url"]


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_the_command_serves_until_it_is_stopped_without_a_browser(
    tmp_path: Path, stop: signal.Signals
) -> None:
    browser, opened = made_up_browser(tmp_path)
    process, url = start("--no-browser", BROWSER=str(browser))
    try:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", url)
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert b"<title>" in answer.read()
        process.send_signal(stop)
        output, errors = process.communicate(timeout=60)  # at once, on a machine that has time
        assert process.returncode == 0, errors
        assert output == ""
        assert errors.split() == ["stopped"]
        assert opened.read_text() == ""
    finally:
        process.kill()


def made_up_browser(folder: Path) -> tuple[Path, Path]:
    """A browser, and the file that lists what it opened. It stays in the foreground, as one without
    a window of its own does, for longer than any test waits."""
    browser, opened = folder / "browser", folder / "opened"
    opened.touch()
    browser.write_text(f'#!/bin/sh\necho "$*" >> "{opened}"\nexec sleep 120\n')
    browser.chmod(0o755)
    return browser, opened


def test_the_command_opens_the_browser_and_does_not_wait_for_it(tmp_path: Path) -> None:
    browser, opened = made_up_browser(tmp_path)
    process, url = start(BROWSER=str(browser))
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            assert answer.status == 200
        until = time.monotonic() + 60
        while not opened.read_text() and time.monotonic() < until:
            time.sleep(0.05)
        assert opened.read_text() == f"{url}\n"
    finally:
        process.terminate()
        assert process.wait(60) == 0


def test_a_closed_connection_is_not_an_error(
    server: PageServer, capfd: pytest.CaptureFixture[str]
) -> None:
    name = max(page_files(), key=lambda name: page_files()[name].stat().st_size)
    for _ in range(5):
        with socket.create_connection(("127.0.0.1", server.server_port)) as visitor:
            visitor.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            host = f"127.0.0.1:{server.server_port}"
            visitor.sendall(f"GET /{name} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    time.sleep(0.3)
    assert ask(server, "/")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_used_port_is_an_error(server: PageServer, refuse: Refuse) -> None:
    message = refuse("play", "--no-browser", "--port", server.server_port)
    assert f"port {server.server_port} cannot be opened" in message
    assert "--port must be from 0 to 65535" in refuse("play", "--port", 70000)


def test_an_export_is_the_whole_page(tmp_path: Path, invoke, refuse: Refuse) -> None:
    folder = tmp_path / "site"
    found = printed(invoke, "play", "--export", folder)
    files = {p.relative_to(folder).as_posix(): p for p in folder.rglob("*") if p.is_file()}
    assert set(files) == set(page_files())
    assert found["files"] == len(files)
    for name, path in page_files().items():
        assert files[name].read_bytes() == path.read_bytes()
    assert "is not empty, and nothing is overwritten" in refuse("play", "--export", folder)
    (tmp_path / "file").write_text("x")
    assert "is a file, expected the name of a new folder" in refuse(
        "play", "--export", tmp_path / "file"
    )
    assert len(export(tmp_path / "new" / "deep")) == len(files)


def test_an_export_to_one_file_holds_everything_and_runs_nothing_else(
    tmp_path: Path, invoke, refuse: Refuse
) -> None:
    path = tmp_path / "page.html"
    found = printed(invoke, "play", "--export", path)
    assert found == {"file": str(path), "bytes": path.stat().st_size}
    text = path.read_text()
    inside = dict(re.findall(r'data-file="([^"]+)">([^<]*)</script>', text))
    for name, content in page_files().items():
        if name in inside:
            assert base64.b64decode(inside[name]) == content.read_bytes()
    assert {"gallery.safetensors", "models.json"} <= set(inside)
    assert {f"models/{name}.safetensors" for name in MODELS} <= set(inside)
    (script,) = re.findall(r'<script type="module">(.*?)</script>', text, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    (policy,) = re.findall(r'Content-Security-Policy"\s+content="([^"]*)"', text)
    for part in (script, style):
        digest = base64.b64encode(hashlib.sha256(part.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert "'self'" not in policy
    assert policy.replace("'wasm-unsafe-eval'", "").count("unsafe") == 0
    assert not re.search(r'(src|href)="(?!data:)', text.replace(script, ""))
    assert "exists already; choose another name" in refuse("play", "--export", path)
    (tmp_path / "link.html").symlink_to(tmp_path / "nothing")
    assert "exists already" in refuse("play", "--export", tmp_path / "link.html")
    (tmp_path / "folder.html").mkdir()
    assert len(export(tmp_path / "folder.html")) == len(page_files())


def test_the_page_is_small_and_requests_no_other_host() -> None:
    files = page_files()
    assert {f"models/{name}.safetensors" for name in MODELS} <= set(files)
    assert sum(path.stat().st_size for path in files.values()) < 4_000_000
    first = [path for name, path in files.items() if name not in LATER]
    assert sum(path.stat().st_size for path in first) < 1_000_000  # for the first picture
    for name, path in files.items():
        if path.suffix in (".html", ".js", ".css"):
            text = path.read_text()
            foreign = [a for a in re.findall(r"https?://[^\s\"'`)]+", text) if "w3.org" not in a]
            assert foreign == [], name
            assert "eval(" not in text
    page = files["index.html"].read_text()
    assert "<style" not in page
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"\son\w+=|\sstyle=", page)


@pytest.mark.skipif(not SOURCE.is_dir(), reason="the page's source is in a clone only")
def test_the_built_page_is_that_of_its_source() -> None:
    """The digest of the sources, as playground/scripts/stamp.mjs takes it."""
    single = ("index.html", "package.json", "package-lock.json", "vite.config.ts", "tsconfig.json")
    files = [SOURCE / name for name in single]
    files += [p for folder in ("src", "public") for p in (SOURCE / folder).rglob("*")]
    named = {p.relative_to(SOURCE).as_posix(): p for p in files if p.is_file()}
    digest = hashlib.sha256()
    for name in sorted(name for name in named if "/." not in name):
        content = named[name].read_bytes().replace(b"\r\n", b"\n")
        digest.update(name.encode() + b"\0" + content + b"\0")
    built = json.loads((PAGE / "build.json").read_text())
    assert built["source"] == digest.hexdigest(), "npm run build in playground/"


def test_the_times_of_the_page_in_the_documentation_are_those_measured() -> None:
    results = json.loads((SOURCE.parent / "results" / "page.json").read_text())
    measured, chips = results["training"], results["chips"]
    text = (SOURCE.parent / "docs" / "playground.md").read_text()
    assert f"{measured['frames_per_second']} frames a second while it trains" in text.replace(
        "\n", " "
    )
    for name, seconds in measured["seconds_to_95_percent"].items():
        assert re.search(rf"{seconds} s\s\({name}\)", text), name
    for name, words in (("seconds", "take "), ("seconds_without_webassembly", "WebAssembly ")):
        first, second = (f"{value:.0f}" for value in chips[name])
        assert f"{words}{first} and {second} s" in " ".join(text.split()), name
