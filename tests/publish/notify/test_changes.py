"""Which changes people asked for, and what they are shown of them."""

import pytest

from recrawl.publish.notify.changes import ChangeReader, words_pattern
from recrawl.settings.notify_keys import Recipient
from recrawl.settings.settings import read_settings
from recrawl.store import open_store
from recrawl.visits.status import FeedKind
from tests.publish import fed


def shop(price, stock, note="old news"):
    return (
        f"<title>Shop</title><main><p>Welcome to our shop of many fine teas</p>"
        f'<p class="price">Price: {price} euros</p><p class="stock">{stock} bags left</p>'
        f"<p>{note}</p></main>"
    ).encode()


@pytest.fixture
def path(tmp_path):
    path = fed.make(tmp_path)
    fed.tell(
        path,
        (FeedKind.NEW, 1, shop(5, 7)),
        (FeedKind.CHANGED, 1, shop(5, 6)),
        (FeedKind.CHANGED, 1, shop(6, 6)),
        (FeedKind.CHANGED, 1, shop(6, 6, "the closing date is near")),
        (FeedKind.NEW, 0, fed.page("Home")),
        (FeedKind.CHANGED, 1, shop(5, 7)),
        (FeedKind.REMOVED, 1, None),
    )
    return path


@pytest.fixture
def reader(path):
    with open_store(path) as reader:
        yield reader


def changes(**asked):
    return ChangeReader(Recipient("env:X", **asked), read_settings(fed.SETTINGS))


def events(reader):
    return [event for batch in reader.events() for event in batch]


def wanted(reader, **asked):
    found = changes(**asked)
    return [event.number for event in events(reader) if found.wants(reader, event)]


@pytest.mark.parametrize(
    ("asked", "numbers"),
    [
        ({}, [1, 2, 3, 4, 5, 6, 7]),
        ({"kinds": ("changed",)}, [2, 3, 4, 6]),
        ({"hosts": ("b.org",)}, []),
        ({"hosts": ("a.org",), "kinds": ("removed",)}, [7]),
        ({"sections": ("https://a.org/tea",)}, [1, 2, 3, 4, 6, 7]),
        ({"sections": ("https://a.org/te",)}, []),
        ({"sections": ("https://a.org/", "https://b.org/")}, [1, 2, 3, 4, 5, 6, 7]),
        ({"least_change": 0.25, "kinds": ("changed",)}, [2, 3, 4, 6]),  # the feed says 0.25 of all
        ({"least_change": 0.26}, [1, 5, 7]),
        ({"watch": (".price",)}, [1, 3, 6, 7]),
        ({"watch": (".price", ".stock")}, [1, 2, 3, 6, 7]),
        ({"watch": (".none",)}, []),
        ({"watch": (".price",), "least_change": 0.9}, [1, 7]),
        ({"words": ("price",), "kinds": ("changed",)}, [3, 6]),
        ({"words": ("PRICE", "Closing  Date"), "kinds": ("changed",)}, [3, 4, 6]),
        ({"words": ("sho",)}, []),
        ({"words": ("bags",)}, [1, 2, 6, 7]),
        ({"words": ("price",), "watch": (".stock",)}, []),
    ],
)
def test_changes_are_told_by_what_was_asked_for(reader, asked, numbers):
    assert wanted(reader, **asked) == numbers


def test_words_of_scripts_without_spaces_are_found():
    """Each of their characters is a word; a phrase is several in a row."""
    found = words_pattern(["価格"])

    assert found is not None
    assert found.search("新 価 格 表")
    assert not found.search("価 高 格")


def test_what_is_not_kept_any_more_is_told_and_said(path):
    """Nobody can say whether it has the words: too much is told rather than too little."""
    with open_store(path) as reader:
        gone = events(reader)[2]._replace(before=b"\x01" * 16)

        assert changes(words=("nowhere",)).wants(reader, gone)
        assert changes().notice(reader, gone, gone, 1).remark == "what changed is not kept"


def test_a_change_is_shown_line_by_line(reader):
    third = events(reader)[2]

    notice = changes().notice(reader, third, third, 1)

    assert notice.title == "Shop"
    assert list(notice.lines) == ["- Price: 5 euros", "+ Price: 6 euros"]


def test_several_changes_are_shown_as_one_from_first_to_last(reader):
    found = events(reader)

    both = changes().notice(reader, found[1], found[2], 2)
    back = changes().notice(reader, found[1], found[5], 4)

    assert list(both.lines) == [
        *("- Price: 5 euros", "+ Price: 6 euros"),
        *("- 7 bags left", "+ 6 bags left"),
    ]
    assert (list(back.lines), back.remark) == ([], "it is as it was before")


def test_only_what_is_watched_is_shown(reader):
    found = events(reader)

    notice = changes(watch=(".stock",)).notice(reader, found[1], found[2], 2)

    assert list(notice.lines) == ["- 7 bags left", "+ 6 bags left"]


def test_of_a_new_page_a_few_lines_are_shown_and_of_one_that_is_gone_none(reader):
    found = events(reader)

    new, gone = (changes().notice(reader, each, each, 1) for each in (found[0], found[6]))

    assert (len(new.lines), new.left) == (3, 2)
    assert (gone.title, gone.lines, gone.remark) == ("Shop", (), "")


def test_long_lines_are_cut_to_what_is_near_the_change(tmp_path):
    words = " ".join(f"word{number}" for number in range(100))
    path = fed.make(tmp_path)
    fed.tell(
        path,
        (FeedKind.NEW, 1, f"<p>{words} old {words}".encode()),
        (FeedKind.CHANGED, 1, f"<p>{words} new {words}".encode()),
    )

    with open_store(path) as reader:
        last = events(reader)[-1]
        lines = changes().notice(reader, last, last, 1).lines

    assert [len(line) < 200 for line in lines] == [True, True]
    assert " word99 old word0 " in lines[0]
    assert " word99 new word0 " in lines[1]
