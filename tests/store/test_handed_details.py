"""Detail pages that lie in another slot than their listing: handed over, and taken in there."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from recrawl.entries.entries import (
    Copy,
    DetailPages,
    DetailsTaken,
    PageChange,
    PageEvent,
    PagesErased,
    PagesFound,
    VisitMade,
)
from recrawl.entries.listings import ListingSynced, SyncOutcome
from recrawl.errors import InvalidParameter, StoreLocked
from recrawl.listings.live.rules import ListingRule
from recrawl.parse.addresses import host_of
from recrawl.parse.items.item import Layout
from recrawl.parse.store_addresses import read_address
from recrawl.settings.rules import NO_RULE, Rule
from recrawl.settings.settings import Settings
from recrawl.settings.slots import SlotScope, slot_of
from recrawl.store import open_for_writing, open_store
from recrawl.store.postgres.connections import connect
from recrawl.store.retention import Retention
from recrawl.store.slots.leases import SlotLease, lease_slots, open_slot
from recrawl.visits.status import FeedKind, PageStatus, RemovalReason, VisitOutcome
from tests.servers import postgres

# The list is on one site and goes on on another; a block covers a third, in the slot of the second.
LIST, MORE, BLOCK = "https://site0.org", "https://site4.org", "https://site6.org"
LISTING = ListingRule(
    "jobs", (f"{LIST}/jobs", f"{MORE}/jobs"), Layout("li", "@id", detail="a@href")
)
SETTINGS = Settings(
    "bot (me@example.org)", rules=(Rule(f"{BLOCK}/"),), listings=(LISTING,), slots=2
)
HERE, THERE = SlotScope.all_of(SETTINGS, 2)


@pytest.fixture
def place():
    with postgres.divided_store(2) as place:
        yield place


@pytest.fixture
def slots(place):
    """The slot of the listing and that of its other pages, held."""
    with ExitStack() as stack:
        yield [opened(stack, place, scope) for scope in (HERE, THERE)]


def opened(stack, place, scope):
    leases = lease_slots(place, 600.0)
    fence = leases.take(scope.slot)
    leases.close()
    assert fence is not None
    return stack.enter_context(open_slot(place, scope, SlotLease(fence, 600.0, 1e18), Retention()))


def told(at):
    unlisted = PageEvent(FeedKind.REMOVED, at, at, at, RemovalReason.UNLISTED)
    return unlisted, PageEvent(FeedKind.BACK, at, at, at)


def pages_of(settings, addresses, at):
    own = settings.detail_rules["jobs"]
    rules = [own if each == NO_RULE else each for each in settings.rules_of(addresses)]
    return PagesFound(addresses, [host_of(each) for each in addresses], rules, at)


class Board:
    """A listing that is synced in its slot, once per call, and whose pages the other slot takes."""

    def __init__(self, slots):
        (self.here, _), (self.there, self.reader) = slots
        self.shown: dict[str, str] = {}
        self.at = 1000.0

    def sync(self, **shown):
        self.at += 1000.0
        before, self.shown = self.shown, shown
        other = {key: each for key, each in shown.items() if before.get(key, "") != each}
        new = [key for key in shown if key not in before]
        settings = HERE.settings
        own = dict.fromkeys(each for each in other.values() if each and settings.has_in_slot(each))
        rule = settings.detail_rules["jobs"]
        found = pages_of(settings, list(own), self.at)
        (receipt,) = self.here.write(
            [
                ListingSynced(
                    *("jobs", self.at, SyncOutcome.DONE, self.at + 1000.0),
                    inserted={key: {"key": key} for key in new},
                    updated={key: {"key": key} for key in other if key not in new},
                    deleted=[key for key in before if key not in shown],
                    details=DetailPages(other, found, rule, *told(self.at)),
                )
            ]
        )
        return receipt

    def waiting(self):
        return [address for _, _, address in self.reader.handed_details(0, 99)]

    def take(self):
        self.at += 1.0
        found = pages_of(THERE.settings, list(dict.fromkeys(self.waiting())), self.at)
        rules = tuple(THERE.settings.detail_rules.values())
        (receipt,) = self.there.write([DetailsTaken(found, rules, *told(self.at))])
        return receipt


def objects(place):
    with open_store(place) as reader:
        return {each.key: (each.page, each.address) for each in reader.objects("jobs")}


def events(place):
    with open_store(place) as reader:
        found = [each for some in reader.object_events() for each in some]
    return [(each.key, each.kind.label, each.page, each.address) for each in found]


def has_rule(place):
    with open_store(place) as reader:
        addresses = [each for some in reader.all_addresses() for each in some]
        return dict(zip(addresses, (reader.pages().rule != NO_RULE).tolist(), strict=True))


def test_where_everything_lies():
    assert [slot_of(f"{each}/", 2) for each in (LIST, MORE, BLOCK)] == [0, 1, 1]
    assert (HERE.rules, THERE.rules) == ((1,), (0, 1))
    assert HERE.settings.synced_listings == [LISTING]
    assert THERE.settings.synced_listings == []


def test_a_listing_without_detail_pages_is_known_to_one_slot():
    plain = ListingRule("jobs", LISTING.addresses, Layout("li", "@id"))
    parts = SlotScope.all_of(Settings("bot (me@example.org)", listings=(plain,)), 2)

    assert [len(each.settings.listings) for each in parts] == [1, 0]


def test_an_object_has_its_address_at_once_and_its_page_once_it_is_taken(place, slots):
    board = Board(slots)
    board.sync(a=f"{LIST}/a", b=f"{MORE}/b", c=f"{BLOCK}/c")
    first = [("a", "arrived", 0, f"{LIST}/a")]

    assert board.waiting() == [f"{MORE}/b", f"{BLOCK}/c"]
    assert objects(place) == {
        "a": (0, f"{LIST}/a"),
        "b": (None, f"{MORE}/b"),
        "c": (None, f"{BLOCK}/c"),
    }
    assert events(place) == [
        *first,
        ("b", "arrived", None, f"{MORE}/b"),
        ("c", "arrived", None, f"{BLOCK}/c"),
    ]
    receipt = board.take()
    assert list(receipt.found.pages) == [0, 1]  # by the numbers of the slot
    assert objects(place) == {"a": (0, f"{LIST}/a"), "b": (1, f"{MORE}/b"), "c": (2, f"{BLOCK}/c")}
    assert events(place) == [
        *first,
        ("b", "arrived", 1, f"{MORE}/b"),
        ("c", "arrived", 2, f"{BLOCK}/c"),
    ]
    assert board.waiting() == []
    assert board.reader.pages().rule.tolist() == [1, 0]  # the listing's, and the block's
    assert set(has_rule(place).values()) == {True}


def test_a_page_loses_its_rule_in_its_own_slot(place, slots):
    board = Board(slots)
    board.sync(a=f"{MORE}/a", b=f"{MORE}/a", c=f"{MORE}/c", d=f"{BLOCK}/d")
    board.take()
    copy = VisitMade(
        *(1, 1500.0, VisitOutcome.FIRST, 200),
        copy=Copy(b"8 bytes.", b"8 bytes."),
        body=b"<p>text</p>",
        change=PageChange(PageStatus.COPIED),
        event=PageEvent(FeedKind.NEW, 1500.0),
    )
    board.there.write([copy])
    assert not board.sync(a=f"{MORE}/a").unlisted  # none of the pages is here

    assert board.waiting() == [f"{MORE}/c"]  # another object has the first, a block the third
    assert has_rule(place)[f"{MORE}/c"]
    assert board.take().unlisted == [1]
    assert has_rule(place) == {f"{MORE}/a": True, f"{MORE}/c": False, f"{BLOCK}/d": True}
    board.sync(a=f"{MORE}/a", c=f"{MORE}/c")
    assert objects(place)["c"] == (1, f"{MORE}/c")  # the page is known, so at once
    receipt = board.take()
    assert (receipt.back, receipt.listed) == ({1: PageStatus.COPIED}, [1])
    assert has_rule(place)[f"{MORE}/c"]
    with open_store(place) as reader:
        feed = [each.kind for some in reader.events() for each in some]
    assert feed == [FeedKind.NEW, FeedKind.REMOVED, FeedKind.BACK]


def test_an_object_that_moves_on_before_its_page_is_taken(place, slots):
    """Each event has the page that the object had then, whenever that is added."""
    board = Board(slots)
    board.sync(a=f"{MORE}/1", b=f"{MORE}/1")
    board.sync(a=f"{BLOCK}/2", b=f"{MORE}/1")
    board.sync(a=f"{LIST}/3")  # page 0 of the store
    happened = [
        ("a", "arrived", f"{MORE}/1"),
        ("b", "arrived", f"{MORE}/1"),
        ("a", "changed", f"{BLOCK}/2"),
        ("a", "changed", f"{LIST}/3"),
        ("b", "vanished", f"{MORE}/1"),
    ]
    assert [(key, kind, address) for key, kind, _, address in events(place)] == happened
    assert objects(place) == {"a": (0, f"{LIST}/3"), "b": (None, f"{MORE}/1")}

    board.take()

    numbers = {f"{LIST}/3": 0, f"{MORE}/1": 1, f"{BLOCK}/2": 2}
    assert events(place) == [
        (key, kind, numbers[address], address) for key, kind, address in happened
    ]
    assert objects(place) == {"a": (0, f"{LIST}/3"), "b": (1, f"{MORE}/1")}
    # Nothing that is listed has the first page, which no block covers.
    assert has_rule(place) == {f"{LIST}/3": True, f"{MORE}/1": False, f"{BLOCK}/2": True}


def test_what_is_taken_twice_is_taken_once(place, slots):
    """A worker that was killed before it knew has left nothing to its successor."""
    board = Board(slots)
    board.sync(a=f"{MORE}/a")
    found = pages_of(THERE.settings, [f"{MORE}/a"], 1.0)
    taken = DetailsTaken(found, tuple(THERE.settings.detail_rules.values()), *told(1.0))
    first, second = board.there.write([taken, taken])

    assert first.found.new == [0]
    assert second.found.new == []
    assert not second.back
    assert not second.unlisted
    assert objects(place) == {"a": (0, f"{MORE}/a")}


def test_a_slot_takes_no_page_of_another(slots):
    board = Board(slots)
    found = PagesFound([f"{LIST}/a"], ["site0.org"], [1], 1.0)
    with pytest.raises(InvalidParameter, match="does not lie in slot 1"):
        board.there.write([DetailsTaken(found, (1,), *told(1.0))])


@pytest.mark.parametrize("slot", [0, 1])
def test_whoever_lost_its_slot_hands_over_and_takes_nothing(place, slots, slot):
    board = Board(slots)
    board.sync(a=f"{MORE}/a")
    before = objects(place), board.waiting()
    with connect(read_address(place)) as connection:
        connection.execute("update slots set until = clock_timestamp() - interval '1 second'")
    leases = lease_slots(place, 600.0)
    assert leases.take(slot) == 2
    leases.close()

    with pytest.raises(StoreLocked, match=f"slot {slot} is another worker's by now"):
        board.take() if slot else board.sync(a=f"{MORE}/a", b=f"{MORE}/b")
    assert (objects(place), board.waiting()) == before


def test_a_page_that_is_erased_is_waited_for_no_more(place):
    """Its address is left nowhere; the object has the page, of which nothing is known."""
    with ExitStack() as stack:
        board = Board([opened(stack, place, scope) for scope in (HERE, THERE)])
        board.sync(a=f"{MORE}/a")
        board.there.write([pages_of(THERE.settings, [f"{MORE}/a"], 1.0)])  # found by a sitemap, say
        assert objects(place) == {"a": (None, f"{MORE}/a")}
    with open_for_writing(place) as store:
        store.write([PagesErased([0], 3000.0)])

    assert objects(place) == {"a": (0, "")}
    assert events(place) == [("a", "arrived", 0, "")]
    with open_store(place) as reader:
        assert reader.handed_details(0, 9) == []
        assert reader.detail_addresses("jobs") == {"a": None}
