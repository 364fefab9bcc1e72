"""A server on loopback for the files of the page and nothing else."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from entrain.playground.files import Content, content_of

HOST = "127.0.0.1"
_PAUSE = 0.1  # seconds

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; "
    "style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; worker-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-cache",
}


class PageServer(ThreadingHTTPServer):
    """Serves the files of `page_files` on 127.0.0.1; port 0 is any free port."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, files: Mapping[str, Content], port: int = 0) -> None:
        self.files = {f"/{name}": content for name, content in files.items()}
        self.files["/"] = self.files["/index.html"]
        super().__init__((HOST, port), _Handler)

    def get_request(self) -> tuple[Any, Any]:
        """See TCPServer; waits after a failure, which would be repeated at once while the process
        has no free file descriptor."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_PAUSE)
            raise

    @property
    def url(self) -> str:
        """Address of the page."""
        return f"http://{HOST}:{self.server_port}/"

    @property
    def hosts(self) -> set[str]:
        """Host headers of requests from this machine."""
        return {f"{name}:{self.server_port}" for name in (HOST, "localhost")}


class _Handler(BaseHTTPRequestHandler):
    server: PageServer
    server_version, sys_version = "Entrain", ""
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self) -> None:
        self._respond(with_body=True)

    def do_HEAD(self) -> None:
        self._respond(with_body=False)

    def _respond(self, *, with_body: bool) -> None:
        # With another name for this address a foreign page could read the files.
        if self.headers.get("Host") not in self.server.hosts:
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return
        try:
            name = urlsplit(self.path).path
        except ValueError:  # such as http://[/
            self.send_error(HTTPStatus.BAD_REQUEST)
            return
        if name not in self.server.files:
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        content = content_of(self.server.files[name])
        suffix = ".html" if name == "/" else PurePosixPath(name).suffix
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", _TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def end_headers(self) -> None:
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    def handle(self) -> None:
        with contextlib.suppress(ConnectionError):  # the browser has closed the connection
            super().handle()

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing."""
