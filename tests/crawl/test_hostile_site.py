"""A site that does all the harm it can, crawled for real in a process of its own.

One crawl, looked at from all sides: what it cost, what it asked for, what it wrote down, and what
people see of it. An honest site is crawled beside it.
"""

import json
import os
import pty
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from recrawl.parse.addresses import canonical
from recrawl.store import create_store, open_for_writing, open_store
from tests.cli.running import run, start
from tests.crawl import hostile as crawl_of
from tests.servers import answers, hostile
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS

pytestmark = pytest.mark.slow

LARGE = 9_900_000  # a page may have ten megabytes, as it comes
LARGE_PAGES = {
    "/nested": hostile.nested(LARGE),
    "/unclosed": hostile.unclosed(LARGE),
    "/attribute": hostile.long_attribute(LARGE),
    "/references": hostile.references(LARGE),
    "/tables": hostile.tables(LARGE // 10),
    "/plain": hostile.plain_text(LARGE // 10),
    "/letters": hostile.broken_letters(LARGE // 10),
    "/utf7": hostile.forbidden_in_utf7(),
    "/steering": hostile.steering_links(),
}
TRAPPED = ("/page?n=0", "/calendar/2000/1", "/session?id=0", "/grow/")
HONEST = [f"/{number}" for number in range(20)]
MOST_MEGABYTES = 2000  # some hundred for each large page that is read at the same time


@dataclass(frozen=True, slots=True)
class Crawled:
    """A crawl that is over."""

    folder: Path
    told: dict
    site: FaultServer
    honest: FaultServer
    other: FaultServer  # that nobody may ask

    @property
    def lines(self):
        """The log."""
        return [
            json.loads(line) for line in (self.folder / "visits.jsonl").read_text().splitlines()
        ]

    def outcomes(self, server):
        """What first visits found, by path."""
        start = server.address("")
        ours = [line for line in reversed(self.lines) if line["address"].startswith(start)]
        return {line["address"].removeprefix(start): line["outcome"] for line in ours}


def settings(site, honest):
    return f"""agent = "test-bot (me@example.org)"
budget = "1000000/1d"

[politeness]
delay = "0.01s"
together = 2

[[site]]
address = "{site.address("/")}"
local = true
links = 3
watch = ["main", ".price"]
ignore = [".ad", "main > b"]

[[site]]
address = "{site.address("/whole/")}"
local = true

[[site]]
address = "{honest.address("/")}"
local = true
links = 1
"""


def fill(site, other):
    """Give a site its pages."""
    origin, away = site.address(""), other.address("")
    site.pages |= {path: answers.status(200, body) for path, body in LARGE_PAGES.items()}
    site.pages["/links"] = answers.packed(hostile.many_links(300_000), "gzip")
    site.pages["/whole/attributes"] = answers.status(200, hostile.many_attributes(1_000_000))
    site.pages["/elsewhere"] = answers.status(200, hostile.elsewhere(away + "/b/"))
    links = "".join(f"<a href='{path}'>" for path in [*site.pages, *TRAPPED])
    sitemaps = hostile.sitemaps(origin, away, foreign=1_000_000)
    whole = f"<urlset><url><loc>{origin}/whole/attributes</loc></url></urlset>"
    sitemaps["/whole.xml"] = whole.encode()
    feeds = hostile.feeds(origin, away)
    for path, body in (sitemaps | feeds).items():
        site.pages[path] = answers.status(200, body, **hostile.XML)
    named = [origin + path for path in sitemaps]
    site.pages["/robots.txt"] = answers.status(200, hostile.robots(named, wild=50, size=LARGE))
    kind = "rel=alternate type=application/rss+xml"
    site.pages["/"] = answers.page(
        f"{links}{''.join(f'<link {kind} href={path}>' for path in feeds)}".encode()
    )


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile")
    create_store(folder / "recrawl.db").close()
    home = "".join(f"<a href={path}>" for path in HONEST).encode()
    pages = {path: answers.page(f"<p>{path}</p>".encode()) for path in HONEST}
    with (
        hostile.HostileServer({}, hostile.TRAPS).in_thread() as site,
        FaultServer({"/": answers.page(home)} | pages).in_thread() as honest,
        FaultServer().in_thread() as other,
    ):
        fill(site, other)
        (folder / "recrawl.toml").write_text(settings(site, honest))
        command = [sys.executable, crawl_of.__file__, folder, HANGS_SECONDS, 0, 60]
        ended = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
        yield Crawled(folder, json.loads(ended.stdout), site, honest, other)


def test_the_crawl_comes_to_an_end_within_its_memory(crawled):
    """Ten megabytes of tags are some hundred megabytes of text and lists, and nothing stays."""
    assert crawled.told["ended"]
    assert crawled.told["megabytes"] < MOST_MEGABYTES


def test_every_page_is_copied_whatever_it_holds(crawled):
    found = crawled.outcomes(crawled.site)

    assert {found[path] for path in [*LARGE_PAGES, "/links", "/elsewhere"]} == {"first"}
    assert found["/whole/attributes"] == "first"


def test_honest_pages_of_the_same_host_are_found_behind_hostile_ones(crawled):
    """By links, sitemaps and feeds that break off, or that hold bombs before or after them."""
    found = crawled.outcomes(crawled.site)
    names = ("1", "text", "deep", "cut", "bomb", "laughs", "feed", "entity", "entities")

    assert [name for name in names if found.get(f"/honest/{name}") != "first"] == []


def test_honest_pages_of_another_host_are_copied_meanwhile(crawled):
    asked = [seen.at for seen in crawled.honest.requests]
    hostile_asked = [seen.at for seen in crawled.site.requests]

    assert crawled.outcomes(crawled.honest) == dict.fromkeys(["/", *HONEST], "first")
    assert min(asked) < max(hostile_asked)


def test_traps_are_followed_as_deep_as_the_settings_say(crawled):
    """The home page is none of the links, so two more lead on from where a trap begins."""
    asked = {seen.path for seen in crawled.site.requests}

    assert {path for path in asked if path.startswith("/page?")} == {
        f"/page?n={number}" for number in range(3)
    }
    assert {path for path in asked if path.startswith("/grow/")} == {
        "/grow/" + "a/" * depth for depth in range(3)
    }
    assert len({path for path in asked if path.startswith("/session?")}) == 1 + 3 + 9
    assert len({path for path in asked if path.startswith("/calendar/")}) == 1 + 2 + 2


def test_nothing_is_asked_for_that_robots_forbids(crawled):
    asked = {seen.path for seen in crawled.site.requests}

    assert [path for path in asked if path.startswith(("/private", "/p/"))] == []
    assert [seen.path for seen in crawled.site.requests].count("/robots.txt") == 1


def test_nobody_else_is_asked(crawled):
    """Neither for a link, nor for an entity of XML, nor for an entry of a sitemap or a feed."""
    assert crawled.other.connections == 0
    assert crawled.told["strayed"] == []


def test_each_sitemap_is_asked_for_once(crawled):
    asked = [seen.path for seen in crawled.site.requests if ".xml" in seen.path]

    assert len(asked) == len(set(asked)) == 11


def test_the_store_is_whole_and_holds_only_addresses_of_its_sites(crawled):
    with open_for_writing(crawled.folder / "recrawl.db") as store:
        assert store.check() == []
    with open_store(crawled.folder / "recrawl.db") as reader:
        addresses = [each for some in reader.all_addresses() for each in some]

    starts = crawled.site.address("/"), crawled.honest.address("/")
    assert all(address.startswith(starts) for address in addresses)
    assert all(address == canonical(address) for address in addresses)
    assert not any("root" in address for address in addresses)  # no entity was read from a file


def test_what_is_logged_and_remarked_steers_no_terminal(crawled):
    log = (crawled.folder / "visits.jsonl").read_text()

    assert all(line.isprintable() for line in log.split("\n"))
    assert all(remark.isprintable() for remark in crawled.told["remarks"])
    assert any("/shown/" in line for line in log.split("\n"))


def on_a_terminal(folder, *words):
    """What a command writes to a person who looks at it on a terminal."""
    here, there = pty.openpty()
    pieces: list[bytes] = []

    def read():
        while True:
            try:
                piece = os.read(here, 65_536)
            except OSError:  # the other side has closed
                return
            pieces.append(piece)

    reading = threading.Thread(target=read)
    reading.start()
    start(*words, stdout=there, stderr=there, cwd=folder).wait()
    os.close(there)
    reading.join()
    os.close(here)
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.mark.parametrize(
    "words",
    [("status",), ("pages",), ("history", "SHOWN")],
    ids=["status", "pages", "history"],
)
def test_what_people_see_steers_no_terminal(crawled, words):
    shown = next(path for path in crawled.outcomes(crawled.site) if path.startswith("/shown/["))
    words = [crawled.site.address(shown) if word == "SHOWN" else word for word in words]
    seen = on_a_terminal(crawled.folder, *words)

    assert len(seen) > 100
    assert [line for line in seen.split("\n") if not line.isprintable()] == []
    assert "Traceback" not in seen


def test_what_is_written_for_programs_steers_no_terminal_either(crawled):
    for words in (["pages", "--csv"], ["pages", "--json"], ["status", "--json"]):
        ended = run(*words, cwd=crawled.folder)

        assert ended.code == 0
        assert all(line.isprintable() for line in ended.out.split("\n"))


def test_what_the_command_says_steers_no_terminal(tmp_path):
    """Of a site whose robots.txt, sitemaps, headers and titles all try to."""
    run("init", tmp_path, "--agent", "test-bot (me@example.org)")
    with hostile.HostileServer({}, hostile.TRAPS).in_thread() as site:
        names = [site.address(path) for path in ("/steering.xml", "/steering.txt", "/none.xml")]
        maps = hostile.sitemaps(site.address(""), site.address(""), foreign=1)
        site.pages["/robots.txt"] = answers.status(200, hostile.robots(names, wild=1, size=0))
        for path in ("/steering.xml", "/steering.txt"):
            site.pages[path] = answers.status(200, maps[path])
        site.pages["/"] = answers.status(200, hostile.steering_links())
        site.pages["/none.xml"] = hostile.said("X-A: \x9b2J", status="404 \x1b[31m\x07")
        text = settings(site, site).partition(f'\n[[site]]\naddress = "{site.address("/whole/")}"')
        (tmp_path / "recrawl.toml").write_text(text[0])
        ended = run("crawl", "--once", "--visit-log", "log.jsonl", cwd=tmp_path)

    assert ended.code == 0
    assert "must be whole XML" in ended.err
    log = (tmp_path / "log.jsonl").read_text()
    assert "/shown/" in log
    assert all(line.isprintable() for text in (ended.err, log) for line in text.split("\n"))


def test_a_tag_of_many_attributes_is_no_trap_where_parts_are_chosen():
    """With `watch` a million attributes busy a thread for an hour: see `detect.text.selection`."""
    from recrawl.detect.text.lines import lines

    lines(hostile.many_attributes(1_000_000).decode(), watch=("main",))


def test_a_letter_with_many_marks_is_no_trap():
    """Of 160 kilobytes of them all stands still for ten seconds; see `detect.text.lines`."""
    from recrawl.detect.change import read_lines

    read_lines(hostile.accents(1_000_000).decode(), html=True)
