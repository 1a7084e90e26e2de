"""A page that is read where it differs has the lines that it has when it is read as a whole."""
# ruff: noqa: S311 # chance need not be secret

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.text.cuts import Cuts, parts_of
from recrawl.detect.text.lines import lines
from recrawl.detect.text.markup import TOKEN, is_closed
from recrawl.detect.text.rereading import read_again, read_cut

BLOCKS = (
    '<div class="card"><a href="/item/{n}?page=2"><b>Item {n}</b></a> costs {n} €</div>\n',
    "<p>Some words &amp; more of them, {n} in all, and so on and so forth as people write it</p>\n",
    "<ul><li>One {n}<li>Two<li><img src=/x alt='Picture {n}'></ul>",
    '<script>if (1 < {n}) document.write("<p>no</p>")</script>\n',
    "<!-- build {n} <p>no -->",
    "<table><tr><td>Price<td>{n}</table>posted {n} minutes ago<br>",
    "text {n} without any tag ",
    "<h2>  e\u0301t\u00e9   \u00ad{n}\u2009x </h2>",
    "<section><section>{n}</section></section>",
)
# What edits put anywhere: whole blocks, and what breaks a page.
BROKEN = (
    *("<", ">", "</", "<!--", "-->", "<script>", "</script>", "<title>", "</title>"),
    *("<title>x</title>", '<p a="', "'", '"', "=", "&", "&am", ";", "<p", "<a href=", "<b>", " "),
    *("\x10", "\x1e", "\x11", "\u0301", "\u0301" * 70, "€", "\ufffd", "<textarea>"),
    *("<?", "x" * 2500, "<br>", "<td>"),
)  # fmt: skip


def page_of(chance, *, titled=True, size=12_000):
    parts = ["<title>Shop &amp; more</title>" if titled else ""]
    while sum(map(len, parts)) < size:
        parts.append(chance.choice(BLOCKS).format(n=chance.randint(1, 999)))
    return "".join(parts)


def edited(page, chance):
    """The page with some pieces replaced, deleted, inserted, moved or broken."""
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(page))
        length = chance.choice((0, 1, 5, 40, 900, 4000))
        new = chance.choice((*BLOCKS, *BROKEN, "", page[at : at + length] * 2)).replace("{n}", "7")
        page = page[:at] + new + page[at + length :]
    return page


def cuts_of(page):
    found = read_cut(page).cuts
    assert found is not None
    return found


def read_both(old, new):
    """Lines of the new page, read where it differs; None where it must be read as a whole."""
    before = read_cut(old)
    assert before.lines == lines(old)
    if before.cuts is None:
        return None
    return read_again(new.encode(), old.encode(), before.cuts, before.lines)


@pytest.mark.parametrize("seed", range(150))
def test_lines_are_those_of_the_whole_page(seed):
    chance = random.Random(seed)
    old = page_of(chance, titled=chance.random() < 0.8)
    new = edited(old, chance)

    found = read_both(old, new)

    if found is not None:
        assert found.lines == lines(new)


@pytest.mark.parametrize("seed", range(20))
def test_cuts_that_were_carried_on_serve_as_those_of_the_whole_page(seed):
    """Twenty versions, each read from the one before as long as that goes."""
    chance = random.Random(seed)
    page = page_of(chance)
    known = read_cut(page)
    for _ in range(20):
        at = chance.randrange(len(page))
        new = page[:at] + chance.choice(BLOCKS).format(n=5) + page[at + chance.choice((0, 300)) :]
        found = None
        if known.cuts is not None:
            assert Cuts.read(
                known.cuts.written, size=len(page.encode()), rows=len(known.lines)
            ) == (known.cuts)
            found = read_again(new.encode(), page.encode(), known.cuts, known.lines)
        page, known = new, found or read_cut(new)

        assert known.lines == lines(page)


def test_most_edits_are_read_alone():
    """So that the tests above say something."""
    read = 0
    for seed in range(100):
        chance = random.Random(seed)
        old = page_of(chance)
        at = chance.randrange(40, len(old))
        read += read_both(old, old[:at] + "7" + old[at:]) is not None

    assert read >= 80


def test_an_edit_is_read_without_the_rest_of_the_page():
    old = "<title>Tea</title>" + "".join(f"<p>Number {n} of many</p>" for n in range(4000))
    new = old.replace("Number 2000 ", "Number zwei ").replace("Number 77 ", "")
    cuts = cuts_of(old)

    fresh = [part for part in parts_of(new.encode(), old.encode(), cuts) if not part.is_known]

    assert len(fresh) == 2
    assert sum(part.end - part.start for part in fresh) < 5000


def test_a_title_that_is_no_longer_at_the_beginning_comes_first():
    """Though the page begins with a piece that it had, it is not the one with the title."""
    old = "<title>Tea</title>" + "<p>some words of a line" * 200
    end = cuts_of(old).offsets[0]
    new = old[end:] + old[:end]

    assert lines(new)[0] == "Tea"
    found = read_both(old, new)
    assert found is None or found.lines == lines(new)


@pytest.mark.parametrize("edit", ["<p>x", "y", "<b>z</b>", "<td>", "<!-- a -->"])
def test_what_is_put_before_a_cut_belongs_to_the_line_before_it(edit):
    old = "<p>first" + "<p>some words of a line" * 200
    offset = cuts_of(old).offsets[0]
    new = old[:offset] + edit + old[offset:]

    found = read_both(old, new)

    assert found is not None
    assert found.lines == lines(new)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<title>a</title>", "<title>b</title>"),
        ("<title>a</title>", ""),
        ("", "<title>b</title>"),
        ("<title>a</title>", "<!-- "),
        ("<title>a</title>", "<title>a"),
        ("", "<svg><title>b</title></svg>"),
    ],
)
def test_a_title_comes_first_wherever_it_was(old, new):
    rest = "<p>some words of a line" * 200
    for before, after in ((old, new), (new, old)):
        for place in (0, len(rest) // 23 // 2 * 23, len(rest)):
            pages = [rest[:place] + each + rest[place:] for each in (before, after)]

            found = read_both(*pages)

            assert found is None or found.lines == lines(pages[1])


def test_a_page_with_what_has_no_end_has_no_cuts():
    broken_ends = ("<!-- no end", '<p title="', "<script>", "<p", "\ufffd", "\x10", "<title>Tea")
    for broken in broken_ends:
        assert read_cut("<p>line" * 400 + broken).cuts is None
        assert read_cut("<p>line" * 400 + broken).lines == lines("<p>line" * 400 + broken)


def test_the_first_title_counts_whether_it_is_closed_or_not():
    """The first is not: what stands in its tag might go on in another page."""
    rest = "<p>line" * 400
    titles = '<title a"b>Tea</title>', "<title>Shop</title>"

    for first, second in (titles, titles[::-1]):
        page = first + rest + second

        assert read_cut(page).cuts is None
        assert lines(page)[0] == ("Tea" if first == titles[0] else "Shop")


def test_bytes_that_are_no_text_are_read_as_a_whole():
    old = "<p>some words" * 400
    new = b"\xff" + old.encode()

    assert read_again(new, old.encode(), cuts_of(old), lines(old)) is None


TOKENS = st.lists(
    st.sampled_from(
        (
            *("<", ">", "/", "!", "-", "--", "?", "=", '"', "'", " ", "\n", "a", "p", "img"),
            *(
                "href",
                "alt",
                "script",
                "</script>",
                "title",
                "</title",
                "style",
                "x",
                "&",
                "<!--",
                "-->",
            ),
        )
    ),
    max_size=14,
).map("".join)


@given(TOKENS, TOKENS, TOKENS)
def test_a_closed_token_ends_where_it_ends_whatever_follows(page, rest, other):
    for token in TOKEN.split(page)[1::2]:
        if is_closed(token):
            for after in (rest, other, "", "-->", '" >', "' >", ">", "</script>", "</title>"):
                found = TOKEN.match(token + after)
                assert found is not None
                assert found[0] == token


@given(st.text("01 9a-", max_size=12), st.integers(0, 2000), st.integers(0, 50))
def test_cuts_of_strangers_are_refused_or_lie_within_the_page(written, size, rows):
    cuts = Cuts.read(written, size=size, rows=rows)

    if cuts is not None:
        assert 0 < cuts.offsets[0] <= cuts.offsets[-1] < size
        assert list(cuts.offsets) == sorted(set(cuts.offsets))
        assert list(cuts.rows) == sorted(cuts.rows)
        assert cuts.rows[-1] <= rows
