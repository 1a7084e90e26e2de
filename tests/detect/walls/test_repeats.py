"""One text for many pages."""

from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.walls.repeats import Repeats


def test_one_text_for_two_pages_that_had_texts_of_their_own_is_a_wall():
    repeats = Repeats()

    assert not repeats.seen("h", "/1", b"wall", b"one")
    assert repeats.seen("h", "/2", b"wall", b"two")
    assert repeats.seen("h", "/3", b"wall", b"three")


def test_a_page_may_show_its_text_again():
    repeats = Repeats()

    assert not repeats.seen("h", "/1", b"text", b"one")
    assert not repeats.seen("h", "/1", b"text", b"one")


def test_one_page_under_two_addresses_may_change():
    repeats = Repeats()

    assert not repeats.seen("h", "/1", b"new", b"same")
    assert not repeats.seen("h", "/1?a", b"new", b"same")


def test_first_copies_may_be_alike():
    repeats = Repeats()

    assert not repeats.seen("h", "/1", b"text", None)
    assert not repeats.seen("h", "/2", b"text", None)
    assert not repeats.seen("h", "/3", b"text", b"three")


def test_hosts_are_apart():
    repeats = Repeats()

    assert not repeats.seen("h", "/1", b"wall", b"one")
    assert not repeats.seen("i", "/2", b"wall", b"two")


def test_of_a_host_the_latest_texts_are_known():
    repeats = Repeats()
    for number in range(30):
        repeats.seen("h", f"/{number}", str(number).encode(), b"own")

    assert not repeats.seen("h", "/x", b"0", b"x")
    assert repeats.seen("h", "/x", b"29", b"x")


@given(st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 99)), max_size=50))
def test_memory_is_bounded(asked):
    repeats = Repeats()
    for host, text in asked * 30:
        repeats.seen(str(host), "/", str(text).encode(), b"")
    for host in range(1500):
        repeats.seen(str(host), "/", b"", b"")

    assert len(repeats._hosts) == 1000
    assert all(len(texts) <= 20 for texts in repeats._hosts.values())
