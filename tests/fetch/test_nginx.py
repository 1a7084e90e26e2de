"""The same fetcher against a server that others wrote."""

import asyncio
import time

import pytest

from recrawl.parse.messages import Request
from tests.fetch.asking import AGENT, fetch_all
from tests.servers.nginx import Nginx

pytestmark = pytest.mark.skipif(bool(Nginx.missing()), reason=Nginx.missing() or "nginx is here")

LONG = "<p>" + "hello world " * 2000


@pytest.fixture
def nginx(tmp_path):
    with Nginx(tmp_path) as server:
        server.write("index.html", "<p>hello</p>", modified=784_111_777)
        server.write("long.html", LONG)
        yield server


def asked(*requests):
    return asyncio.run(fetch_all(requests))


def test_a_page_comes_with_its_validators(nginx):
    (answer,) = asked(Request(nginx.address("/index.html"), local=True))

    assert (answer.status, answer.body) == (200, b"<p>hello</p>")
    assert answer.headers["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT"
    assert answer.headers["etag"]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"


def test_validators_sent_back_bring_no_body_until_the_page_changes(nginx):
    address = nginx.address("/index.html")
    (first,) = asked(Request(address, local=True))
    etag, modified = first.headers["etag"], first.headers["last-modified"]

    both = asked(
        Request(address, etag=etag, local=True), Request(address, modified=modified, local=True)
    )
    nginx.write("index.html", "<p>goodbye</p>")
    changed = asked(
        Request(address, etag=etag, local=True), Request(address, modified=modified, local=True)
    )

    assert [(answer.status, answer.body) for answer in both] == [(304, b"")] * 2
    assert [(answer.status, answer.body) for answer in changed] == [(200, b"<p>goodbye</p>")] * 2


def test_a_compressed_page_is_smaller_on_the_wire(nginx):
    """And has a weak tag, which is as good for asking again."""
    (answer,) = asked(Request(nginx.address("/long.html"), local=True))
    tag = answer.headers["etag"]
    (again,) = asked(Request(nginx.address("/long.html"), etag=tag, local=True))

    assert answer.headers["content-encoding"] == "gzip"
    assert answer.body == LONG.encode()
    assert answer.raw_bytes < len(LONG) / 10
    assert tag.startswith('W/"')
    assert again.status == 304


def test_redirects_and_errors_are_told(nginx):
    paths = ("/moved/", "/gone/", "/busy/", "/nowhere")
    moved, gone, busy, nowhere = asked(*(Request(nginx.address(p), local=True) for p in paths))

    assert (moved.status, moved.target) == (301, nginx.address("/index.html"))
    assert gone.status == 410
    assert (busy.status, busy.headers["retry-after"]) == (503, "120")
    assert (nowhere.status, nowhere.body) == (404, b"<p>nothing here</p>")


def test_the_server_logs_what_we_say_we_asked(nginx):
    before = time.time()
    paths = ["/index.html", "/nowhere", "/index.html?a=%20b"]
    answers = asked(*(Request(nginx.address(path), local=True) for path in paths))

    rows = nginx.log(lines=3)
    assert [row.path for row in rows] == paths
    assert [row.status for row in rows] == [answer.status for answer in answers]
    assert [row.body_bytes for row in rows] == [answer.raw_bytes for answer in answers]
    assert {row.agent for row in rows} == {AGENT}
    assert len({row.connection for row in rows}) == 1
    assert before - 1 <= rows[0].at <= time.time() + 1


def test_a_server_that_is_gone_refuses(tmp_path):
    with Nginx(tmp_path) as server:
        address = server.address("/missing.html")
        (there,) = asked(Request(address, local=True))
    (gone,) = asked(Request(address, local=True))

    assert (there.status, gone.problem) == (200, "refused")
