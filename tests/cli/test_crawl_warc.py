"""`recrawl crawl --warc`: everything that is fetched is in the files, however the crawl ends."""

import gzip
import json
import random
import resource
import signal
import time
from collections import Counter
from contextlib import contextmanager
from functools import partial

import pytest

from recrawl.store import open_store
from tests.adapters.warc.warcs import files_in, indexed, left_open, of_kind, read_folder
from tests.cli import crawls
from tests.cli.crawls import start
from tests.cli.running import run, sentence
from tests.disks import small_disk
from tests.noise import noise
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS, wait_for_count, wait_until

crawl_in = partial(crawls.crawl_in, top='budget = "1000000/1d"', delay="0.02s")
FEED = b"""<?xml version="1.0"?><rss version="2.0"><channel><title>f</title>
<item><link>/4</link></item></channel></rss>"""


def page(number, size=0):
    # Bytes that hardly shrink, so that a small disk is full soon.
    rest = noise(size, number).hex().encode()
    return b"<html><body><p>page %d</p><p>%s</p></body></html>" % (number, rest)


HOME = b'<link rel="alternate" type="application/rss+xml" href="/feed"><p>home</p>'
PAGES = {f"/{number}": answers.page(page(number), etag=f'"{number}"') for number in range(4)}


@contextmanager
def site(**more):
    others = {
        "/": answers.packed(HOME, "gzip"),
        "/feed": answers.status(200, FEED, content_type="application/rss+xml"),
        "/robots.txt": answers.status(200, b"User-agent: *\n", content_type="text/plain"),
        "/4": answers.redirect("/target", 302),
        "/target": answers.packed(page(4), "br"),
        "/5": answers.chunked([page(5)]),
        "/6": answers.wrong_length(b"abc", 10),
    }
    with FaultServer(PAGES | others | more).in_thread() as server:
        named = [*PAGES, "/4", "/5", "/6"] + [path for path in more if path.startswith("/")]
        body = gzip.compress("\n".join(map(server.address, named)).encode())
        server.pages["/sitemap.xml"] = answers.status(200, body, content_type="text/plain")
        yield server


def log_of(folder):
    """Visits of a log; the last line may be cut by a kill."""
    lines = (folder / "visits.jsonl").read_text().split("\n")[:-1]
    return [json.loads(line) for line in lines]


def test_everything_that_was_asked_for_is_there(tmp_path):
    """Robots.txt, sitemaps, feeds and hops as well as pages, each with what the server sent."""
    with site() as server:
        crawl_in(tmp_path, server)
        ended = run("crawl", "--once", "--warc", "archive", cwd=tmp_path)

    assert ended.code == 0, ended.err
    archive = tmp_path / "archive"
    records = read_folder(archive)
    requests = of_kind(records, "request")
    assert left_open(archive) == []
    paths = [record.address.removeprefix(server.address("")) for record in requests]
    failed = [
        record.address.removeprefix(server.address("")) for record in of_kind(records, "metadata")
    ]
    assert Counter(paths + failed) == Counter(seen.path for seen in server.requests)
    assert set(paths) >= {"/robots.txt", "/sitemap.xml", "/feed", "/4", "/target", "/5"}
    assert set(failed) == {"/6"}
    bodies = {
        record.address.removeprefix(server.address("")): record.body
        for record in of_kind(records, "response")
    }
    assert bodies["/"] == HOME
    assert bodies["/feed"] == FEED
    assert bodies["/target"] == page(4)
    assert bodies["/5"] == page(5)
    assert bodies["/4"] == b"moved"
    assert [bodies[f"/{number}"] for number in range(4)] == [page(number) for number in range(4)]


def test_a_second_crawl_refers_to_the_first(tmp_path):
    """Pages that say so are unchanged; others come again, with the same body."""
    with site() as server:
        crawl_in(tmp_path, server, more='interval = "1s"')
        run("crawl", "--once", "--warc", "archive", cwd=tmp_path)
        again, count = {"/", *PAGES, "/4", "/5"}, len(server.requests)
        with start(tmp_path, "--warc", "archive") as process:
            wait_until(lambda: {seen.path for seen in list(server.requests)[count:]} >= again)
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=HANGS_SECONDS)

    records = of_kind(read_folder(tmp_path / "archive"), "response", "revisit")
    first = {record.address: record for record in records if record.kind == "response"}
    revisits = [record for record in records if record.kind == "revisit"]
    profiles = {record.fields["warc-profile"].rpartition("/")[2] for record in revisits}
    assert profiles == {"server-not-modified", "identical-payload-digest"}
    for record in revisits:
        origin = first[record.address]
        assert record.fields["warc-refers-to"] == origin.fields["warc-record-id"]
        assert record.fields["warc-refers-to-date"] == origin.fields["warc-date"]
        assert record.fields["warc-payload-digest"] == origin.fields["warc-payload-digest"]
    assert len(files_in(tmp_path / "archive")) == 2
    lines = indexed(tmp_path / "archive")
    assert len(lines) == len(records)
    assert [line["warc-target-uri"] for line in lines] == [record.address for record in records]
    assert sum(line["warc-type"] == "revisit" for line in lines) == len(revisits)


@pytest.mark.slow
def test_a_crawl_that_is_killed_has_a_record_of_each_visit_that_it_told(tmp_path):
    chance = random.Random(7)  # noqa: S311 - instants, no secrets
    changing = [answers.page(page(number, 3000)) for number in range(500)]
    with site(**{f"/c{number}": answers.in_turn(*changing) for number in range(5)}) as server:
        crawl_in(tmp_path, server, delay="0.005s", more='interval = "1s"')
        for _ in range(6):
            enough = len(server.requests) + 5
            with start(tmp_path, "--warc", "archive", "--visit-log", "visits.jsonl"):
                wait_for_count(server.requests, enough)
                time.sleep(chance.random() * 0.5)
        assert left_open(tmp_path / "archive") != []
        ended = run("crawl", "--for", "1s", "--warc", "archive", cwd=tmp_path)

    assert ended.code == 0, ended.err
    records = read_folder(tmp_path / "archive")
    assert left_open(tmp_path / "archive") == []
    kept = Counter(r.address for r in of_kind(records, "response", "revisit", "metadata"))
    told = Counter(line["address"] for line in log_of(tmp_path))
    assert len(told) > 5
    assert told <= kept
    names = {record.fields["warc-record-id"] for record in of_kind(records, "response")}
    referred = {r.fields.get("warc-refers-to") for r in of_kind(records, "revisit")} - {None}
    assert referred <= names


@pytest.fixture
def disk(tmp_path):
    with small_disk(tmp_path / "small", "1m") as folder:
        yield folder


def test_a_full_disk_ends_the_crawl_and_loses_no_visit(tmp_path, disk):
    crawl = tmp_path / "crawl"
    many = {f"/n{number}": answers.page(page(number, 30_000)) for number in range(60)}
    with site(**many) as server:
        crawl_in(crawl, server, delay="0.005s")
        words = ["crawl", "--once", "--visit-log", "visits.jsonl", "--warc", disk / "archive"]
        ended = run(*words, cwd=crawl)

    assert ended.code == 1
    assert "Traceback" not in ended.err
    last = ended.err.splitlines()[-1]
    assert last.startswith(f"Error: {disk}/archive/")
    assert last.endswith("(no space left on device)") or "full" in last
    with open_store(crawl / "recrawl.db") as reader:
        assert reader.last_visit() == len(log_of(crawl)) > 5
    records = read_folder(disk / "archive")
    kept = {record.address for record in of_kind(records, "response", "revisit", "metadata")}
    assert {line["address"] for line in log_of(crawl)} <= kept
    assert left_open(disk / "archive") == []


def test_a_file_that_may_not_grow_ends_the_crawl_in_a_sentence(tmp_path):
    """Without rights to mount: the system takes no file above a megabyte from the crawl."""
    many = {f"/n{number}": answers.page(page(number, 50_000)) for number in range(60)}
    with site(**many) as server:
        crawl_in(tmp_path, server, delay="0.005s")
        with (tmp_path / "recrawl.toml").open("a") as file:
            file.write("[storage]\nversions = 0\n")
        limit = 1_000_000
        with start(
            tmp_path,
            *("--once", "--visit-log", "visits.jsonl", "--warc", "archive"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        ) as process:
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 1
    assert "Traceback" not in err
    assert err.splitlines()[-1].endswith(" cannot be written (file too large)")
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == len(log_of(tmp_path)) > 5
    records = read_folder(tmp_path / "archive")
    kept = {record.address for record in of_kind(records, "response", "revisit", "metadata")}
    assert {line["address"] for line in log_of(tmp_path)} <= kept


def test_a_signal_closes_the_file(tmp_path):
    with site() as server:
        crawl_in(tmp_path, server)
        with start(tmp_path, "--warc", "archive") as process:
            wait_for_count(server.requests, 5)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=HANGS_SECONDS)

    assert process.returncode == 0, err
    assert left_open(tmp_path / "archive") == []
    assert len(of_kind(read_folder(tmp_path / "archive"), "response")) >= 4


def test_a_folder_that_is_a_file_is_said(tmp_path):
    (tmp_path / "archive").write_text("")
    with site() as server:
        crawl_in(tmp_path, server)
        said = sentence(run("crawl", "--once", "--warc", "archive", cwd=tmp_path))

    assert said == "archive cannot be written to (file exists)"
    assert server.requests == []


def test_a_folder_that_another_crawl_writes_to_is_said(tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    with site() as server:
        crawl_in(one, server)
        crawl_in(two, server)
        with start(one, "--warc", tmp_path / "archive") as process:
            wait_for_count(server.requests, 2)
            said = sentence(run("crawl", "--warc", tmp_path / "archive", cwd=two))

    assert f"is in use by another crawl (process {process.pid})" in said
