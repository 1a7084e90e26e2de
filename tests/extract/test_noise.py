"""What differs by itself is not in the content: masks, which know lines, are applied to trees."""

import pytest
from lxml import etree  # type: ignore[import-untyped] # ships no types

from recrawl.detect.masks.masks import NO_MASKS, learn_masks
from recrawl.detect.text.lines import lines
from recrawl.extract.noise import tree_lines
from recrawl.extract.tree import read_tree
from tests.detect.corpus import LANGUAGES
from tests.extract.documentation import pages
from tests.extract.reading import content_of


def read(page, masks):
    """Content of a page as Markdown, and its title."""
    content = content_of(page, masks=masks)
    return content.title, content.markdown


def learned(page, one, other):
    """Masks of two fetches of a page that differ in a place."""
    return learn_masks(lines(page.replace("{}", one)), lines(page.replace("{}", other)))


@pytest.mark.parametrize(
    ("page", "texts", "left"),
    [
        ("<p>Made in {} s by web", ("0.031", "0.118", "7.5"), "Made in … s by web"),
        ("<p>Made <b>in {} s</b> by web", ("0.031", "0.118", "7.5"), "Made **in … s** by web"),
        (
            "<p>Top<p>{}<p>End",
            ("Buy our soap!", "Eat more fish.", "Go home now?"),
            "Top\n\nEnd",
        ),
        ("<p>Go <a href='/x?t={}'>on here</a>", ("a1b2", "c3d4", "e5f6"), "Go on here"),
        ("<p>Top<pre>now: {}\n  x</pre>", ("1:02", "3:04", "5:06"), "Top\n\n```\nnow: …\n  x\n```"),
        ("<p>See <img src=x alt='{} views'> now", ("12", "34", "56"), "See … views now"),
    ],
)
def test_what_masks_hide_is_not_in_the_content(page, texts, left):
    """The third fetch is one that no mask was learned from."""
    masks = learned(f"<h1>One</h1>{page}<p>Last", *texts[:2])
    assert masks

    found = {read(f"<h1>One</h1>{page}<p>Last".replace("{}", text), masks)[1] for text in texts}

    assert found == {f"# One\n\n{left}\n\nLast"}


def test_lines_in_another_order_are_sorted():
    page = "<h1>Read next</h1><ul>{}</ul><p>End"
    orders = [
        "<li>b one<li>a two<li>c six",
        "<li>c six<li>b one<li>a two",
        "<li>a two<li>c six<li>b one",
    ]
    masks = learned(page, *orders[:2])

    found = {read(page.replace("{}", order), masks)[1] for order in orders}

    assert found == {"# Read next\n\n- a two\n- b one\n- c six\n\nEnd"}


def test_the_title_is_masked_too():
    page = "<title>Inbox has {} letters</title><p>Mail<p>End"
    masks = learned(page, "13", "14")

    assert read(page.replace("{}", "15"), masks)[0] == "Inbox has … letters"


@pytest.mark.parametrize(
    "time", ["5 minutes ago", "just now", "2 <b>hours</b> ago", "2 hours <i>ago</i>"]
)
def test_relative_times_are_no_content(time):
    page = f"<p>Posted {time} by Bo<p>Read {time}</p><p>Last"

    assert read(page, NO_MASKS)[1] == "Posted by Bo\n\nRead\n\nLast"


@pytest.mark.parametrize(
    "character", ["\x0b", "\x0c", "\x01", "\x7f", "\ufffe", "&#1;", "&#xFFFF;"]
)
def test_characters_that_no_tree_may_be_given_do_no_harm(character):
    assert "Bo" in read(f"<p>Posted 5 minutes ago by{character} Bo", NO_MASKS)[1]


def test_text_that_is_no_html_is_masked_by_its_lines():
    masks = learn_masks(("Top", "Now 12:00:01"), ("Top", "Now 12:00:02"))

    content = content_of("Top\n\n  Now 18:23:45\nEnd", "text/plain", masks=masks)

    assert content.text == "Top\n\nNow …\nEnd"


def test_letters_of_every_script_are_found_again():
    for _, words in LANGUAGES.values():
        some = words.split()
        page = f"<h1>{some[0]} {some[1]}</h1><p>{some[2]} <b>{some[3]}</b> {{}} {some[4]}"
        masks = learned(page, "1.1", "2.2")

        assert "9.9" not in read(page.replace("{}", "9.9"), masks)[1]


def test_lines_of_a_tree_are_those_of_its_page():
    """So that masks, which know lines, find their places in trees."""
    found = [path.read_bytes().decode(errors="replace") for _, path in list(pages())[::4]]
    made = (
        "<title>T &amp; c</title><p>a<b>b</b><br>c<table><td>d<td>e<input>f</table>g"
        "<script>h</script>i<x>j<img alt=k><a href=/l?utm_source=m>n</a>"
    )

    same = [list(lines(page)) == tree_lines(read_tree(page)) for page in (made, *found)]

    assert same[0]
    assert sum(same) >= 0.99 * len(same)


def test_a_line_of_a_tree_without_masks_is_left_alone():
    tree = etree.HTML("<p>a")

    assert tree_lines(tree) == ["a"]
