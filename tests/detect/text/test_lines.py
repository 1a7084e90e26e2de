"""What a reader sees of a page, line by line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from xxhash import xxh3_64_hexdigest

from recrawl.detect.text.lines import (
    _LONGEST_KEPT,
    _MOST_KEPT,
    _TOKEN_LEFT,
    GAP,
    LINK,
    RULES_OF_TEXT,
    lines,
    text_lines,
)
from recrawl.detect.text.markup import TOKEN, TOKEN_PARTS, UNSEEN_TOKEN
from tests.cpu import cpu_seconds

HOSTILE = [
    *(
        "<div>",
        "<ul><li>",
        "<b><p>",
        "<b id=1><p>",
        "<",
        "<a",
        '<a b="',
        "<a b='",
        "<!--",
        "<!-- -",
    ),
    *(
        "&amp;",
        "&",
        "&#9",
        "<script>",
        "<script></script>",
        "</style",
        "<a b=c ",
        "<a/",
        "<a=",
        "</",
    ),
    *("<p>", "<table>", "<?", "<![CDATA[", "<style><!--", "<title>", "\0", " ", "]]>"),
]
HTML = st.text(
    st.sampled_from("<>/!-&#; \"'=abphrefimgtdscript\n\x10\x11\x1e\0é\u200b"), max_size=80
)


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("", ()),
        ("<p> \n </p>", ()),
        ("a<br>b<p>c</p>d", ("a", "b", "c", "d")),
        ("wo<b>r</b>d wo<!-- -->rd", ("word word",)),
        ("<body><p>x<title>T &amp; U</title>", ("T & U", "x")),
        ("<title>first</title><svg><title>of a picture</title></svg>", ("first",)),
        ("<table><tr><th>Price<td>5 &euro;<tr><td>a<td>b</table>", ("Price 5 €", "a b")),
        ("<li>a<li>b", ("a", "b")),
        ('<img alt="a cat"> sits', ("a cat sits",)),
        ('<input type=hidden value="token">x<input value=y>', ("x",)),
        ("<p title='no' onclick=no>yes<script>no</script><style>no</style>", ("yes",)),
        ("x&shy;y z\u200bz e\u0301 a&nbsp;\u3000b", ("xy zz é a b",)),
        ("\ufeff<p>x", ("x",)),
        ("<x-card>one</x-card>two", ("one", "two")),
        ("<A HREF='/a'>b</A>", (f"{LINK}/a b",)),
        ("<a name=x>b</a> <a href='#top'>c</a> <a href=javascript:f()>d</a>", ("b c d",)),
        ("<p>Posted 5 minutes ago", ("Posted",)),
        ("a<img>b<img alt=''>c<img src=x>d", ("ab c d",)),
        ("R&am<b>p;D &lt<i>; T&amp;C", ("R&amp;D <; T&C",)),
        ("<p>a<script>1<2</script></p>b<style>x</style></div>c", ("a", "b", "c")),
        ("a\0b<p>c", ("ab", "c")),
    ],
)
def test_lines_are_blocks_as_read(page, found):
    assert lines(page) == found


def test_a_link_that_leads_elsewhere_is_another_line():
    assert lines("<a href=/a>x</a>") != lines("<a href=/b>x</a>")


@pytest.mark.parametrize(
    "attributes",
    [
        'href="/a?b=1&amp;c#d"',
        "href='/a?b=1&amp;c#d'",
        "href=/a?b=1&amp;c#d",
        'HREF = "/a?b=1&amp;c#d"',
        'class="x y"\n  href="/a?b=1&amp;c#d" hidden',
        'hidden href="/a?b=1&amp;c#d"/',
        'href="/a?b=1&amp;c#d" href="/other"',
        'data-href="/other" title="a > b" href="/a?b=1&amp;c#d"',
        'title=\'" href="/other"\' href="/a?b=1&amp;c#d"',
        'x="y" ' * 60 + 'href="/a?b=1&amp;c#d"',
        'href="/a?utm_source=x&amp;b=1&amp;c"',
    ],
    ids=range(11),
)
def test_a_link_leads_to_the_same_however_it_is_written(attributes):
    assert lines(f"<p><a {attributes}>x</a>") == (f"{LINK}/a?b=1&c x",)


@pytest.mark.parametrize(
    "attributes",
    ['alt="a &amp; b"', "alt='a &amp; b'", 'src="x" ALT="a &amp; b" /', 'alt="a &amp; b" alt="c"'],
    ids=["double", "single", "capitals", "twice"],
)
def test_an_image_says_the_same_however_it_is_written(attributes):
    assert lines(f"x<img {attributes}>y") == ("x a & b y",)


def test_no_text_can_look_like_a_link_or_a_gap():
    """Neither letters nor references put their signs into a text."""
    for written in (f"{LINK}/a {GAP}b", "&#16;/a &#17;b", "&#x10;/a &#x11;b"):
        assert lines(f"<p>{written}") == ("/a b",)
        assert lines(f'<img alt="{written}">') == ("/a b",)
    assert text_lines(f"{LINK}/a {GAP}b") == ("/a b",)


def test_only_chosen_parts_count():
    page = "<title>T</title><main><p>a<p class=ad>b</main><p>c"

    assert lines(page, watch=("main",)) == ("a", "b")
    assert lines(page, ignore=(".ad",)) == ("T", "a", "c")
    assert lines(page, watch=("main",), ignore=(".ad",)) == ("a",)


def test_json_has_a_line_for_each_value_however_it_is_written():
    assert text_lines('{"a":[1,2],"b":"x,{y\\"}"}') == text_lines(
        '{"a":[\n1,\n2\n],\n"b":"x,{y\\"}"\n}'
    )


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_takes_little_time(piece):
    page = piece * ((1 << 20) // len(piece))

    assert cpu_seconds(lambda: (lines(page), text_lines(page))) < 5


@pytest.mark.parametrize(
    "piece",
    ["1,", "1 ", "vor ", "vor 1 ", " ago", "1 minute ", "il y a ", "5分", "há 1 e ", " fa "],
)
def test_a_megabyte_of_near_times_takes_little_time(piece):
    page = piece * ((1 << 20) // len(piece.encode()))

    assert cpu_seconds(lambda: lines(page)) < 10


@pytest.mark.parametrize("marks", ["\u0301", "\u0301\u0323", "\u05b0\u05b4", "\u3099", "\u094d"])
def test_many_marks_on_a_letter_take_little_time(marks):
    page = "<p>e" + marks * (300_000 // len(marks))

    assert cpu_seconds(lambda: lines(page)) < 5


@pytest.mark.parametrize("end", [">", "", " x"])
@pytest.mark.parametrize("attribute", ["a{}= ", "a{}='<' ", 'a{}=">" '])
def test_many_attributes_take_little_time_where_parts_are_chosen(attribute, end):
    page = "<a " + "".join(map(attribute.format, range(60_000))) + end + "<main>x</main>"

    assert cpu_seconds(lambda: lines(page, watch=("main",))) < 2  # 0.2 alone on the machine


@given(HTML)
def test_no_page_is_too_broken_and_lines_are_tidy(page):
    for line in lines(page):
        assert line
        assert line == " ".join(line.split())
        assert line == unicodedata.normalize("NFC", line)
        assert GAP not in line


@given(st.text(max_size=200), st.integers(0, 200), st.integers(0, 200))
def test_pages_cut_and_spliced_anywhere_are_read(page, start, end):
    whole = "<html><p class='a'>x</p><a href=\"/b\">y</a><script>z</script>" + page

    lines(whole[start:] + whole[:end])


@given(st.binary(max_size=300))
def test_any_bytes_are_read(body):
    lines(body.decode("latin-1"))
    lines(body.decode(errors="surrogateescape"))
    text_lines(body.decode("utf-16", errors="replace"))


@given(st.lists(st.sampled_from(["one", "two &amp; three", "drei"]), min_size=1), st.data())
def test_spelling_of_tags_does_not_matter(texts, data):
    opening = st.sampled_from(["<p>", "<P>", "<p id=1>", "</div><div class='x'>", "\n<li>\t"])
    page = "".join(data.draw(opening) + text for text in texts)

    assert lines(page) == lines("".join(f"<p>{text}</p>" for text in texts))


@given(HTML)
def test_a_token_says_by_itself_what_it_says_in_its_page(page):
    """So what replaces it can be kept: nothing of it depends on what stands around it."""
    parts = TOKEN.split(page)
    place = len(parts[0])

    assert "".join(parts) == page
    for token, text in zip(parts[1::2], parts[2::2], strict=True):
        there, alone = TOKEN_PARTS.match(page, place), TOKEN_PARTS.match(token)
        assert there is not None
        assert alone is not None
        assert there.groups() == alone.groups()
        assert there.end() - place == alone.end() == len(token)
        assert not UNSEEN_TOKEN.match(token) or not any(alone.groups())
        place += len(token) + len(text)


def test_pages_with_ever_new_tags_are_read_alike_and_take_no_more_memory():
    def page(number):
        return f'<title>{number}</title><a href="/{number}?a&amp;b"><b id={number}>x</b></a>'

    def read(numbers):
        return [lines(page(number)) for number in numbers]

    first = read(range(20_000))
    again = read(range(20_000))

    assert first == again
    assert first[7] == ("7", f"{LINK}/7?a&b x")
    assert len(_TOKEN_LEFT) <= _MOST_KEPT
    assert max(map(len, _TOKEN_LEFT)) <= _LONGEST_KEPT


def test_what_is_a_line_changes_only_with_the_number_of_its_rules():
    """Stores keep lines under this number: raise it, and put the new hash here."""
    pieces = [
        *('<title>A &amp; B</title><p class="x">one<br>two</p>', "<td>a<td>b", "x\u200by \u3000z"),
        *('<a href="/b?utm_source=x&amp;c=1#top">c</a><img alt=cat>', "5 minutes ago", "<!-- -->"),
        *("<script>no</script><textarea>no</textarea>", "e\u0301 &euro; &#8211;", "<x-y>custom"),
    ]
    read = [lines(page) for page in (*pieces, "".join(pieces))]
    read += [text_lines(text) for text in ('{"a": [1, "b, c"]}', "a  b\n\nc")]

    assert (RULES_OF_TEXT, xxh3_64_hexdigest(repr(read).encode())) == (1, "f9d231036a7ea852")


def test_a_relative_time_in_a_long_line_stays():
    """It is part of what the line says, and says nothing of the short ones."""
    story = "It was five minutes ago, " + "and she told it " * 10 + "again."

    assert lines(f"<p>{story}<p>long ago<p>Ada") == (story, "long ago", "Ada")
    assert lines(f"<p>{story}<p>Ada, 5 minutes ago") == (story, "Ada,")
