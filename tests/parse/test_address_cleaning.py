"""Addresses without tracking parameters and session ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.parse.address_cleaning import TRACKING_PARAMETERS, cleaned
from recrawl.parse.addresses import canonical

SITE = "https://a.org"
HEX = "0123456789abcdef" * 2


@pytest.mark.parametrize(
    ("found", "clean"),
    [
        ("/x?utm_source=mail", "/x"),
        ("/x?UTM_Source=mail&id=7", "/x?id=7"),
        ("/x?id=7&utm_source=a&utm_medium=b&z=1", "/x?id=7&z=1"),
        ("/x?gclid=1&fbclid=2&msclkid=3&mc_cid=4&mc_eid=5", "/x"),
        ("/x?utm%5Fsource=mail", "/x"),
        ("/x?b=2&a=1", "/x?b=2&a=1"),
        ("/x?id=7&&z", "/x?id=7&&z"),
        ("/utm_source=mail/x", "/utm_source=mail/x"),
        ("/x?my_utm_source=a", "/x?my_utm_source=a"),
        ("/x?gclid", "/x"),
        ("/x;jsessionid=1A2B3C", "/x"),
        ("/x;jsessionid=1A2B/y;sid=3?z", "/x/y?z"),
        ("/x;v=2", "/x;v=2"),
        (f"/x?sid={HEX}", "/x"),
        (f"/x?PHPSESSID={HEX}&id=7", "/x?id=7"),
        ("/x?PHPSESSID=short", "/x"),
        ("/x?sid=ff116799", "/x"),
        ("/x?session_id=0A1B2C3D4E&id=7", "/x?id=7"),
        ("/x?sid=ff1167", "/x?sid=ff1167"),
        ("/x?sid=deadbeef", "/x?sid=deadbeef"),
        ("/x?sid=12345678", "/x?sid=12345678"),
        ("/x?sid=autumn2025", "/x?sid=autumn2025"),
        ("/?s=ff116799", "/?s=ff116799"),
        ("/story?sid=1234567", "/story?sid=1234567"),
        ("/?s=the+words+that+are+searched+for", "/?s=the+words+that+are+searched+for"),
        ("/story?sid=" + "1" * 32, "/story?sid=" + "1" * 32),
        ("/(S(lit3py55t21z5v55vlm25s55))/orders.aspx", "/orders.aspx"),
        ("/(S(x))/orders.aspx", "/(S(x))/orders.aspx"),
        ("/a/x;sid=1/../b", "/a/b"),
    ],
)
def test_what_says_nothing_of_the_page_is_dropped(found, clean):
    address = canonical(SITE + found)
    assert address is not None

    assert cleaned(address, TRACKING_PARAMETERS).address == SITE + clean


def test_what_is_left_is_canonical_again():
    """Without its session id `..` is the folder above."""
    address = canonical(f"{SITE}/a/b/..;sid=1/c")
    assert address is not None

    assert cleaned(address, TRACKING_PARAMETERS).address == f"{SITE}/a/c"


def test_what_was_dropped_is_named_once():
    found = cleaned(f"{SITE}/x;sid=1?utm_id=1&utm_id=2&Ref=3", ("utm_*", "ref"))

    assert found.dropped == ("session id", "utm_id", "ref")


def test_an_empty_list_leaves_addresses_as_they_are():
    address = f"{SITE}/x;jsessionid=1?utm_source=a&sid={HEX}"

    assert cleaned(address, ()).address == address


@pytest.mark.parametrize(
    ("pattern", "dropped"),
    [
        ("ref", ["ref"]),
        ("re*", ["ref", "refer"]),
        ("*r", ["refer"]),
        ("r*e*r", ["refer"]),
        ("*", None),
    ],
)
def test_stars_stand_for_any_characters(pattern, dropped):
    found = cleaned(f"{SITE}/?ref=1&refer=2&x=3", (pattern,))

    assert list(found.dropped) == (["ref", "refer", "x"] if dropped is None else dropped)


names = st.sampled_from(["utm_source", "id", "sid", "PHPSESSID", "x", "s", "fbclid", "", "%75tm_x"])
values = st.sampled_from(["", "=1", f"={HEX}", "=a=b", "=%26"])
queries = st.lists(st.tuples(names, values).map("".join), max_size=5).map("&".join)
folders = st.sampled_from(
    ["a", "..", ".", "x;sid=1", "..;jsessionid=2", f"(S({HEX}))", ";sid=", ""]
)
addresses = st.tuples(st.lists(folders, max_size=5).map("/".join), queries).map(
    lambda parts: canonical(f"{SITE}/{parts[0]}?{parts[1]}")
)


@given(addresses, st.sampled_from([TRACKING_PARAMETERS, ("utm_*",), ("*d",)]))
def test_cleaning_is_idempotent_and_only_ever_shortens(address, parameters):
    once = cleaned(address, parameters)

    assert cleaned(once.address, parameters) == type(once)(once.address)
    assert canonical(once.address) == once.address
    assert (len(once.address) < len(address)) is bool(once.dropped)
    assert (once.address == address) is not bool(once.dropped)
