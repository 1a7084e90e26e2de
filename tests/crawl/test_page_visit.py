"""Hosts that lie, pages that differ by themselves and walls, on real servers."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from recrawl.detect.reliability import ETAG, MODIFIED, NOT_MODIFIED, SignalRecord
from recrawl.state.trust import Trust
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY, http_text
from tests.crawl.crawls import SECOND, START, crawl_once, outcomes, page_rule, settings, visits
from tests.servers import answers
from tests.servers.faults import FaultServer, head
from tests.waiting import PatientClock

if TYPE_CHECKING:
    from recrawl.crawl.page_visit import PageVisit

WORDS = "The tea house by the harbour has forty kinds of tea and one kind of cake."
TEAS = ["Green tea from the hills", "Black tea with milk", "White tea, picked at dawn", "No tea"]


class Changing:
    """A page whose text is what `text` says, answered as `answer` says."""

    def __init__(self, text="one", *, noise="", **headers):
        self.text = text
        self.noise = noise
        self.headers = answers.HTML | headers
        self.requests = 0
        self.conditional = 0
        self.deny = False
        self.wall = b""

    async def __call__(self, wire):
        self.requests += 1
        asked = wire.request.headers
        conditional = "if-none-match" in asked or "if-modified-since" in asked
        self.conditional += conditional
        if conditional and self.deny:
            await wire.send(head(304, self.headers))
            return
        body = f"<h1>Menu</h1><p>{WORDS}</p><p>{self.text}</p>"
        if self.noise:
            body += f"<p>{self.noise} {self.requests:08d} visitors</p><p>Bye</p>"
        await wire.answer(200, self.headers, self.wall or body.encode())


async def seen_over(tmp_path, behaviours, steps, *, each=6, interval=0.5, **more):
    """Crawl pages and take a step after so many visits; returns visits and beliefs."""
    told: list[PageVisit] = []
    pending = list(steps)
    paths = {f"/p{number}": behaviour for number, behaviour in enumerate(behaviours)}
    async with FaultServer(paths) as server:
        rules = [page_rule(server, path, interval=interval, **more) for path in paths]
        asked = settings(*rules)
        while True:
            told += await visits(tmp_path, asked, each, PatientClock(0.1, START + 100 * len(told)))
            if not pending:
                break
            pending.pop(0)()
    with open_store(tmp_path / "recrawl.db") as reader:
        words = {kind: SignalRecord(*counts) for _, kind, counts in reader.signal_records()}
    return told, words


@pytest.mark.parametrize(
    "validator",
    [{"ETag": '"always"'}, {"Last-Modified": http_text((START - 1) * SECONDS_A_DAY)}],
    ids=["tag", "date"],
)
def test_a_host_that_denies_changes_is_found_out_and_loses_its_word(tmp_path, validator):
    page = Changing(**validator)
    page.deny = True

    def change():
        page.text += " more"
        page.conditional = 0

    told, words = asyncio.run(seen_over(tmp_path, [page], [change] * 3))

    found = outcomes(told)
    assert found.count("changed") == 3
    assert words[NOT_MODIFIED].wrong >= 1
    assert words[NOT_MODIFIED].right == 0
    assert page.conditional <= 1  # now and then it is asked all the same


def test_without_audits_it_is_never_found_out(tmp_path, monkeypatch):
    monkeypatch.setattr(Trust, "_bernoulli", lambda *_: False)
    monkeypatch.setattr(Trust, "audit_304", lambda *_: False)
    monkeypatch.setattr(Trust, "must_be_whole", lambda *_: False)
    page = Changing(ETag='"always"')
    page.deny = True

    def change():
        page.text += " more"

    told, _ = asyncio.run(seen_over(tmp_path, [page], [change] * 3))

    assert outcomes(told).count("changed") == 0


def test_one_page_that_lies_among_honest_ones_is_found_out_without_any_luck(tmp_path, monkeypatch):
    """No 304 is audited by chance here: after two in a row the page is fetched in full."""
    monkeypatch.setattr(Trust, "_bernoulli", lambda *_: False)
    liar, honest = Changing(ETag='"always"'), [Changing(tea, ETag='"1"') for tea in TEAS[:3]]
    liar.deny = True
    edition = count(2)

    def change():
        number = next(edition)
        for page in (liar, *honest):
            page.text += " more"
            page.conditional = 0
            page.headers = page.headers if page is liar else page.headers | {"ETag": f'"{number}"'}

    told, words = asyncio.run(seen_over(tmp_path, [liar, *honest], [change] * 8, each=4))

    lied = [each.outcome.label for each in told if each.address.endswith("/p0")]
    assert lied[:4] == ["first", "not_modified", "not_modified", "changed"]
    assert "not_modified" not in lied[4:]
    assert lied.count("changed") >= 3
    assert words[NOT_MODIFIED].wrong == 1
    assert words[NOT_MODIFIED].right >= 20
    assert liar.conditional == 0
    assert all(page.conditional for page in honest)


def test_a_host_that_tells_the_truth_keeps_its_word(tmp_path):
    page = answers.page(b"<p>one</p>", etag='"1"')
    told, words = asyncio.run(seen_over(tmp_path, [page], [], each=12))

    found = outcomes(told)[1:]
    assert set(found) <= {"not_modified", "same"}
    assert found.count("same") <= 2  # fetched in full after two 304s, then after eight
    assert words[NOT_MODIFIED].wrong == 0
    assert words[NOT_MODIFIED].silent >= 1
    assert [each.audit.label for each in told].count("word") < 11


def test_a_tag_that_moves_without_a_change_is_no_evidence(tmp_path):
    number = count()

    async def page(wire):
        tags = answers.HTML | {"ETag": f'"{next(number)}"'}
        await wire.answer(200, tags, b"<p>one</p>")

    told, words = asyncio.run(seen_over(tmp_path, [page], [], each=8))

    assert set(outcomes(told)[1:]) == {"same"}
    assert words[ETAG].wrong >= 7
    assert words[ETAG].right == 0


def test_a_page_that_is_always_dated_now_has_no_dates(tmp_path):
    clock = PatientClock(0.1, START)

    async def page(wire):
        now = http_text(clock.now() * 86_400)
        dates = answers.HTML | {"Last-Modified": now, "Date": now}
        await wire.answer(200, dates, b"<p>one</p>")

    _, words = asyncio.run(seen_over(tmp_path, [page], [], each=6))

    assert words[MODIFIED].wrong >= 4
    assert words[MODIFIED].right == 0


def test_what_differs_by_itself_is_learnt_and_a_change_is_still_found(tmp_path):
    page = Changing(noise="You are one of")

    def change():
        page.text += " more"

    told, _ = asyncio.run(seen_over(tmp_path, [page], [change, bool, change], each=10))

    found = outcomes(told)
    assert found[0] == "first"
    assert found.count("changed") == 2
    assert found.count("cosmetic") == len(found) - 3
    assert "changed" not in found[:10]


def test_one_of_two_texts_by_chance_is_learnt_by_looking_again_at_each_return(tmp_path):
    """By requests, so that no clock can make both of two fetches the same for ever."""
    texts = count()

    async def page(wire):
        button = ("Buy now", "Order here")[(0x6B5A9C >> next(texts) % 24) & 1]
        body = f"<h1>Menu</h1><p>{WORDS}</p><button>{button}</button><p>Bye</p>"
        await wire.answer(200, answers.HTML, body.encode())

    told, _ = asyncio.run(seen_over(tmp_path, [page], [], each=60))

    assert outcomes(told)[20:].count("changed") <= 8


def test_what_three_pages_learnt_holds_for_their_host(tmp_path):
    pages = [Changing(f"page {number}", noise="You are one of") for number in range(8)]

    asyncio.run(seen_over(tmp_path, pages, [], each=40))

    with open_store(tmp_path / "recrawl.db") as reader:
        (shared,) = reader.host_masks().values()
    assert "visitors" in shared


def test_a_page_that_is_never_the_same_twice_is_not_always_changed(tmp_path):
    number = count()

    async def page(wire):
        body = f"<h1>{next(number) * 7919}</h1><p>{next(number) * 104729}</p>"
        await wire.answer(200, answers.HTML, body.encode())

    told, _ = asyncio.run(seen_over(tmp_path, [page], [], each=30))

    doubted = [each.false_changes for each in told if each.outcome.label == "changed"]
    assert outcomes(told).count("cosmetic") >= 3
    assert all(doubt > 0.3 for doubt in doubted[2:])


@pytest.mark.parametrize(
    "wall",
    [
        b"<title>Attention Required! | Cloudflare</title><h1>Please complete the captcha</h1>",
        b"<title>Page not found</title><h1>404 Not Found</h1>",
        b"<html><body></body></html>",
    ],
    ids=["bot", "soft-404", "empty"],
)
def test_a_wall_is_no_change_and_the_page_is_as_before_afterwards(tmp_path, wall):
    page = Changing()

    def put_up():
        page.wall = wall

    def take_down():
        page.wall = b""

    told, _ = asyncio.run(seen_over(tmp_path, [page], [put_up, take_down], each=3, interval=2.0))

    found = outcomes(told)
    assert "changed" not in found
    assert {"walled", "gone"} & set(found[3:6])
    assert found[-1] == "same"


def test_a_wall_in_words_that_nobody_knows_fools_one_page_at_most(tmp_path):
    pages = [Changing(f"page {number}") for number in range(6)]

    def put_up():
        for page in pages:
            page.wall = "<p>Zkuste to později, prosím, jsme trochu unavení a spíme.</p>".encode()

    told, _ = asyncio.run(seen_over(tmp_path, pages, [put_up], each=12, interval=3.0))

    found = outcomes(told)
    assert found.count("changed") <= 1
    assert found.count("walled") >= 3


def test_a_page_that_is_gone_is_noticed_though_its_host_says_not_modified(tmp_path):
    page = Changing(ETag='"always"')
    page.deny = True
    gone = answers.status(404)
    removed: list[bool] = []

    async def behave(wire):
        conditional = "if-none-match" in wire.request.headers
        await (page if conditional or not removed else gone)(wire)

    def remove():
        removed.append(True)

    told, _ = asyncio.run(seen_over(tmp_path, [behave], [remove], each=4))

    assert "gone" in outcomes(told)


def test_no_visit_is_lost_where_no_version_is_kept(tmp_path):
    pages = [Changing(f"page {number}", noise="One of") for number in range(6)]

    async def crawl():
        paths: dict[str, Any] = {f"/p{number}": page for number, page in enumerate(pages)}
        async with FaultServer(paths) as server:
            rules = [page_rule(server, path, interval=0.5) for path in paths]
            asked = settings(*rules, versions=0)
            return await visits(tmp_path, asked, 40, PatientClock(0.1, START))

    told = asyncio.run(crawl())
    with open_store(tmp_path / "recrawl.db") as reader:
        assert reader.last_visit() == len(told)
        assert all(copy is not None for copy in reader.copies(range(6)))


def test_a_crawl_that_is_done_but_for_a_dead_host_ends(tmp_path):
    async def crawl():
        async with FaultServer({"/a": answers.page(b"a")}) as server, FaultServer() as other:
            dead = page_rule(other, "/x", interval=None)
            await other.__aexit__(None, None, None)
            asked = settings(page_rule(server, "/a", interval=None), dead)
            return await crawl_once(tmp_path, asked)

    assert "first" in outcomes(asyncio.run(crawl()))


class WholeSeconds:
    """A page that changes in a regular period, dated in whole seconds as servers do.

    Args:
        clock: What time it is.
        period: Seconds from one change to the next.
        tagged: Whether it has an ETag made of date and size, as nginx does.
    """

    def __init__(self, clock, period, *, tagged):
        self.clock, self.period, self.tagged = clock, period, tagged
        self.began = clock.now() * SECONDS_A_DAY

    async def __call__(self, wire):
        now = self.clock.now() * SECONDS_A_DAY
        version = int((now - self.began) / self.period)
        modified = int(self.began + version * self.period)
        headers = answers.HTML | {"Date": http_text(now), "Last-Modified": http_text(modified)}
        if self.tagged:
            headers["ETag"] = f'"{modified:x}-1f"'
        asked = wire.request.headers
        since, tag = asked.get("if-modified-since"), asked.get("if-none-match")
        same = tag == headers["ETag"] if tag and self.tagged else since == http_text(modified)
        if same:
            await wire.send(head(304, headers))
        else:
            tea = f"{TEAS[version % len(TEAS)]}, pot {version}"
            words = f"<h1>Menu</h1><p>{WORDS}</p><p>{tea}</p>"
            await wire.answer(200, headers, words.encode())


@pytest.mark.parametrize("tagged", [False, True])
@pytest.mark.parametrize("period", [0.3, 2.7])
def test_a_host_whose_clock_has_whole_seconds_is_no_liar(tmp_path, period, tagged):
    """Two versions in one second have one date: that the second is "not modified" is honest."""

    async def crawl():
        clock = PatientClock(SECONDS_A_DAY / 10, START)  # a second passes in a tenth of one
        async with FaultServer({"/p": WholeSeconds(clock, period, tagged=tagged)}) as server:
            asked = settings(page_rule(server, "/p", interval=0.2 * SECOND))
            return await visits(tmp_path, asked, 60, clock)

    told = asyncio.run(crawl())
    with open_store(tmp_path / "recrawl.db") as reader:
        words = {kind: SignalRecord(*each) for _, kind, each in reader.signal_records()}

    assert sum(found in ("changed", "cosmetic") for found in outcomes(told)) >= 2
    assert words.get(NOT_MODIFIED, SignalRecord()).wrong == 0
    assert words.get(MODIFIED, SignalRecord()).wrong == 0
