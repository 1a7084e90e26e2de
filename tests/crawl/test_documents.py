"""PDF and Office documents in a crawl: their words are compared, not their bytes."""

import asyncio
import json

import pytest

from recrawl.adapters.documents import converter as converters
from recrawl.crawl.running import running
from recrawl.store import open_store
from tests.adapters.documents import made
from tests.cli.running import run
from tests.crawl.crawls import LIMITS, START, page_rule, settings, store_in
from tests.servers import answers
from tests.servers.faults import FaultServer
from tests.waiting import HANGS_SECONDS, PatientClock

LINES = ["Tea of the house", "Green tea is made of leaves.", "Only 5 euros."]


def document(price=5, date="D:20260101000000Z"):
    text = [*LINES[:2], f"Only {price} euros."]
    return made.pdf([made.page_of(text)], date=date, title="Tea")


def visited(folder, bodies, kind="application/pdf", told=bool, before=bool, **more):
    """Visits to a page that has one body after the other, and its address.

    Args:
        folder: Where the store is.
        bodies: Its bodies.
        kind: What its host calls them.
        told: Called with what the crawl remarks.
        before: Called with the number of a visit before it is made.
        more: What is asked for the page.
    """

    async def crawl():
        made_of = []
        async with FaultServer({}) as server:
            asked = settings(page_rule(server, "/p", **more))
            for number, body in enumerate(bodies):
                before(number)
                server.pages["/p"] = answers.page(body, content_type=kind)
                found: list = []
                clock = PatientClock(1.0, START + 10 * number)
                async with (
                    running(
                        asked,
                        store_in(folder),
                        clock,
                        on_visit=found.append,
                        on_remark=told,
                        limits=LIMITS,
                        seed=1,
                    ) as crawler,
                    asyncio.timeout(HANGS_SECONDS),
                ):
                    if not number:
                        await crawler.add([server.address("/p")])
                    await crawler.visit(0, clock.now() + 100)
                    await crawler.save()
                made_of.append(found[-1])
            return made_of, server.address("/p")

    return asyncio.run(crawl())


def outcomes(visits):
    return [visit.outcome.label for visit in visits]


def test_a_document_made_anew_is_no_change_and_an_edited_word_is_one(tmp_path):
    """Another date and another mark of the file are nothing that a reader sees."""
    made_anew = document(date="D:20260202000000Z")
    edited = document(6, date="D:20260303000000Z")
    told, address = visited(tmp_path, [document(), made_anew, edited])

    assert outcomes(told) == ["first", "cosmetic", "changed"]
    assert told[2].verdict.share == pytest.approx(1 / 14)
    assert told[2].verdict.gist == "figures"
    with open_store(tmp_path / "recrawl.db") as reader:
        events = [event for batch in reader.events() for event in batch]
        assert [event.kind.label for event in events] == ["new", "changed"]
        assert reader.newest_body(0) == edited
    (tmp_path / "recrawl.toml").write_text(
        f'agent = "bot (me@example.org)"\n[[page]]\naddress = "{address}"\nlocal = true\n'
    )
    diff = run("diff", address, cwd=tmp_path).out
    assert "~ Only [-5-]{+6+} euros." in diff
    markdown = run("get", address, "--as", "markdown", cwd=tmp_path).out
    assert markdown.endswith("Green tea is made of leaves.\n\nOnly 6 euros.\n")
    run("get", address, "-o", "tea.pdf", cwd=tmp_path)
    assert (tmp_path / "tea.pdf").read_bytes() == edited
    changed = run("changes", "--json", "--with", "markdown,diff,chunks", cwd=tmp_path).out
    data = json.loads(changed.splitlines()[-1])["data"]
    assert data["title"] == "Tea"
    assert "Only 6 euros." in data["markdown"]
    assert data["share"] == pytest.approx(1 / 14, abs=1e-4)
    assert [chunk["op"] for chunk in data["chunks"]] == ["changed"]


def test_what_its_host_calls_a_document_does_not_matter(tmp_path):
    bodies = [document(), document(date="D:20260202000000Z")]

    assert outcomes(visited(tmp_path, bodies, "text/html")[0]) == ["first", "cosmetic"]


@pytest.mark.parametrize("kind", ["docx", "xlsx"])
def test_office_documents_are_compared_by_their_words(tmp_path, kind):
    one, two = made.one_of_each("black")[kind], made.one_of_each("green")[kind]
    told, _ = visited(tmp_path, [one, made.repacked(one), two])

    assert outcomes(told) == ["first", "cosmetic", "changed"]
    assert 0 < told[2].verdict.share < 0.5


def test_documents_that_cannot_be_read_are_compared_by_their_bytes(tmp_path):
    """It is said once why, and the crawl goes on; a page that can be read again is compared so."""
    broken = [document()[:200] + bytes([number]) for number in range(2)]
    remarks: list = []
    told, address = visited(tmp_path, [*broken, document(), document()], told=remarks.append)

    assert outcomes(told) == ["first", "changed", "changed", "same"]
    assert told[1].verdict.share == 1.0
    why = (
        f"{address}: the document cannot be read (it is damaged) and is compared by its "
        "bytes. Further documents with this problem are not reported."
    )
    assert remarks == [why] * 3  # once for each crawl that met one


def test_without_the_extra_a_crawl_says_so_and_goes_on(tmp_path, monkeypatch):
    """Once it is there, what was compared by its bytes is compared by its words."""
    monkeypatch.setattr(converters, "_NEEDED", ("no_such_library",))
    bodies = [document(), document(6), document(6, date="D:2027")]
    remarks: list = []

    def install(number):
        if number == 2:
            monkeypatch.setattr(converters, "_NEEDED", ())

    told, _ = visited(tmp_path, bodies, told=remarks.append, before=install)

    assert outcomes(told) == ["first", "changed", "cosmetic"]
    assert "pip install '.[documents]' in the clone of recrawl" in remarks[0]


def test_a_page_that_becomes_a_document_and_a_document_that_becomes_a_page(tmp_path):
    page = b"<title>Tea</title><p>Tea of the house<p>Green tea is made of leaves.<p>Only 5 euros."
    told, _ = visited(tmp_path, [document(), page, document(7)], "")

    assert outcomes(told) == ["first", "cosmetic", "changed"]
