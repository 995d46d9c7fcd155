"""Showing the built site on loopback, as a host of static pages would."""

import re
import sys
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import unquote

from triathlon_runner.errors import UserError
from triathlon_site.render import MISSING

LOOPBACK: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
"""Names under which a browser reaches this server; another page's name can be made to lead here, too."""


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, asked for anew each time."""

    protocol_version = "HTTP/1.1"  # one connection carries a page and what belongs to it
    disable_nagle_algorithm = True  # else the body waits until the head is acknowledged
    timeout = 60

    def send_head(self) -> BytesIO | BinaryIO | None:
        if not LOOPBACK.fullmatch(self.headers.get("Host", "localhost")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if "\0" in unquote(self.path):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return None
        return super().send_head()

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The site's page for an address that leads nowhere, where it has one."""
        page = Path(self.directory) / MISSING
        if code != HTTPStatus.NOT_FOUND or not page.is_file():
            super().send_error(code, message, explain)
            return
        body = page.read_bytes()
        self.send_response(HTTPStatus.NOT_FOUND)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else body)

    def end_headers(self) -> None:
        self.send_header("Cache-Control", "no-cache")
        self.send_header("X-Content-Type-Options", "nosniff")
        super().end_headers()

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not worth a line each."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that closes its connection is no fault: browsers do that when a page is left."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


def make_server(folder: Path, port: int) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 that is not running yet; port 0 takes any free one.

    Raises:
        UserError: there is no site in the folder, or the port is taken.
    """
    if not (folder / "index.html").is_file():
        raise UserError(
            f"expected a built site at --out, found no index.html in {str(folder)!r}; run `triathlon build`"
        )
    try:
        return _Server(("127.0.0.1", port), partial(_Handler, directory=str(folder)))
    except OSError as error:
        raise UserError(
            f"cannot listen on port {port} ({error.strerror}); choose another with --port"
        ) from None


def serve(folder: Path, port: int, *, started: Callable[[str], None]) -> None:
    """Serves until Ctrl-C; `started` is called with the address.

    Raises:
        UserError: as `make_server`.
    """
    with make_server(folder, port) as server:
        started(f"http://127.0.0.1:{server.server_address[1]}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return
