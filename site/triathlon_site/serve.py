"""Showing the built site on loopback, as a host of static pages would; rebuilding it on a change."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import parse_qs, unquote, urlsplit

import triathlon_runner
import triathlon_site
from triathlon_runner.catalogue import suites_file_beside
from triathlon_runner.errors import UserError
from triathlon_site.load import file_state
from triathlon_site.render import MISSING, find_templates, installed_environment

INTERVAL: Final = 0.5
"""Seconds between two looks at the files."""

LOOPBACK: Final = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d{1,5})?", re.IGNORECASE)
"""Names under which a browser reaches this server; another page's name can be made to lead here, too."""
Snapshot = Mapping[str, str]


def snapshot(places: Sequence[Path]) -> Snapshot:
    """Size and time of change of every file below these folders, by path; a place may also be a file."""
    paths = (path for place in places for path in ([place] if place.is_file() else place.rglob("*")))
    return {
        os.fspath(path): file_state(path)
        for path in paths
        if "__pycache__" not in path.parts and path.is_file()
    }


def watched_places(results: Path, models_file: Path | None) -> list[Path]:
    """What a site is built from: results, lists of models and suites, templates, the packages' code."""
    packages = [Path(package.__path__[0]) for package in (triathlon_runner, triathlon_site)]
    lists = [path for path in (models_file, suites_file_beside(models_file)) if path]
    return [results, *lists, find_templates(), *packages]


def watch(
    places: Sequence[Path],
    built: Snapshot,
    rebuild: Callable[[], object],
    stop: threading.Event,
    interval: float = INTERVAL,
) -> None:
    """Rebuilds after each change of these files and folders, until another thread sets `stop`.

    `built` is the state of them that the site was built from.
    """
    while not stop.wait(interval):
        now = snapshot(places)
        if now == built:
            continue
        while not stop.wait(interval) and (later := snapshot(places)) != now:
            now = later  # somebody is still writing
        built = now
        rebuild()


def rebuild_site(results: Path, out: Path, models_file: Path | None) -> bool:
    """Builds the site in a process of its own, which has the changed code; says whether that succeeded.

    Its messages stand on the terminal.
    """
    command = [sys.executable, "-m", "triathlon_site", "build", "--results", str(results), "--out", str(out)]
    models = ["--models-file", str(models_file)] if models_file else []
    return subprocess.run([*command, *models], check=False).returncode == 0


class _Handler(SimpleHTTPRequestHandler):
    """Files of the site, asked for anew each time; with `watched`, pages that load themselves again."""

    protocol_version = "HTTP/1.1"  # one connection carries a page and what belongs to it
    disable_nagle_algorithm = True  # else the body waits until the head is acknowledged
    timeout = 60

    def __init__(self, *args: Any, watched: bool = False, **named: Any) -> None:
        self._watched = watched
        super().__init__(*args, **named)

    def send_head(self) -> BytesIO | BinaryIO | None:
        if not LOOPBACK.fullmatch(self.headers.get("Host", "localhost")):
            self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
            return None
        if "\0" in unquote(self.path):
            self.send_error(HTTPStatus.BAD_REQUEST)
            return None
        return (self._watched and self._of_watched()) or super().send_head()

    def _of_watched(self) -> BytesIO | None:
        """The scripts by which pages find out that there is a new site, and pages with such a script."""
        address, version = urlsplit(self.path), _version(Path(self.directory))
        if address.path == "/_watch.js":
            return self._send(find_templates().joinpath("shared/watch.js").read_bytes(), "text/javascript")
        if address.path == "/_changed.js":
            is_new = version and version not in parse_qs(address.query).get("version", ())
            return self._send(b"location.reload();\n" if is_new else b"", "text/javascript")
        path = Path(self.translate_path(self.path))
        if path.is_dir() and address.path.endswith("/"):
            path /= "index.html"
        if path.suffix != ".html" or not path.is_file():
            return None
        script = installed_environment().render("shared/watch", version=version)
        return self._send(path.read_bytes() + script.encode(), "text/html")

    def _send(self, body: bytes, content_type: str, status: HTTPStatus = HTTPStatus.OK) -> BytesIO:
        """The head of an answer; returns its body."""
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        return BytesIO(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """The site's page for an address that leads nowhere, where it has one."""
        page = Path(self.directory) / MISSING
        if code == HTTPStatus.NOT_FOUND and page.is_file():
            body = self._send(page.read_bytes(), "text/html", HTTPStatus.NOT_FOUND)
            self.wfile.write(b"" if self.command == "HEAD" else body.read())
        else:
            super().send_error(code, message, explain)

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


def _version(folder: Path) -> str:
    """Of a site, another after each rebuild; empty while the new one takes the old one's place."""
    try:
        return str((folder / "index.html").stat().st_mtime_ns)
    except OSError:
        return ""


def make_server(folder: Path, port: int, *, watched: bool = False) -> ThreadingHTTPServer:
    """A server on 127.0.0.1 that is not running yet; port 0 takes any free one.

    `watched`: whether pages load themselves again after each rebuild.

    Raises:
        UserError: there is no site in the folder, or the port is taken.
    """
    if not (folder / "index.html").is_file():
        raise UserError(
            f"expected a built site at --out, found no index.html in {str(folder)!r}; run `triathlon build`"
        )
    handler = partial(_Handler, directory=str(folder), watched=watched)
    try:
        return _Server(("127.0.0.1", port), handler)
    except OSError as error:
        raise UserError(
            f"cannot listen on port {port} ({error.strerror}); choose another with --port"
        ) from None


def serve(folder: Path, port: int, *, started: Callable[[str], None], watched: bool = False) -> None:
    """Serves until Ctrl-C; `started` is called with the address.

    Raises:
        UserError: as `make_server`.
    """
    with make_server(folder, port, watched=watched) as server:
        started(f"http://127.0.0.1:{server.server_address[1]}/")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


def serve_watching(
    folder: Path, port: int, *, started: Callable[[str], None], results: Path, models_file: Path | None
) -> None:
    """Builds the site and serves it until Ctrl-C; builds again after each change of what it is made from.

    Raises:
        UserError: as `make_server`; the first build failed and there is no older site.
    """
    rebuild = partial(rebuild_site, results, folder, models_file)
    stop = threading.Event()
    places = watched_places(results, models_file)
    before = snapshot(places)
    rebuild()
    watcher = threading.Thread(target=watch, args=(places, before, rebuild, stop), daemon=True)
    watcher.start()
    try:
        serve(folder, port, started=started, watched=True)
    finally:
        stop.set()
        watcher.join()
