"""Answers that are wrong on the wire, headers that inject, redirects to where nobody may go.

Two crawls in processes of their own, the second two days after the first, on its store.
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from recrawl.parse.addresses import canonical, host_of
from recrawl.store import create_store, open_for_writing
from tests.crawl import hostile as crawl_of
from tests.servers import answers, hostile
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

pytestmark = pytest.mark.slow

LIMIT_SECONDS = 5.0
MOST_MEGABYTES = 500
HINT = b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n"
WHOLE = b"HTTP/1.1 200 OK\r\nContent-Length: 18\r\n\r\n<main>whole</main>"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
# What comes to nothing, and what the log calls it.
FAULTS = {
    "/drip": (answers.dripping(b"a" * 1000, 0.2), "timeout"),
    "/drip-head": (answers.dripping(b"a" * 1000, 0.2, headers_too=True), "timeout"),
    "/silent": (answers.never(), "timeout"),
    "/endless": (answers.endless(), "too-large"),
    "/hints": (hostile.flood(HINT * 100), "timeout"),
    "/chunk-name": (hostile.flood(b"a" * 65_536, CHUNKED + b"1;"), "timeout"),
    "/chunk-size": (hostile.flood(b"0" * 65_536, CHUNKED), "timeout"),
    "/too-short": (answers.wrong_length(b"a", 1000), "dropped"),
    "/no-number": (answers.wrong_chunk(), "bad-answer"),
    "/no-http": (answers.raw(b"\x1b[31m\x00\xff\r\n\r\n"), "bad-answer"),
    "/many-headers": (answers.many_headers(5000), "bad-answer"),
    "/long-header": (answers.many_headers(1, 100_000), "bad-answer"),
    "/gzip": (answers.bomb(100_000_000, "gzip"), "too-large"),
    "/br": (answers.bomb(100_000_000, "br"), "too-large"),
    "/zstd": (answers.bomb(100_000_000, "zstd"), "too-large"),
    "/gzip-gzip": (answers.bomb(100_000_000, "gzip", "gzip"), "too-large"),
    "/gzip-zstd": (
        answers.status(200, hostile.empty_gzip_in_zstd(20_000), content_encoding="gzip, zstd"),
        "too-large",
    ),
    "/deep": (answers.packed(b"a", *["gzip"] * 5), "bad-encoding"),
    "/loop": (answers.redirect("/loop", 302), "bad-answer"),
    "/loop-a": (answers.redirect("/loop-b", 302), "bad-answer"),
    "/loop-b": (answers.redirect("/loop-a", 302), "bad-answer"),
    "/chain-0": (answers.redirect("/chain-1", 302), "bad-answer"),
}
CHAIN = {f"/chain-{n}": answers.redirect(f"/chain-{n + 1}", 302) for n in range(1, 20)}
# Strange, but whole; each with a text of its own, or one would be a duplicate of the other.
FINE = {
    "/few-hints": answers.raw(HINT * 50 + WHOLE, keep=True),
    "/cookie": hostile.said(
        *("Set-Cookie: a=b; Domain=127.0.0.1", "Set-Cookie: " + "c" * 60_000),
        body=b"<main>cookie</main>",
    ),
    "/folded": hostile.said("X-A: b\r\n Cookie: folded", body=b"<main>folded</main>"),
    "/link": hostile.said(
        *("Link: <http://127.0.0.1:1/>; rel=canonical", "Refresh: 0; url=/private"),
        body=b"<main>link</main>",
    ),
    "/steering": hostile.said(
        *(f"X-A: {hostile.STEERING[:8]}", "Server: \x1b]0;title\x07"),
        body=b"<main>steering</main>",
    ),
}
# Addresses at which there is no page even where private ones are allowed, in many spellings.
NOWHERE = (
    *("http://169.254.169.254/latest/meta-data/", "http://0xA9FEA9FE/", "http://2852039166/"),
    *("http://0251.0376.0251.0376/", "http://169.254.43518/", "http://169.254.169.254.:80/"),
    *("http://[::ffff:169.254.169.254]/", "http://[::ffff:127.0.0.1]/", "http://[fe80::1]/"),
    *("http://[fd00:ec2::254]/", "http://100.100.100.200/", "http://0.0.0.0/", "http://0/"),
    *(
        "http://[::]/",
        "http://224.0.0.1/",
        "http://255.255.255.255/",
        "http://[64:ff9b::a9fe:a9fe]/",
    ),
    *("http://[2002:a9fe:a9fe::]/", "http://240.0.0.1/", "http://[ff02::1]/"),
)
# What a redirect that leads to no page at all says.
NO_ADDRESS = (
    *("javascript:alert(1)", "file:///etc/passwd", "ftp://127.0.0.1/", "data:text/html,a", "//"),
    *("http://user:word@127.0.0.1/", "http://127.0.0.1:99999/", "/" + "a" * 3000, "http://[::1"),
)
TAGS = {
    '"ok"': '"ok"',
    'W/"weak"': 'W/"weak"',
    '"quo"te"': None,
    '"\xe9\xff"': None,
    '"a", "b"': None,
    "*": None,
    "bare": None,
    f'"{"a" * 5000}"': None,
    '"a\r\n b"': None,
}

CHANGING = {
    "/changing/shuffled": [hostile.shuffled(400_000, seed) for seed in range(4)],
    "/changing/nested": [hostile.nested(400_000 * times) for times in (1, 2, 3, 4)],
    "/changing/unclosed": [hostile.unclosed(400_000 * times) for times in (1, 2, 3, 4)],
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """Two crawls that are over."""

    folder: Path
    told: list[dict]
    site: FaultServer
    honest: FaultServer

    def log(self):
        """The log, by path; of several visits the first."""
        lines = (self.folder / "visits.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in reversed(lines)]
        start = self.site.address("")
        return {line["address"].removeprefix(start): line for line in found}


def settings(site, honest):
    daily = [*(f"/tag/{number}" for number in range(len(TAGS))), *CHANGING]
    pages = "".join(
        f'\n[[page]]\naddress = "{site.address(path)}"\nlocal = true\ninterval = "1d"\n'
        for path in daily
    )
    return f"""agent = "test-bot (me@example.org)"
budget = "1000000/1d"

[politeness]
delay = "0.01s"
together = 10

[[site]]
address = "{site.address("/")}"
local = true
links = 1

[[site]]
address = "{honest.address("/")}"
local = true
{pages}"""


def fill(site, honest):
    """Give a site its pages."""
    moved = {f"/nowhere/{n}": answers.redirect(to, 302) for n, to in enumerate(NOWHERE)}
    lost = {f"/lost/{n}": answers.redirect(to, 302) for n, to in enumerate(NO_ADDRESS)}
    injecting = {
        "/injects/0": hostile.said("Location: /honest\rX-Injected: 1", status="302 Found"),
        "/injects/1": hostile.said("Location: /honest%0d%0aX-Injected:%201", status="302 Found"),
        "/injects/2": hostile.said("Location: /honest\nX-Injected: 1", status="302 Found"),
        "/injects/3": hostile.said("Location: /honest \x00\x1b[31m", status="302 \x1b[31m"),
        "/forbidden/0": answers.redirect("/private", 302),
        "/forbidden/1": answers.redirect(honest.address("/private"), 302),
    }
    # Visited in this order: what has no end comes last, or whole answers would be late beside it.
    site.pages |= FINE | moved | lost | injecting
    site.pages |= CHAIN | {path: behave for path, (behave, _) in FAULTS.items()}
    links = "".join(f"<a href='{path}'>" for path in site.pages if path not in CHAIN)
    site.pages["/"] = answers.page(links.encode())
    site.pages["/honest"] = answers.page(b"<main>honest</main>")
    for number, tag in enumerate(TAGS):
        site.pages[f"/tag/{number}"] = hostile.said(f"ETag: {tag}", "Last-Modified: \x1b[31m")
    for path, bodies in CHANGING.items():
        site.pages[path] = answers.in_turn(*(answers.status(200, body) for body in bodies))
    rules = b"User-agent: *\nDisallow: /private\n"
    site.pages["/robots.txt"] = honest.pages["/robots.txt"] = answers.status(200, rules)


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wire")
    create_store(folder / "recrawl.db").close()
    with (
        FaultServer().in_thread() as site,
        FaultServer({"/": answers.page(b"<p>honest</p>")}).in_thread() as honest,
    ):
        fill(site, honest)
        (folder / "recrawl.toml").write_text(settings(site, honest))
        told = []
        for days in (0, 2):
            asked = folder, HANGS_SECONDS, days, LIMIT_SECONDS
            command = [sys.executable, crawl_of.__file__, *asked]
            ended = subprocess.run(
                list(map(str, command)), capture_output=True, text=True, check=True
            )
            told.append(json.loads(ended.stdout))
        yield Crawled(folder, told, site, honest)


def test_both_crawls_come_to_an_end_within_their_memory(crawled):
    assert [told["ended"] for told in crawled.told] == [True, True]
    assert max(told["megabytes"] for told in crawled.told) < MOST_MEGABYTES


def test_wrong_answers_are_failures_with_a_name(crawled):
    """On a machine that is busy enough any of them may be late as well."""
    log = crawled.log()
    called = {path: log[path]["problem"] for path in FAULTS}

    assert {log[path]["outcome"] for path in FAULTS} == {"failed"}
    assert [
        (path, called[path])
        for path, (_, problem) in FAULTS.items()
        if called[path] not in {problem, "timeout"}
    ] == []


def test_strange_but_whole_answers_are_pages(crawled):
    log = crawled.log()

    assert {path: log[path]["outcome"] for path in FINE} == dict.fromkeys(FINE, "first")


def test_redirects_to_where_no_page_may_be_are_refused_before_anything_is_sent(crawled):
    """Where a host is left alone already, by another spelling, no visit is made."""
    start = "/nowhere/"
    visits = {path: line for path, line in crawled.log().items() if path.startswith(start)}
    led_to = {NOWHERE[int(path.removeprefix(start))] for path in visits}

    assert {host(address) for address in led_to} == {host(address) for address in NOWHERE}
    assert {line["outcome"] for line in visits.values()} == {"failed"}
    assert all("is not a public address" in line["detail"] for line in visits.values())
    assert [told["strayed"] for told in crawled.told] == [[], []]


def host(address):
    """Host of an address in any spelling."""
    return host_of(canonical(address) or address)


def test_redirects_that_lead_to_no_address_are_failures(crawled):
    log = crawled.log()

    assert {log[f"/lost/{number}"]["outcome"] for number in range(len(NO_ADDRESS))} == {"failed"}


def test_redirects_do_not_lead_where_robots_forbids(crawled):
    log = crawled.log()
    asked = [seen.path for server in (crawled.site, crawled.honest) for seen in server.requests]

    assert log["/forbidden/0"]["outcome"] == log["/forbidden/1"]["outcome"] == "refused"
    assert [path for path in asked if path.startswith("/private")] == []


def test_a_chain_is_followed_so_far_and_no_further(crawled):
    asked = {seen.path for seen in crawled.site.requests}

    assert {path for path in asked if path.startswith("/chain")} == {
        f"/chain-{number}" for number in range(6)
    }


def test_no_header_of_an_answer_becomes_one_of_a_request(crawled):
    names = {name for seen in crawled.site.requests for name in seen.headers}

    assert names <= {
        *("host", "user-agent", "accept", "accept-encoding", "if-none-match", "if-modified-since"),
        "connection",
    }
    assert all(seen.path.isprintable() for seen in crawled.site.requests)


def test_only_tags_that_are_written_rightly_are_sent_back(crawled):
    """The second crawl comes two days later, to pages that are asked for every day."""
    sent = {}
    for number, tag in enumerate(TAGS):
        first, *later = crawled.site.asked(f"/tag/{number}")
        assert len(later) > 0
        assert not any("if-modified-since" in seen.headers for seen in (first, *later))
        sent[tag] = {seen.headers.get("if-none-match") for seen in later} - {None}

    assert sent == {tag: {back} if back else set() for tag, back in TAGS.items()}


def test_large_pages_that_are_others_every_time_are_compared(crawled):
    lines = map(json.loads, (crawled.folder / "visits.jsonl").read_text().splitlines())
    seen: dict[str, list[str]] = {path: [] for path in CHANGING}
    for line in lines:
        path = line["address"].removeprefix(crawled.site.address(""))
        if path in seen:
            seen[path].append(line["outcome"])

    assert {path: found[0] for path, found in seen.items()} == dict.fromkeys(CHANGING, "first")
    assert all(len(found) > 1 and "failed" not in found for found in seen.values())


def test_the_honest_host_is_visited_beside_all_that(crawled):
    assert crawled.log()[crawled.honest.address("/")]["outcome"] == "first"


def test_the_store_is_whole_and_the_log_steers_no_terminal(crawled):
    with open_for_writing(crawled.folder / "recrawl.db") as store:
        assert store.check() == []

    log = (crawled.folder / "visits.jsonl").read_text()
    assert all(line.isprintable() for line in log.split("\n"))
