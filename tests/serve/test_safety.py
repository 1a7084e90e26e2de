"""Who may ask what, against the real server on loopback."""

from __future__ import annotations

import secrets
import socket
import time

import pytest

from recrawl.serve import safety
from recrawl.serve.safety import ServerAccess
from tests.serve.api_server import (
    HOSTILE,
    PAGES,
    TOKEN,
    Client,
    crawl_store,
    served,
    write_settings,
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    file = write_settings(tmp_path_factory.mktemp("served"))
    crawl_store(file)
    return file


@pytest.fixture
def client(file):
    with served(file, access=ServerAccess(TOKEN, frozenset({"127.0.0.1"}), True, 20_000)) as client:
        yield client


def raw(client, request):
    """What the server answers to bytes as they are."""
    with socket.create_connection(("127.0.0.1", client.port), timeout=60) as wire:
        wire.sendall(request)
        found = b""
        while part := wire.recv(65536):
            found += part
        return found


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "a:b:c", "[::1"])
def test_only_our_own_names_are_answered(client, host):
    answer = client.get("/api/v1/status", Host=host)
    assert answer.status == 421
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path", ["/", "/api/v1/status", "/api/v1/none", "/static/style.css", "/none", "/login"]
)
def test_every_answer_tells_browsers_to_run_nothing_else(client, path):
    answer = client.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "access-control-allow-origin" not in answer.headers


def test_a_call_that_changes_something_needs_the_token(client):
    client = Client(client.port, token="")
    body = {"urls": [PAGES[0]]}
    assert client.post("/api/v1/hints", body).status == 401
    for wrong in ("Bearer", "Bearer x", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \xe4"):
        assert client.post("/api/v1/hints", body, Authorization=wrong).status == 401
    assert client.post("/api/v1/hints", body, Authorization=f"bearer {TOKEN}").status == 200


def test_the_token_is_compared_in_constant_time(monkeypatch):
    compared: list[tuple[bytes, bytes]] = []
    real = secrets.compare_digest

    def compare(one, other):
        compared.append((one, other))
        return real(one, other)

    monkeypatch.setattr(secrets, "compare_digest", compare)
    access = ServerAccess.at("127.0.0.1", TOKEN)
    assert access.knows(TOKEN)
    assert not access.knows(TOKEN[:-1])
    assert not access.knows(None)
    assert compared == [(TOKEN.encode(), TOKEN.encode()), (TOKEN[:-1].encode(), TOKEN.encode())]


def test_the_token_is_no_part_of_what_is_printed():
    assert TOKEN not in repr(ServerAccess.at("127.0.0.1", TOKEN))


def test_a_cookie_is_for_our_own_pages_only(client):
    browser = Client(client.port, token="")
    refused = browser.get("/login?token=wrong")
    login = browser.get(f"/login?token={TOKEN}")

    assert (refused.status, login.status) == (401, 303)
    cookie = login.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()

    def post(**headers):
        sent = {"Cookie": cookie.partition(";")[0], **headers}
        return browser.post("/api/v1/hints", {"urls": [PAGES[0]]}, **sent).status

    own = f"http://127.0.0.1:{client.port}"
    assert post(Origin=own) == 200
    assert post(Sec_Fetch_Site="same-origin") == 200
    assert post() == 403
    assert post(Origin="http://evil.example") == 403
    assert post(Origin="null") == 403
    assert post(Sec_Fetch_Site="cross-site") == 403
    assert post(Sec_Fetch_Site="same-site", Origin="http://127.0.0.1:1") == 403


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        *((each, True) for each in ("127.0.0.1", "127.1.2.3", "::1", "localhost")),
        *((each, False) for each in ("0.0.0.0", "::", "10.0.0.1", "192.168.1.1", "example.org")),  # noqa: S104 - only decided on
        ("localhost.evil.example", False),
        ("2130706433", False),
    ],
)
def test_any_other_address_needs_a_token_even_to_read(address, is_open):
    """The decision only: nothing is bound there."""
    assert ServerAccess.at(address, TOKEN).open_to_read is is_open


def test_reading_needs_the_token_where_others_may_ask(file):
    access = ServerAccess(TOKEN, frozenset({"127.0.0.1"}), open_to_read=False)
    with served(file, access=access) as client:
        stranger = Client(client.port, token="")
        for path in ("/", "/api/v1/status", "/api/v1/openapi.json", "/static/style.css"):
            assert stranger.get(path).status == 401, path
        assert client.get("/api/v1/status").status == 200


def test_a_body_is_bounded_whether_it_says_its_size_or_not(client):
    large = {"urls": ["https://a.org/" + 30_000 * "x"]}
    assert client.post("/api/v1/hints", large).status == 413
    head = (
        f"POST /api/v1/hints HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nConnection: close\r\n"
    )
    chunk = b"5000\r\n" + 0x5000 * b"x" + b"\r\n"
    answer = raw(
        client, head.encode() + b"Transfer-Encoding: chunked\r\n\r\n" + chunk + b"0\r\n\r\n"
    )
    assert answer.split(b"\r\n", 1)[0].split()[1] in (b"413", b"400")
    assert b"application/problem+json" in answer


@pytest.mark.parametrize(
    "lines",
    [
        "Host: 127.0.0.1\r\nHost: evil.example",
        "Host: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6",
        "Host: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked",
        "Host: 127.0.0.1\r\nContent-Length: +5",
        "Host: 127.0.0.1\r\nTransfer-Encoding: xchunked",
        "Host: 127.0.0.1\r\nTransfer-Encoding : chunked",
        "Host: 127.0.0.1\r\nX: a\r\n b: c\x00",
        "Host: 127.0.0.1\r\nAuthorization: Bearer x\r\nAuthorization: Bearer " + TOKEN,
    ],
)
def test_headers_that_can_be_read_in_two_ways_are_refused(client, lines):
    request = f"POST /api/v1/hints HTTP/1.1\r\nConnection: close\r\n{lines}\r\n\r\n"
    smuggled = (
        f"GET /api/v1/due HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    )
    answer = raw(client, request.encode() + smuggled.encode())
    assert answer.split(b" ", 2)[1] in (b"400", b"401", b"413", b"421", b"501"), answer
    assert answer.count(b"HTTP/1.1 ") == 1


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static//etc/passwd",
        "/static/%00",
        "/static/....//app.py",
    ],
)
def test_no_path_leads_out_of_our_files(client, path):
    answer = raw(
        client, f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode()
    )
    assert answer.split(b" ", 2)[1] in (b"404", b"400")
    assert b"create_app" not in answer


def test_no_name_of_a_file_comes_from_a_request(client):
    for url in ("file:///etc/passwd", "/etc/passwd", "../recrawl.toml"):
        answer = client.get(f"/api/v1/copies?url={url}")
        assert answer.status in (404, 422)
        assert b"root:" not in answer.body
        assert b"agent" not in answer.body


def test_a_copy_is_text_and_never_a_page_of_ours(client):
    answer = client.get(f"/api/v1/copies?url={PAGES[0]}")
    assert answer.headers["content-type"] == "application/json"
    assert HOSTILE not in answer.json()["markdown"]
    page = client.get("/pages/0/text")
    if page.status == 200:
        assert HOSTILE.encode() not in page.body


def test_streams_are_bounded(client, monkeypatch):
    monkeypatch.setattr("recrawl.serve.api.live.MOST_STREAMS", 0)
    assert client.get("/api/v1/live").status == 503
    waiting = client.get("/api/v1/changes?wait=1")
    assert waiting.status == 503
    assert waiting.headers["retry-after"]


def test_a_stream_that_waits_in_vain_says_so(client, monkeypatch):
    """It has no limit of its own to name."""

    def in_vain(*_):
        raise TimeoutError

    monkeypatch.setattr("recrawl.serve.api.changes._events", in_vain)
    answer = client.get("/api/v1/changes")
    assert answer.status == 503
    assert answer.json()["detail"] == "no answer in time"


def test_an_answer_that_takes_too_long_is_given_up(client, monkeypatch):
    monkeypatch.setattr(safety, "_ANSWER_SECONDS", 0.2)

    def slow(*_):
        time.sleep(1.0)
        return []

    monkeypatch.setattr("recrawl.serve.api.pages.visit_objects", slow)
    answer = client.get("/api/v1/pages/1/visits?limit=3")
    assert answer.status == 503
    assert "0.2 seconds" in answer.json()["detail"]
    time.sleep(1.0)


def test_the_script_of_charts_is_waited_for(client, monkeypatch):
    """It takes a second or more to put together; a page that gives it up has no charts."""
    monkeypatch.setattr(safety, "_ANSWER_SECONDS", 0.01)

    answer = client.get(safety.CHART_SCRIPT)

    assert answer.status == 200
    assert b"vegaEmbed" in answer.body


def test_a_fault_of_ours_is_a_problem_and_says_nothing_else(client, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("secret detail")

    monkeypatch.setattr("recrawl.serve.api.pages.visit_objects", broken)
    answer = client.get("/api/v1/pages/2/visits?limit=7")
    assert answer.status == 500
    assert answer.headers["content-type"] == "application/problem+json"
    assert "content-security-policy" in answer.headers
    assert b"secret" not in answer.body


def test_other_methods_are_refused_with_those_that_work(client):
    answer = client.ask("DELETE", "/api/v1/status")
    assert answer.status == 405
    assert answer.headers["allow"] == "GET"
    assert client.ask("DELETE", "/api/v1/visits").headers["allow"] == "GET, POST"
    assert answer.headers["content-type"] == "application/problem+json"
