"""Detail pages of objects: pages of the crawl while an object that has them is listed."""

import asyncio
from dataclasses import replace

import pytest

import recrawl
from recrawl.clock import ScaledClock
from recrawl.parse.items.item import Layout
from recrawl.settings.rules import NO_RULE, Rule
from recrawl.store import open_store
from recrawl.units import SECONDS_A_DAY
from recrawl.visits.status import PageStatus
from tests.crawl.boards import Board, HandClock
from tests.crawl.crawls import START, crawl_once, crawling, settings, store_in

LAYOUT = Layout("li.job", "@id", {"title": "a"}, detail="a@href")


class Jobs:
    """A board whose jobs a test decides on; each has a page of its own unless it says otherwise."""

    def __init__(self, *names):
        self.links = {name: f"/job/{name}" for name in names}
        self.texts = {}

    def answer(self, asked):
        if asked.path == "/jobs":
            rows = "".join(
                f'<li class=job id="{name}"><a href="{link}">Job {name}</a></li>'
                for name, link in self.links.items()
            )
            return f"<html><body><ul>{rows}</ul></body></html>"
        text = self.texts.get(asked.path, "A job for somebody who likes to work.")
        return f"<html><body><h1>{asked.path}</h1><p>{text}</p></body></html>"

    def only(self, *names):
        self.links = {name: self.links.get(name, f"/job/{name}") for name in names}


def stands(folder):
    """Path of each page that is not the board, with its status and whether it has a rule."""
    with open_store(store_in(folder)) as reader:
        addresses = [each for some in reader.all_addresses() for each in some]
        columns = reader.pages()
    return {
        "/" + address.split("/", 3)[3]: (PageStatus(int(status)).label, bool(rule != NO_RULE))
        for address, status, rule in zip(addresses, columns.status, columns.rule, strict=True)
    }


def fed(folder):
    """Kind, reason and path of each event of the change feed."""
    with recrawl.open_store(str(store_in(folder))) as store:
        return [
            (each.kind, each.reason, "/" + str(each.address).split("/", 3)[3])
            for each in store.changes()
        ]


def go(folder, jobs, *steps, rule=None, rules=(), at_most=60):
    """Crawl once after each step, a day apart: a step changes what the board shows."""

    async def crawl():
        async with Board(jobs.answer) as board:
            wanted = board.rule(layout=LAYOUT, maximum=0.5, minimum=0.5, **(rule or {}))
            blocks = [each(board) for each in rules]
            for day, step in enumerate(steps):
                step()
                async with asyncio.timeout(at_most):
                    asked = settings(*blocks, listings=(wanted,))
                    await crawl_once(folder, asked, ScaledClock(SECONDS_A_DAY, START + day))
            return [each.path for each in board.requests]

    return asyncio.run(crawl())


def nothing():
    """Leave the board as it is."""


def test_the_page_of_each_object_is_copied_once_it_is_listed(tmp_path):
    asked = go(tmp_path, Jobs("1", "2"), nothing)

    assert stands(tmp_path) == {"/job/1": ("copied", True), "/job/2": ("copied", True)}
    assert {"/job/1", "/job/2"} <= set(asked)
    assert sorted(fed(tmp_path)) == [("new", None, "/job/1"), ("new", None, "/job/2")]
    with recrawl.open_store(str(store_in(tmp_path))) as store:
        events = {each.key: each for each in store.listing_changes()}
        assert store.copy(str(events["1"].address)).page == events["1"].page
        objects = store.store.objects("jobs")
    assert (events["2"].address or "").endswith("/job/2")
    assert [each.address[-6:] for each in objects] == ["/job/1", "/job/2"]


def test_a_page_goes_with_its_object_and_comes_back_with_it(tmp_path):
    """Each step is a crawl of its own; the tombstone is written with the sync."""
    jobs = Jobs("1", "2")
    seen = []

    def note():
        seen.append(stands(tmp_path)["/job/1"])

    go(
        tmp_path,
        jobs,
        nothing,
        lambda: jobs.only("2"),
        lambda: (note(), jobs.only("1", "2")),
        note,
    )

    assert seen == [("copied", False), ("copied", True)]
    assert [each[:2] for each in fed(tmp_path) if each[2] == "/job/1"] == [
        *(("new", None), ("removed", "unlisted"), ("back", None))
    ]


def test_objects_share_a_page_which_goes_with_the_last_of_them(tmp_path):
    jobs = Jobs("1", "2")
    jobs.links = {"1": "/both", "2": "/both"}
    seen = []

    def note():
        seen.append(stands(tmp_path))

    go(tmp_path, jobs, nothing, lambda: jobs.only("2"), lambda: (note(), jobs.only("3")), note)

    assert seen[0] == {"/both": ("copied", True)}
    assert seen[1] == {"/both": ("copied", False), "/job/3": ("copied", True)}


def test_a_page_that_a_block_covers_stays_with_the_block(tmp_path):
    jobs = Jobs("1", "2")
    block = lambda board: Rule(board.address("/job/1"), exact=True, local=True)  # noqa: E731
    go(tmp_path, jobs, nothing, lambda: jobs.only("2"), rules=[block])

    assert stands(tmp_path)["/job/1"] == ("copied", True)
    assert ("removed", "unlisted", "/job/1") not in fed(tmp_path)


def test_a_list_cannot_send_a_crawl_elsewhere(tmp_path):
    """To another port of this machine, another host, or what is no page at all."""
    jobs = Jobs("1", "2", "3", "4")
    jobs.links |= {"2": "http://127.0.0.1:9/x", "3": "http://127.0.0.2/x", "4": "mailto:a@b.org"}
    go(tmp_path, jobs, nothing)

    assert list(stands(tmp_path)) == ["/job/1"]


def test_an_object_whose_link_leads_elsewhere_changes(tmp_path):
    jobs = Jobs("1")
    go(tmp_path, jobs, nothing, lambda: jobs.links.update({"1": "/moved/1"}))

    assert stands(tmp_path) == {"/job/1": ("copied", False), "/moved/1": ("copied", True)}
    with recrawl.open_store(str(store_in(tmp_path))) as store:
        events = list(store.listing_changes())
    assert [each.kind for each in events] == ["arrived", "changed"]
    assert [(each.address or "")[-6:] for each in events] == ["/job/1", "oved/1"]


@pytest.mark.parametrize("out", ["detail", "listing"])
def test_a_listing_taken_out_of_the_settings_takes_its_pages_with_it(tmp_path, out):
    jobs = Jobs("1")

    async def crawl():
        async with Board(jobs.answer) as board:
            rule = board.rule(layout=LAYOUT)
            await crawl_once(tmp_path, settings(listings=(rule,)))
            bare = replace(rule, layout=replace(LAYOUT, detail=""))
            left = (bare,) if out == "detail" else ()
            await crawl_once(tmp_path, settings(listings=left))
            gone = stands(tmp_path)
            await crawl_once(tmp_path, settings(listings=(rule,)))
            return gone

    assert asyncio.run(crawl()) == {"/job/1": ("copied", False)}
    assert stands(tmp_path) == {"/job/1": ("copied", True)}
    assert [each[:2] for each in fed(tmp_path)] == [
        *(("new", None), ("removed", "unlisted"), ("back", None))
    ]


def test_a_page_taken_out_by_a_person_stays_out(tmp_path):
    from recrawl.crawl.removal import PageSelection, remove_pages
    from recrawl.store import open_for_writing

    jobs = Jobs("1", "2")

    def take_out():
        with (
            open_for_writing(store_in(tmp_path)) as store,
            open_store(store_in(tmp_path)) as reader,
        ):
            (address,) = reader.addresses([0])
            remove_pages(store, reader, PageSelection({address: 0}), 0.0)

    go(tmp_path, jobs, nothing, take_out, lambda: jobs.only("2"), lambda: jobs.only("1", "2"))

    assert stands(tmp_path)["/job/1"] == ("removed", False)


def test_a_visit_under_way_when_its_object_vanishes_leaves_nothing(tmp_path):
    """The page was leased before the sync, and answers after it."""
    jobs = Jobs("1", "2")

    async def crawl():
        clock = HandClock()
        async with Board(jobs.answer) as board:
            rule = board.rule(layout=LAYOUT)
            asked = settings(listings=(rule,), together=2)  # a page and the list at once
            async with crawling(tmp_path, asked, clock) as crawler, asyncio.timeout(60):
                await crawler._listings.sync(rule)
                agenda = crawler.crawl.agenda
                clock.time += 1.0
                due = crawler.schedule.due(1)
                assert [page.lease.page for page in due] == [0]
                jobs.only("2")
                clock.time += 1.0
                await crawler._listings.sync(rule)
                assert agenda.is_withdrawn(0)
                agenda.answered(due[0].lease, clock.now())
                agenda.release_lease(0, clock.now())
                clock.time += 1.0
                assert [page.lease.page for page in crawler.schedule.due(5)] == [1]

    asyncio.run(crawl())


def test_what_counts_in_a_page_is_what_its_listing_says(tmp_path):
    jobs = Jobs("1")
    told = {"watch": ("h1",)}

    def change():
        jobs.texts["/job/1"] = "Something else entirely, which nobody watches for."

    go(tmp_path, jobs, nothing, change, nothing, rule=told)

    assert [each[0] for each in fed(tmp_path)] == ["new"]
