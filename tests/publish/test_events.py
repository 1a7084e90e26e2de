"""Events as lines: valid CloudEvents, the same however they are written."""

import json

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.gist import GISTS
from recrawl.entries.records import FeedEvent
from recrawl.publish.atom import AtomEntry, atom_feed
from recrawl.publish.events import cloud_event, event_line, utc
from recrawl.visits.status import FeedKind, RemovalReason

_seconds = st.integers(0, 4_000_000_000_000).map(lambda milliseconds: milliseconds / 1000)
_texts = st.text(max_size=20)
events = st.builds(
    FeedEvent,
    number=st.integers(0, 2**50),
    kind=st.sampled_from(FeedKind),
    page=st.integers(0, 2**40),
    address=_texts,
    at_seconds=_seconds,
    earliest_seconds=st.none() | _seconds,
    latest_seconds=_seconds,
    likely_seconds=st.none() | _seconds,
    visit=st.none() | st.integers(1, 2**40),
    version=st.none() | st.binary(min_size=16, max_size=16),
    before=st.none() | st.binary(min_size=16, max_size=16),
    share=st.none() | st.integers(0, 10_000).map(lambda parts: parts / 10_000),
    gist=st.none() | st.sampled_from(GISTS),
    reason=st.none() | st.sampled_from(RemovalReason),
    target=st.none() | _texts,
)


@given(events)
def test_a_line_is_the_event_as_json_writes_it(event):
    assert event_line("k3fqabcd", event) == json.dumps(cloud_event("k3fqabcd", event)) + "\n"


@given(events)
def test_what_cloud_events_require_is_there(event):
    found = json.loads(event_line("k3fqabcd", event))

    for name in ("specversion", "id", "source", "type"):
        assert isinstance(found[name], str)
        assert found[name]
    assert found.get("subject", "") == event.address


def test_instants_are_told_to_the_millisecond():
    assert utc(1_767_268_800.9996) == "2026-01-01T12:00:01.000Z"
    assert utc(59.999) == "1970-01-01T00:00:59.999Z"


@given(st.lists(events, max_size=3), _texts)
def test_atom_is_xml_whatever_pages_are_called(some, host):
    from xml.etree import ElementTree as ET

    feed = ET.fromstring(atom_feed("k3fqabcd", list(map(AtomEntry.of_page, some)), host).encode())  # noqa: S314 - our own

    assert len(feed.findall("{http://www.w3.org/2005/Atom}entry")) == len(some)
