"""Logins, cookies and headers of the settings reach their own origin, and nobody else."""

import asyncio
from contextlib import asynccontextmanager

import pytest

from recrawl.fetch.access import AccessTable
from recrawl.fetch.http.client import HttpFetcher
from recrawl.parse.messages import Request
from recrawl.settings.access_keys import AccessRule
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings
from tests.fetch.asking import AGENT, SMALL, check
from tests.servers.answers import late, page, redirect, status
from tests.servers.faults import FaultServer
from tests.servers.locked import demanding, echo

HIDDEN = "hunter2hunter2"
# What each key of the settings makes us send; base64 of "me:hunter2hunter2" by RFC 7617.
KINDS = {
    "basic": (
        {"user": "me", "password": "env:WORD"},
        {"authorization": "Basic bWU6aHVudGVyMmh1bnRlcjI="},
    ),
    "bearer": ({"token": "env:WORD"}, {"authorization": f"Bearer {HIDDEN}"}),
    "header": ({"headers": (("X-Api-Key", "env:WORD"),)}, {"x-api-key": HIDDEN}),
    "cookie": ({"cookies": "cookies.txt"}, {"cookie": f"session={HIDDEN}"}),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("WORD", HIDDEN)
    text = f"127.0.0.1\tFALSE\t/\tFALSE\t0\tsession\t{HIDDEN}\n"
    (tmp_path / "cookies.txt").write_text(text)
    return tmp_path


@asynccontextmanager
async def fetching(folder, server, keys, said=None):
    """A fetcher for a server whose settings have these keys."""
    rule = Rule(server.address("/"), local=True, access=AccessRule(**keys))
    table = AccessTable(Settings(AGENT, rules=(rule,)), folder)
    on_remark = bool if said is None else said.append
    fetcher = HttpFetcher(AGENT, SMALL, access=table, on_remark=on_remark)
    try:
        yield fetcher
    finally:
        await fetcher.close()


def asked(folder, behaviour, keys, **request):
    """The answer of a server to one request, the server, and what people were told."""

    async def run():
        said: list[str] = []
        async with (
            FaultServer({"/": behaviour}) as server,
            fetching(folder, server, keys, said) as fetcher,
        ):
            question = Request(server.address("/"), local=True, **request)
            answer = await fetcher.fetch(question)
            check(question, answer, SMALL)
            return answer, server, said

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
def test_whoever_demands_it_gets_it(folder, kind):
    keys, wanted = KINDS[kind]

    answer, _, said = asked(folder, demanding(page(b"hello"), wanted), keys)

    assert (answer.status, answer.body, said) == (200, b"hello", [])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("code", [401, 403])
def test_a_wrong_secret_is_told_by_host_and_code_alone(folder, monkeypatch, kind, code):
    keys, wanted = KINDS[kind]
    monkeypatch.setenv("WORD", "wrong-secret")
    cookies = folder / "cookies.txt"
    cookies.write_text(cookies.read_text().replace(HIDDEN, "wrong-secret"))

    answer, server, said = asked(folder, demanding(page(b"hello"), wanted, code), keys)

    told = "to the credentials in its settings; check them."
    assert said == [f"127.0.0.1:{server.port} answers {code} {told}"]
    assert answer.status == code
    assert "wrong-secret" not in repr(answer)


def test_a_refusal_without_credentials_is_no_wrong_secret(folder):
    answer, _, said = asked(folder, status(401), {"timeout": 1.0})

    assert (answer.status, said) == (401, [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_page_that_repeats_a_secret_is_kept_without_it(folder, kind):
    """Pages for debugging show all that they were sent; cookies they set may be as good."""
    answer, server, _ = asked(folder, echo, KINDS[kind][0])

    assert HIDDEN in str(server.requests[0].headers) or "Basic" in str(server.requests[0].headers)
    assert answer.status == 200
    assert b"(secret)" in answer.body
    assert "(secret)" in answer.headers["x-sent"]
    for secret in (HIDDEN, "bWU6aHVudGVyMmh1bnRlcjI", "s=fresh"):
        assert secret not in repr(answer)


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_without_credentials_sends_none(folder, kind):
    _, server, _ = asked(folder, page(b"hello"), KINDS[kind][0], credentials=False)

    (seen,) = server.requests
    assert not {"authorization", "cookie", "x-api-key"} & set(seen.headers)


def test_conditions_and_headers_of_the_settings_go_together(folder):
    keys = {"headers": (("Accept-Language", "de"), ("accept", "text/plain"))}

    _, server, _ = asked(folder, page(b"hello"), keys, etag='"1"')

    (seen,) = server.requests
    assert (seen.headers["accept-language"], seen.headers["accept"]) == ("de", "text/plain")
    assert seen.headers["if-none-match"] == '"1"'
    assert seen.headers["user-agent"] == AGENT


def test_a_kept_connection_mixes_nothing(folder):
    """Two sites of one host have one connection, and each request what its own site gives."""

    async def run():
        async with FaultServer({"/a/": page(b"a"), "/b/": page(b"b")}) as server:
            rules = [
                Rule(server.address("/a/"), access=AccessRule(token="env:WORD")),
                Rule(server.address("/b/"), access=AccessRule(cookies="cookies.txt")),
                Rule(server.address("/c/")),
            ]
            table = AccessTable(Settings(AGENT, rules=tuple(rules)), folder)
            fetcher = HttpFetcher(AGENT, SMALL, access=table)
            for path in ("/a/", "/b/", "/c/", "/a/"):
                await fetcher.fetch(Request(server.address(path), local=True))
            await fetcher.close()
            return server

    seen = asyncio.run(run()).requests

    names = [{"authorization", "cookie"} & set(each.headers) for each in seen]
    assert names == [{"authorization"}, {"cookie"}, set(), {"authorization"}]
    assert {each.connection for each in seen} == {0}


def test_cookies_that_a_host_sets_are_not_kept(folder):
    async def run():
        pages = {"/": status(200, b"hello", set_cookie="session=theirs; Path=/")}
        async with (
            FaultServer(pages) as server,
            fetching(folder, server, {"cookies": "cookies.txt"}) as fetcher,
        ):
            for _ in range(2):
                await fetcher.fetch(Request(server.address("/"), local=True))
            return server

    assert [each.headers["cookie"] for each in asyncio.run(run()).requests] == [
        f"session={HIDDEN}"
    ] * 2


def test_a_site_has_its_own_limits(folder):
    tiny = {"page_size": 1000}
    quick = {"timeout": 0.3 / 86_400}

    large, _, _ = asked(folder, page(b"x" * 1001), tiny)
    small, _, _ = asked(folder, page(b"x" * 1000), tiny)
    slow, _, _ = asked(folder, late(page(b"hello"), 30.0), quick)

    assert (large.problem, small.problem, slow.problem) == ("too-large", "", "timeout")
    assert "0.3 seconds" in slow.detail


def test_a_redirect_target_does_not_repeat_a_secret(folder):
    """A host may lead to an address with what it was sent, which would be written down."""
    answer, _, _ = asked(folder, redirect(f"/login?token={HIDDEN}", 302), KINDS["bearer"][0])

    assert answer.target.endswith("/login?token=(secret)")
