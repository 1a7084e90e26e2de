"""The text of pages, however broken, in bounded time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.plain import plain_text

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


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("", ""),
        ("a  \n b", "a b"),
        ("wo<b>r</b>d", "word"),
        ("<td>1<td>2", "1 2"),
        ("a<br>b", "a b"),
        ("<p title='<b>no'>yes", "yes"),
        ("<a title=it's>seen</a> and 'seen'", "seen and 'seen'"),
        ("a<!-- <p>no -->b<!-->c", "a b c"),
        ("<SCRIPT>no</script >yes", "yes"),
        ("<script>no", ""),
        ("<style>p{}</style>yes<noscript>no</noscript>", "yes"),
        ("&eacute;&#233;&#xe9; &nosuch; &lt;p&gt;", "ééé &nosuch; <p>"),
        ("1 < 2 and 3<4", "1 < 2 and 3<4"),
        ("<scripted>yes</scripted>", "yes"),
        ("<p", ""),
        ("&#xD800;&#" + "9" * 5000 + ";", None),
    ],
)
def test_text_is_what_is_between_tags(page, text):
    if text is None:
        plain_text(page)  # whatever it is
    else:
        assert plain_text(page) == text


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_megabyte_of_anything_takes_little_time(piece):
    page = piece * ((1 << 20) // len(piece))

    began = time.process_time()
    plain_text(page)

    assert time.process_time() - began < 5


@given(st.text(st.sampled_from("<>/!-&#; \"'=abpscript\n"), max_size=60))
def test_no_text_is_too_broken_and_tags_never_show(page):
    text = plain_text(page)

    assert text == " ".join(text.split())


@given(st.lists(st.sampled_from(["one", "two", "&amp;", "x < y"]), max_size=8), st.data())
def test_tags_of_lines_and_white_space_do_not_matter(words, data):
    spaces = st.sampled_from([" ", "\n", "<p>", "</div>\t", "<!-- c -->", "<br/> "])
    page = "".join(data.draw(spaces) + word for word in words)

    assert plain_text(page) == plain_text(" ".join(words))
