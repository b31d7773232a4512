"""Server of the preview: this computer only, the token, the host, and a clean end."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from awkward_machines.judge import toml
from helpers_cli import ARM, Command

import gpmelica as gp
from gpmelica.preview.page import page_of
from gpmelica.preview.preview import Preview
from gpmelica.preview.server import PreviewServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PreviewServer]:
    path = tmp_path_factory.mktemp("preview") / "arm.toml"
    path.write_text(toml(ARM), encoding="utf-8")
    preview = Preview(path)
    with PreviewServer(preview, page_of(preview)) as found:
        yield found


def asked(
    server: PreviewServer, method: str, path: str, body: Any = None, host: str | None = None
) -> tuple[int, str, dict[str, str]]:
    """Status, text and headers of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    headers = {} if host is None else {"Host": host}
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode(), dict(answer.headers)
    finally:
        connection.close()


def test_page_with_the_token(server: PreviewServer) -> None:
    status, text, headers = asked(server, "GET", f"/{server.token}/")
    assert status == 200
    assert 'id="preview"' in text
    assert "http://" not in re.sub(
        r"http://www\.w3\.org|https?://[\w.]*threejs\.org\S*", "", text.split("<script")[0]
    )
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy and "connect-src 'self'" in policy and "unsafe-eval" not in policy
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


@pytest.mark.parametrize("method", ["GET", "POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize(
    "path", ["/", "", "/favicon.ico", "/events", "/{wrong}/", "/{token}", "/x/{token}/", "/%2e%2e/"]
)
def test_every_request_without_the_token_is_refused(server: PreviewServer, method: str, path: str) -> None:
    wrong = "a" * len(server.token)
    status, text, _ = asked(server, method, path.format(token=server.token, wrong=wrong) or "*", {})
    assert status == 403
    assert server.token not in text


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1]:{port}", ""]
)
def test_foreign_hosts_are_refused(server: PreviewServer, host: str) -> None:
    """A name that DNS rebinding directs to this computer is not its own name."""
    assert asked(server, "GET", f"/{server.token}/", host=host.format(port=server.port))[0] == 403


def test_own_hosts_are_accepted(server: PreviewServer) -> None:
    for name in ("127.0.0.1", "localhost"):
        assert asked(server, "GET", f"/{server.token}/", host=f"{name}:{server.port}")[0] == 200


def test_browsers_leave_out_the_port_of_http(server: PreviewServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page at port 80 is requested with the name of the host alone."""
    monkeypatch.setattr("gpmelica.preview.server._HTTP", server.port)
    assert asked(server, "GET", f"/{server.token}/", host="127.0.0.1")[0] == 200
    assert asked(server, "GET", f"/{server.token}/", host="localhost")[0] == 200
    assert asked(server, "GET", f"/{server.token}/", host="evil.example")[0] == 403


def test_tokens_differ_and_are_long(server: PreviewServer) -> None:
    with PreviewServer(server.preview, server.page) as other:
        assert len({server.token, other.token}) == 2
        assert min(map(len, (server.token, other.token))) >= 43  # 256 bits


def test_no_other_address_answers(server: PreviewServer) -> None:
    """The server listens at 127.0.0.1 and at no other address of this computer, not even 127.0.0.2."""
    others = {"127.0.0.2", "::1"} if sys.platform == "linux" else {"::1"}
    others |= {str(entry[4][0]) for entry in socket.getaddrinfo(socket.gethostname(), None)} - {"127.0.0.1"}
    for address in others:
        with pytest.raises(OSError):
            socket.create_connection((address, server.port), timeout=2).close()


def test_answers_are_json_of_the_preview(server: PreviewServer) -> None:
    status, text, headers = asked(server, "POST", f"/{server.token}/show", {})
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(text)["problems"] == []
    moved = asked(server, "POST", f"/{server.token}/show", {"move": {"name": "lower.angle", "value": 0.25}})[1]
    assert 0.25 in json.loads(moved)["pose"]["q"]
    assert json.loads(asked(server, "POST", f"/{server.token}/check", {})[1])["dof"] == 1


@pytest.mark.parametrize(
    ("place", "body", "status"),
    [
        ("nothing", {}, 404),
        ("show", [], 400),
        ("show", {"coordinates": {"lower.angle": "much"}}, 400),
        ("show", {"parameters": 3}, 400),
        ("show", {"move": {"name": "lower.angle", "value": float("nan")}}, 400),
    ],
)
def test_wrong_questions(server: PreviewServer, place: str, body: Any, status: int) -> None:
    assert asked(server, "POST", f"/{server.token}/{place}", body)[0] == status


@pytest.mark.parametrize(("size", "status"), [("1000001", 413), ("-1", 413), ("many", 413)])
def test_sizes_of_questions_are_limited(server: PreviewServer, size: str, status: int) -> None:
    """The server does not wait for more than a page of its own would send."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.putrequest("POST", f"/{server.token}/show")
    connection.putheader("Content-Length", size)
    connection.endheaders()
    assert connection.getresponse().status == status
    connection.close()


def test_events_tell_of_a_save(server: PreviewServer) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", f"/{server.token}/events")
    answer, preview = connection.getresponse(), server.preview
    assert answer.headers["Content-Type"] == "text/event-stream"
    first = int(answer.readline().decode().removeprefix("data: "))
    assert first == preview.version
    answer.readline()
    preview.path.write_text(toml(ARM | {"description": "saved again"}), encoding="utf-8")
    ended = threading.Event()
    threading.Thread(target=lambda: [ended.wait(0.02) or preview.poll() for _ in range(5)]).start()
    assert int(answer.readline().decode().removeprefix("data: ")) == first + 1
    answer.close()
    connection.close()


def test_port_in_use_is_reported(server: PreviewServer) -> None:
    with pytest.raises(gp.DescriptionError, match=f"--port: port {server.port} cannot be used"):
        PreviewServer(server.preview, server.page, server.port)
    with pytest.raises(gp.DescriptionError, match="--port: port 70000 cannot be used"):
        PreviewServer(server.preview, server.page, 70000)


def test_missing_file_has_status_2(gpmelica: Command, tmp_path: Path) -> None:
    answer = gpmelica("view", tmp_path / "absent.toml", "--no-browser")
    assert answer.status == 2
    assert "absent.toml: No such file" in answer.err


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGINT for one process")
def test_interrupt_ends_the_command_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "arm.toml"
    path.write_text(toml(ARM), encoding="utf-8")
    # a test run in a shell's background inherits that it is to ignore Ctrl-C
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [
        sys.executable,
        "-c",
        f"{heard}; from gpmelica.cli import main; main()",
        "view",
        str(path),
        "--no-browser",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert re.search(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", process.stdout.readline())
        process.send_signal(signal.SIGINT)
        _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (0, "")
