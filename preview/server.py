"""HTTP server of the preview, which answers only requests from this computer.

The URL must contain a random token, so other programs and web pages cannot use the server.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
import sys
import threading
from collections.abc import Callable, Mapping
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from ..core.errors import DescriptionError
from ..core.strict_json import strict_json
from .page import PreviewPage
from .posing import Move
from .preview import Preview, View

ADDRESS = "127.0.0.1"
_HTTP = 80  # Port of HTTP, which browsers leave out of the name of the host.
_MOST = 1_000_000  # Largest size of a request, bytes.
_PATIENCE = 10.0  # Interval between empty messages that keep an event stream open, s.


class PreviewServer:
    """HTTP server of one preview page on this computer.

    Parameters
    ----------
    preview : Preview
        Content of the page.
    page : PreviewPage
        HTML of the page, and its content security policy.
    port : int
        Port, or 0 for a free one. Raises DescriptionError if the port is in use.
    """

    def __init__(self, preview: Preview, page: PreviewPage, port: int = 0) -> None:
        self.token, self.preview, self.page = secrets.token_urlsafe(32), preview, page
        self.closed = threading.Event()
        own = type("_BoundHandler", (_Handler,), {"owner": self})
        try:
            self._server = _Server((ADDRESS, port), own)
        except (OSError, OverflowError) as error:
            text = f"port {port} cannot be used ({error}); choose another, or leave the option out"
            raise DescriptionError("--port", text) from None
        self.port = int(self._server.server_address[1])

    @property
    def url(self) -> str:
        """URL of the preview page, which contains the server's secret token."""
        return f"http://{ADDRESS}:{self.port}/{self.token}/"

    def __enter__(self) -> PreviewServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *exception: object) -> None:
        self.closed.set()
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that a browser has closed before the end of an answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    """Handler of the HTTP requests to the preview.

    A request without the token or with a foreign host gets status 403.
    """

    owner: PreviewServer
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "gpmelica", ""

    def parse_request(self) -> bool:
        """Read the request line and headers; refuse requests from other hosts or without the token."""
        return super().parse_request() and (self._is_allowed() or self._refuse())

    def do_GET(self) -> None:
        """Send the page, or the stream of events that reports changes of the file."""
        if self._place == "":
            page = self.owner.page
            self._send(page.html, "text/html; charset=utf-8", {"Content-Security-Policy": page.policy})
        elif self._place == "events":
            self._stream()
        else:
            self._fail(HTTPStatus.NOT_FOUND)

    def do_POST(self) -> None:
        """Answer a request of the preview page with data in JSON."""
        preview, size = self.owner.preview, self.headers.get("Content-Length", "")
        answers: dict[str, Callable[[View], Any]] = {
            "show": preview.show,
            "check": lambda v: preview.check(v.case),
        }
        if self._place not in answers:
            return self._fail(HTTPStatus.NOT_FOUND)
        if not size.isdigit() or int(size) > _MOST:
            return self._fail(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
        try:
            view = view_of(json.loads(self.rfile.read(int(size))))
        except (ValueError, TypeError, AttributeError, KeyError):
            return self._fail(HTTPStatus.BAD_REQUEST)
        try:
            answer = strict_json(answers[self._place](view))
        except Exception as error:  # The page shows the error, so a traceback in the terminal is not needed.
            return self._fail(HTTPStatus.INTERNAL_SERVER_ERROR, f"{type(error).__name__}: {error}")
        self._send(answer, "application/json")

    def log_message(self, *arguments: object) -> None:
        """Print no message for a request, unlike the base class."""

    @property
    def _place(self) -> str:
        return self.path.split("?")[0].split("/", 2)[2]

    def _is_allowed(self) -> bool:
        """Whether the URL path begins with the secret token, and the `Host` header names this computer.

        The check of the `Host` header prevents DNS rebinding.
        """
        parts = self.path.split("?")[0].split("/", 2)
        given = parts[1] if len(parts) == 3 else ""
        names, port = (ADDRESS, "localhost"), self.owner.port
        hosts = {f"{name}:{port}" for name in names} | ({*names} if port == _HTTP else set())
        is_known = hmac.compare_digest(given.encode(), self.owner.token.encode())
        return is_known and self.headers.get("Host") in hosts

    def _refuse(self) -> bool:
        self._fail(HTTPStatus.FORBIDDEN)
        return False

    def _fail(self, status: HTTPStatus, text: str = "") -> None:
        self.close_connection = True
        self._send(text or status.phrase, "text/plain; charset=utf-8", status=status)

    def _send(
        self,
        text: str,
        kind: str,
        headers: Mapping[str, str] | None = None,
        status: HTTPStatus = HTTPStatus.OK,
    ) -> None:
        content = text.encode("utf-8")
        self._begin(kind, {"Content-Length": str(len(content)), **(headers or {})}, status)
        self.wfile.write(content)

    def _begin(self, kind: str, headers: Mapping[str, str], status: HTTPStatus = HTTPStatus.OK) -> None:
        self.send_response(status)
        fixed = {
            "Content-Type": kind,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in (fixed | dict(headers)).items():
            self.send_header(name, value)
        self.end_headers()

    def _stream(self) -> None:
        """Send the file's version number to the page now and after each change, until the page is closed."""
        self.close_connection = True
        self._begin("text/event-stream", {"Connection": "close"})
        version = 0
        try:
            while not self.owner.closed.is_set():
                present = self.owner.preview.wait(version, _PATIENCE)
                self.wfile.write(b": \n\n" if present == version else f"data: {present}\n\n".encode())
                version = present
        except OSError:  # The user has closed the page.
            return


def view_of(question: Mapping[str, Any]) -> View:
    """Return the page settings that a request contains.

    ValueError, TypeError or KeyError is raised if the request is invalid.
    """
    numbers = {
        key: {str(name): _finite(value) for name, value in question.get(key, {}).items()}
        for key in ("parameters", "inputs", "coordinates")
    }
    move = question.get("move")
    return View(
        case=str(question.get("case") or ""),
        move=Move(str(move["name"]), _finite(move["value"])) if move else None,
        settle=bool(question.get("settle")),
        scene=int(question.get("scene") or 0),
        **numbers,
    )


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"expected a finite number, got {number}")
    return number
