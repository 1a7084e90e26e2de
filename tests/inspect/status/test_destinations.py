"""How far those are who are told of the change feed, as `status` has it."""

import pytest

from recrawl.entries.deliveries import DestinationMoved, DestinationsNamed
from recrawl.entries.records import Destination
from recrawl.inspect.status.destinations import DestinationStanding, destination_standings
from recrawl.report.status.status import destination_sentences
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing, open_store
from recrawl.units import SECONDS_A_DAY
from tests.publish import fed
from tests.store.made import NOON

BLOCKS = (
    '[[webhook]]\naddress = "https://example.org/in?key=abc"\nsecret = "env:KEY"\n'
    '[[notify]]\naddress = "env:MAIL"\n[[notify]]\naddress = "env:LATER"\n'
)
AGAIN = "`recrawl changes --deliver` tries it again"
ADDRESS = "https://example.org/in?key=abc"


def test_standings_are_those_of_the_settings(tmp_path):
    path = fed.make(tmp_path)
    with open_for_writing(path) as store:
        store.write([DestinationsNamed([ADDRESS, "env:MAIL", "of no block"])])
    fed.usual(path)
    with open_for_writing(path) as store:
        gone = Destination(ADDRESS, 2, disabled=True, problem="answered 410")
        lost = Destination("env:MAIL", 5, next_at_seconds=NOON)
        store.write([DestinationMoved(gone, NOON)])
        store.write([DestinationMoved(lost, NOON, "no connection", (3, 4))])

    with open_store(path) as reader:
        found = destination_standings(read_settings(fed.SETTINGS + BLOCKS), reader)
        assert destination_standings(read_settings(fed.SETTINGS), reader) == []

    hook = DestinationStanding(
        "https://example.org/in",
        "webhook",
        waiting=3,
        since_seconds=NOON + 7200,
        problem="answered 410",
        disabled=True,
    )
    mail = DestinationStanding("env:MAIL", "notify", next_at_seconds=NOON, given_up=2)
    assert found == [hook, mail, DestinationStanding("env:LATER", "notify")]


@pytest.mark.parametrize(
    ("standings", "said"),
    [
        ([], []),
        ([{}], ["a; nothing waiting"]),
        ([{"waiting": 1, "since_seconds": 0.0}], ["a; 1 event waiting, the oldest for 2.0d"]),
        ([{}] * 6, ["6 destinations; nothing waiting"]),
        (
            [{"waiting": 9, "since_seconds": 0.0, "problem": "answered 500", "attempts": 3}],
            ["a: 9 events waiting, the oldest for 2.0d; last: answered 500, tried 3 times"],
        ),
        (
            [{"problem": "x", "attempts": 1, "next_at_seconds": 2.5 * SECONDS_A_DAY}, {}],
            ["a; nothing waiting", "a: nothing waiting; last: x, tried 1 time, again in 12h"],
        ),
        (
            [{"disabled": True, "problem": "answered 410"}],
            [f"a: nothing waiting; it answered 410, so nothing is sent; {AGAIN}"],
        ),
        (
            [{"given_up": 1}],
            ["a: nothing waiting; 1 event given up, see `recrawl changes --undelivered`"],
        ),
    ],
)
def test_one_line_where_all_is_well_and_one_for_each_that_is_not(standings, said):
    found = [DestinationStanding("a", "notify", **each) for each in standings]

    assert destination_sentences(found, 2.0) == said
