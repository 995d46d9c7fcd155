"""Showing the built site on loopback."""

from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from triathlon_runner.errors import UserError


class _Handler(SimpleHTTPRequestHandler):
    """Files only, said nothing about, never kept by the browser."""

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-store")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not worth a line each."""


def make_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 that is not running yet.

    Raises:
        UserError: there is no site in the folder, or the port is taken.
    """
    if not (folder / "index.html").is_file():
        raise UserError(
            f"expected a built site at --out, found no index.html in {str(folder)!r}; run `triathlon build`"
        )
    try:
        return ThreadingHTTPServer(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise UserError(
            f"cannot listen on port {port} ({error.strerror}); choose another with --port"
        ) from None


def serve(folder: Path, port: int, *, started: Callable[[str], None]) -> None:
    """Serves until Ctrl-C.

    Raises:
        UserError: as `make_server`.
    """
    with make_server(folder, port) as server:
        started(f"http://127.0.0.1:{server.server_address[1]}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
