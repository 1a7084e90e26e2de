"""Lines of the copy that a store keeps: verdicts are those of both bodies, read by one parse."""

import asyncio
from itertools import pairwise

import pytest

from recrawl.clock import ScaledClock
from recrawl.detect.change import OldVersion, compare, read_lines, signature
from recrawl.detect.reading import Criteria, ReadPage, read_response, reading_of
from recrawl.detect.text.cuts import Cuts
from recrawl.detect.verdict import PageFacts, verdict_by_content, verdict_by_signature
from recrawl.entries.entries import VisitMade
from recrawl.entries.records import VersionLines
from recrawl.parse.messages import Response
from recrawl.store import open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import VisitOutcome
from tests.crawl.crawls import START, crawl_once, page_rule, settings
from tests.servers import answers
from tests.servers.faults import FaultServer

LINES = 300
HEADER = "text/html; charset=utf-8"


def page_of(version):
    """A long page, of which each version has other words at other places."""
    lines = [f"Item {number} costs {number * 7 % 90} € today" for number in range(LINES)]
    if version:
        lines[version] = f"News {version} of the day"
        lines[10 * version], lines[50] = lines[50], lines[10 * version]
        del lines[100 + version : 100 + 2 * version]
    items = "".join(f'<li class="x"><a href="/i/{line[5:9]}">{line}</a></li>' for line in lines)
    return f"<title>Shop</title><ul>{items}</ul>".encode()


def crawled(folder, pages, between=lambda store: None, **rule):
    """Visit a page once per version, each time by a crawl of its own."""
    told, now = [], 0

    async def behave(wire):
        await answers.page(pages[now])(wire)

    async def crawl():
        nonlocal now
        async with FaultServer({"/p": behave}) as server:
            for now in range(len(pages)):
                asked = settings(page_rule(server, "/p", **rule))
                told.extend(
                    await crawl_once(folder, asked, ScaledClock(SECONDS_A_DAY, START + now))
                )
                with open_for_writing(folder / "recrawl.db") as store:
                    between(store)

    asyncio.run(crawl())
    return told


def expected(old, new):
    before, after = (read_lines(each.decode(), html=True) for each in (old, new))
    return compare(OldVersion(before, signature(before)), after)


def test_verdicts_are_those_of_both_bodies(tmp_path):
    pages = [page_of(version) for version in (0, 1, 2, 3)]

    told = crawled(tmp_path, pages)

    assert told[0].outcome is VisitOutcome.FIRST
    for (old, new), visit in zip(pairwise(pages), told[1:], strict=True):
        change = expected(old, new)
        assert (visit.outcome, visit.verdict.gist) == (VisitOutcome.CHANGED, change.gist)
        assert visit.verdict.share == change.share
    with open_store(tmp_path / "recrawl.db") as reader:
        kept = reader.newest_lines(0)
        assert kept is not None
        assert kept.lines == read_lines(pages[-1].decode(), html=True)


def parted(version):
    """The same page, so written that it can be cut at each item."""
    return page_of(version).replace(b"<li", b"\n<li")


def test_a_page_is_read_where_it_differs(tmp_path):
    """Kept lines with another word in them come back where the page is the same."""
    pages = [parted(0), parted(1)]

    def between(store):
        with open_store(store.name) as reader:
            body, known = reader.newest_body(0), reader.newest_lines(0)
        assert known is not None
        lines = (*known.lines[:-1], "another word")
        kept = VersionLines(known.reading, lines, known.cuts, body)
        at = (START + 0.5) * SECONDS_A_DAY
        store.write([VisitMade(0, at, VisitOutcome.SAME, body=body, lines=kept)])

    told = crawled(tmp_path, pages, between)

    assert told[1].outcome is VisitOutcome.CHANGED
    with open_store(tmp_path / "recrawl.db") as reader:
        kept = reader.newest_lines(0)
    assert kept is not None
    assert kept.lines[-1] == "another word"
    assert kept.lines[:-1] == read_lines(pages[1].decode(), html=True)[:-1]


def test_cuts_are_carried_on_from_version_to_version(tmp_path):
    pages = [parted(version) for version in (0, 1, 2, 3)]

    told = crawled(tmp_path, pages)

    for (old, new), visit in zip(pairwise(pages), told[1:], strict=True):
        assert visit.verdict.share == expected(old, new).share
    with open_store(tmp_path / "recrawl.db") as reader:
        kept = reader.newest_lines(0)
    assert kept is not None
    assert kept.body == pages[-1]
    cuts = Cuts.read(kept.cuts, size=len(pages[-1]), rows=len(kept.lines))
    assert cuts is not None
    ends = (*cuts.offsets, len(pages[-1]))
    assert max(end - start for start, end in pairwise((0, *ends))) < 4096
    assert kept.lines == read_lines(pages[-1].decode(), html=True)


def test_cuts_that_cannot_be_are_not_used(tmp_path):
    def between(store):
        with open_store(store.name) as reader:
            body, known = reader.newest_body(0), reader.newest_lines(0)
        assert known is not None
        for cuts in ("no", "1 99999999 1", "1 1024 9999"):
            kept = VersionLines(known.reading, known.lines, cuts, body)
            at = (START + 0.5) * SECONDS_A_DAY
            store.write([VisitMade(0, at, VisitOutcome.SAME, body=body, lines=kept)])

    told = crawled(tmp_path, [parted(0), parted(1)], between)

    assert told[1].verdict.share == expected(parted(0), parted(1)).share


def keep_instead(reading):
    """Keep lines of our own beside the newest body."""

    def between(store):
        with open_store(store.name) as reader:
            body, known = reader.newest_body(0), reader.newest_lines(0)
        if known is not None:
            lines = VersionLines(reading or known.reading, ("other words",))
            made = VisitMade(
                0, (START + 0.5) * SECONDS_A_DAY, VisitOutcome.SAME, body=body, lines=lines
            )
            store.write([made])

    return between


def test_kept_lines_are_what_a_page_is_compared_with(tmp_path):
    """So the old body was not read: it would have said otherwise."""
    told = crawled(tmp_path, [page_of(0), page_of(1)], keep_instead(b""))

    assert (told[1].outcome, told[1].verdict.gist) == (VisitOutcome.CHANGED, "rewritten")


def test_lines_that_were_read_otherwise_are_not_used(tmp_path):
    told = crawled(tmp_path, [page_of(0), page_of(1)], keep_instead(b"otherwise"))

    assert told[1].verdict.share == expected(page_of(0), page_of(1)).share


@pytest.mark.parametrize(
    "damage",
    [
        "update body_lines set data = zeroblob(50)",
        "update body_lines set size = 5",
        "update body_lines set reading = x''",
    ],
)
def test_damaged_lines_are_read_from_the_body(tmp_path, damage):
    def between(store):
        store.database.execute(damage)

    told = crawled(tmp_path, [page_of(0), page_of(1)], between)

    assert told[1].verdict.share == expected(page_of(0), page_of(1)).share


def test_a_store_that_keeps_no_lines_gives_the_same_verdicts(tmp_path):
    pages = [page_of(version) for version in (0, 1, 2)]
    found = []
    for name, between in (
        ("with", lambda store: None),
        ("without", lambda store: store.database.execute("delete from body_lines")),
    ):
        (tmp_path / name).mkdir()
        told = crawled(tmp_path / name, pages, between)
        found.append([(each.outcome, each.verdict.share, each.verdict.gist) for each in told[1:]])

    assert found[0] == found[1]


def test_a_page_that_reads_as_its_version_did_is_no_wall():
    """Then nobody looks for one, and the verdict is that of one who does."""
    address, old = "https://a.example/", parted(0)
    first, again = (
        Response(address, 200, {"content-type": HEADER, "cf-mitigated": state}, body)
        for state, body in (("", old), ("challenge", old.replace(b"<li class", b"<li id=a class")))
    )
    read = read_response(first, Criteria())
    known = PageFacts()
    kept = verdict_by_content(address, first, read, known, Criteria(), old=None, at=1e9)
    known, version = PageFacts(kept.copy), ReadPage(read.lines)
    whole = read_response(again, Criteria())
    part = read_response(again, Criteria(), kept=kept.lines)

    verdicts = [
        verdict_by_content(address, again, each, known, Criteria(), old=version, at=2e9)
        for each in (whole, part)
    ]

    assert (whole.lines, whole.wall, part.lines, part.wall) == (read.lines, "bot", read.lines, "")
    assert verdicts[0] == verdicts[1] == verdict_by_signature(address, again, part, known)


def test_each_way_of_reading_has_its_own_signature():
    def response(header, body=b"<p>a"):
        return Response("https://a.example/", 200, {"content-type": header}, body)

    ways = [
        reading_of(response(HEADER), Criteria()),
        reading_of(response("text/html; charset=koi8-r"), Criteria()),
        reading_of(response(HEADER), Criteria(watch=("main",))),
        reading_of(response(HEADER), Criteria(ignore=("main",))),
        reading_of(response(HEADER, b"%PDF-1.7 ..."), Criteria()),
    ]

    assert len(set(ways)) == len(ways)
    assert ways[0] == reading_of(response(HEADER, b"<p>other"), Criteria(least_change=0.5))
