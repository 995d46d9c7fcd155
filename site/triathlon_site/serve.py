"""Showing the built site on loopback, as a host of static pages would."""

import gzip
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from triathlon_runner.errors import UserError

COMPRESSED: Final = frozenset({".html", ".css", ".js", ".json", ".csv", ".svg", ".xml", ".tex"})
"""Texts, which every host of static pages sends compressed."""


class _Handler(SimpleHTTPRequestHandler):
    """Files only, said nothing about. Pages are asked for anew each time; assets are named by content."""

    protocol_version = "HTTP/1.1"  # one connection carries a page and what belongs to it
    disable_nagle_algorithm = True  # else the body waits until the head is acknowledged
    timeout = 60

    def send_head(self) -> BytesIO | BinaryIO | None:
        path = Path(self.translate_path(self.path))
        if path.is_dir() and self.path.partition("?")[0].endswith("/"):
            path /= "index.html"
        if path.suffix not in COMPRESSED or "gzip" not in self.headers.get("Accept-Encoding", ""):
            return super().send_head()
        try:
            body = gzip.compress(path.read_bytes(), mtime=0)
        except OSError:
            self.send_error(HTTPStatus.NOT_FOUND)
            return None
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def end_headers(self) -> None:
        kept = "/assets/" in self.path
        self.send_header("Cache-Control", "public, max-age=31536000, immutable" if kept else "no-cache")
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
