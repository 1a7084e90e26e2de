"""Globs and regular expressions of addresses."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.errors import InvalidParameter
from recrawl.parse.address_patterns import MOST_STATES, AddressPatterns
from recrawl.parse.addresses import LONGEST_ADDRESS

SITE = "https://a.org"


def matches(pattern, path):
    address = path if path.startswith("http") else SITE + path
    return AddressPatterns((pattern,)).first(address) == pattern


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        ("/calendar/", ["/calendar/", "/calendar/2031-01?view=day"], ["/calendar", "/x/calendar/"]),
        ("/tag/*", ["/tag/", "/tag/a", "/tag/a?page=2"], ["/tag", "/tag/a/b", "/x/tag/a"]),
        ("/tag/**", ["/tag/", "/tag/a/b/c?d"], ["/tag"]),
        ("*.pdf", ["/a.pdf", "/x/y/a.pdf", "/?file=a.pdf"], ["/a.pdf?x", "/pdf"]),
        ("*sort=*", ["/shop?sort=up", "/a/b?x=1&sort=a"], ["/shop?sort=/up", "/shop"]),
        ("/shop/**?**sort=*", ["/shop/a/b?x=/&sort=a"], ["/shop/a/b", "/shop/sort=a"]),
        ("/x", ["/x"], ["/x/", "/xy", "/y/x", "/x?y"]),
        ("/x?page=1", ["/x?page=1"], ["/xapage=1", "/x"]),
        ("/a*/b", ["/a/b", "/axx/b"], ["/a/x/b"]),
        ("/a**/b", ["/a/b", "/axx/b", "/a/x/b"], ["/ab"]),
        ("https://b.org/x/", ["https://b.org/x/y"], ["/x/y", "http://b.org/x/"]),
        ("https://*.b.org/**", ["https://c.b.org/", "https://d.c.b.org/e"], ["https://b.org/"]),
        ("/bücher/*", ["/b%C3%BCcher/a"], ["/bucher/a"]),
        ("/a b", ["/a%20b"], ["/a", "/a%20"]),
        ("/a.b", ["/a.b"], ["/axb"]),
        ("/a(b)+[c]", ["/a(b)+[c]"], ["/abc"]),
    ],
)
def test_what_a_glob_matches(pattern, matched, others):
    assert [path for path in matched if not matches(pattern, path)] == []
    assert [path for path in others if matches(pattern, path)] == []


@pytest.mark.parametrize(
    ("pattern", "matched", "others"),
    [
        (r"re:/\d{4}/\d\d/", ["/x/2031/04/y"], ["/31/04/", "/2031/4/"]),
        (r"re:^https://a\.org/x", ["/x/y"], ["/y/x", "https://b.org/x"]),
        (r"re:[?&]sid=[0-9a-f]{32}$", ["/?sid=" + "0a" * 16], ["/?sid=" + "0a" * 17]),
        (r"re:/(en|de)(/|$)", ["/en", "/x/de/y"], ["/fr", "/end"]),
        ("re:x", ["/x"], ["/y"]),
        (r"re:/[^/]+/[^/]+$", ["/a/b"], ["/a/b/"]),
        (r"re:\.(?:jpe?g|png)(\?|$)", ["/a.jpg", "/a.jpeg?1", "/x.png"], ["/a.jpegx", "/png"]),
        (r"re:[]\]-]", ["/]", "/-"], ["/["]),
        (r"re:[\d-]x", ["/1x", "/-x"], ["/ax"]),
        ("re:a{2,}b{0}c{1,2}$", ["/aac", "/aaaacc"], ["/ac", "/aabc", "/aaccc"]),
        ("re:ü+x", ["/%C3%BC%C3%BCx"], ["/%BCx"]),
    ],
)
def test_what_a_regular_expression_finds(pattern, matched, others):
    assert [path for path in matched if not matches(pattern, path)] == []
    assert [path for path in others if matches(pattern, path)] == []


@pytest.mark.parametrize(
    ("pattern", "said"),
    [
        ("", "write one such as"),
        ("  ", "write one such as"),
        ("re:", "write one such as"),
        ("re:(a", "a ( is not closed"),
        ("re:a)", "a ) closes nothing"),
        ("re:[a", "a [ is not closed"),
        ("re:[b-a]", "must go up"),
        (r"re:[\d-a]", "must go up"),
        ("re:[ü]", "plain ASCII"),
        ("re:*a", "nothing before it"),
        ("re:a**", "behind each other"),
        ("re:a{5,2}", "must go up"),
        ("re:a{1001}", "1,000 at most"),
        ("re:a{x}", "repetition such as"),
        ("re:a{", "repetition such as"),
        (r"re:(a)\1", r"\1 is not supported"),
        (r"re:\b", r"\b is not supported"),
        ("re:(?=a)", "lookaround"),
        ("re:(?i)a", "flags"),
        ("re:(a{100}){100}", f"more than {MOST_STATES:,} characters"),
        ("re:(((){900}){900}){900}", "more than 10,000 parts"),
        ("re:" + "(" * 60 + ")" * 60, "nested deeper"),
        ("/" + "x" * MOST_STATES, f"more than {MOST_STATES:,} characters"),
    ],
)
def test_what_is_no_pattern_is_refused_in_a_sentence(pattern, said):
    with pytest.raises(InvalidParameter, match=re.escape(said)) as caught:
        AddressPatterns((pattern,))

    assert len(str(caught.value)) < 200
    assert "\n" not in str(caught.value)


def test_the_pattern_that_matches_is_named_and_none_matches_nothing():
    patterns = AddressPatterns(("/a/", "*.pdf", "re:x$"))

    assert [patterns.first(SITE + path) for path in ("/a/b", "/b.pdf", "/x", "/y")] == [
        *("/a/", "*.pdf", "re:x$"),
        None,
    ]
    assert AddressPatterns(()).first(SITE + "/") is None


@pytest.mark.parametrize(
    "pattern", ["re:(a+)+$", "re:(a|a)*b", "re:(a*)*(a*)*c", "**a**a**a**a**b"]
)
def test_a_hostile_address_takes_linear_time(pattern):
    """A backtracking engine would not end: it tries 2^2000 ways, or 2000^5."""
    patterns, hostile = AddressPatterns((pattern,)), f"{SITE}/{'a' * (LONGEST_ADDRESS - 20)}!"
    began = time.process_time()

    found = patterns.first(hostile)

    assert found is None
    assert time.process_time() - began < 2


def test_states_that_hostile_addresses_lead_to_do_not_pile_up():
    """`a` 12 letters before the end has 4,096 deterministic states; a part of them is kept."""
    patterns = AddressPatterns(("re:a[ab]{12}c",))
    hostile = "".join("ab"[number.bit_count() % 2] for number in range(2000))

    for start in range(0, 1900, 10):
        assert patterns.first(f"{SITE}/{hostile[start:]}") is None

    assert len(patterns._known) <= 2000
    assert patterns.first(f"{SITE}/{'a' * 13}c") == "re:a[ab]{12}c"


atoms = st.sampled_from(["a", "b", "/", ".", "[ab]", "[^a]", r"\d", "1", r"\.", "(?:ab|1)"])
repeated = st.tuples(
    atoms, st.sampled_from(["", "", "*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}"])
)
sequences = st.lists(repeated.map("".join), min_size=1, max_size=4).map("".join)
grouped = st.tuples(sequences, sequences, st.sampled_from(["", "*", "+", "?", "{2}"])).map(
    lambda parts: f"({parts[0]}|{parts[1]}){parts[2]}"
)
expressions = st.tuples(
    st.sampled_from(["", "^"]),
    st.lists(st.one_of(sequences, grouped), min_size=1, max_size=3).map("".join),
    st.sampled_from(["", "$"]),
).map("".join)


@given(expressions, st.lists(st.text("ab/1.", max_size=8), min_size=1, max_size=5))
@settings(max_examples=300)
def test_expressions_find_what_pythons_own_engine_finds(expression, texts):
    """Python's engine is the oracle, on texts so short that it always ends."""
    patterns = AddressPatterns((f"re:{expression}",))

    for text in texts:
        expected = re.search(expression.replace("$", r"\Z"), text) is not None
        assert (patterns.first(text) is not None) is expected


globs = st.lists(st.sampled_from(["a", "b", "/", "*", "**", "?", "."]), min_size=1, max_size=6).map(
    "".join
)


@given(globs, st.text("ab/?.", max_size=8))
@settings(max_examples=300)
def test_globs_match_what_their_translation_matches(glob, rest):
    """Each `*` stands for `[^/]*`, a run of more for `.*`, anchored at both ends."""
    text = glob if glob.startswith("/") else f"/**{glob}"
    text += "**" if glob.endswith("/") else ""
    parts = [
        ".*" if part.startswith("**") else "[^/]*" if part == "*" else re.escape(part)
        for part in re.split(r"(\*+)", text)
    ]
    path = f"/{rest}"

    found = AddressPatterns((glob,)).first(SITE + path)

    assert (found is not None) is (re.fullmatch("".join(parts), path) is not None)
