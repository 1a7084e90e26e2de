"""Places that are new at each fetch: learned, blanked, and forgotten again."""
# ruff: noqa: E501, RUF001 # a case is a row of a table; signs of other scripts are meant

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.masks.json_text import as_json, read_masks
from recrawl.detect.masks.masks import (
    MOST_MASKS,
    NO_MASKS,
    Masks,
    apply_masks,
    is_mask_displaced,
    learn_masks,
)
from recrawl.detect.text.lines import GAP, LINK

WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta", "12:03:55", "5", f"{LINK}/a", "日本"])
READING = st.lists(st.lists(WORDS, min_size=1, max_size=4).map(" ".join), max_size=12).map(tuple)


def page(*middle, top="Top", end="End"):
    return (top, "Menu", *middle, "Footer", end)


def test_what_did_not_differ_teaches_nothing():
    assert learn_masks(page("x"), page("x")) == NO_MASKS


@pytest.mark.parametrize(
    ("first", "second", "later", "kept"),
    [
        ("Now 12:00:01", "Now 12:00:02", "Now 23:59:59", f"Now {GAP}"),
        ("1,234 views", "1,235 views", "99,999 views", f"{GAP} views"),
        ("Made in 0.1 s by a", "Made in 0.2 s by a", "Made in 9.9 s by a", f"Made in {GAP} s by a"),
        ("On 2026-01-02 10:00:01", "On 2026-01-02 10:00:02", "On 2027-03-04 11:12:13", f"On {GAP}"),
        (
            "Mon, 5 Jan 2026 10:00:01 UTC",
            "Mon, 5 Jan 2026 10:00:03 UTC",
            "Tue, 17 Nov 2026 22:23:24 UTC",
            f"{GAP} UTC",
        ),
        (f"{LINK}/a?t=12ab Cart", f"{LINK}/a?t=34cd Cart", f"{LINK}/a?t=5 Cart", f"{LINK}/a?t={GAP} Cart"),
        ("閲覧数：12回", "閲覧数：13回", "閲覧数：999回", f"閲覧数：{GAP}回"),
        ("7 online, it is 1:02:03", "8 online, it is 1:02:04", "9 online, it is 1:02:05", None),
    ],
)  # fmt: skip
def test_part_of_a_line_is_blanked(first, second, later, kept):
    masks = learn_masks(page(first), page(second))

    assert apply_masks(page(first), masks) == apply_masks(page(later), masks)
    if kept:
        assert apply_masks(page(later), masks) == page(kept)


@pytest.mark.parametrize("other", ["Then 12:00:05", "Now 12:00:05 or so", "Now " + "x" * 50])
def test_a_change_in_the_same_line_is_seen(other):
    masks = learn_masks(page("Now 12:00:01"), page("Now 12:00:02"))

    assert apply_masks(page(other), masks) != apply_masks(page("Now 12:00:01"), masks)


def test_a_gap_does_not_take_a_price_beside_a_clock():
    """Not even after the price was another at the next double fetch."""
    masks = learn_masks(page("Gold 1923.5 at 12:00:01"), page("Gold 1923.5 at 12:00:02"))
    masks = learn_masks(page("Gold 1888.1 at 12:30:01"), page("Gold 1888.1 at 12:30:02"), masks)

    assert apply_masks(page("Gold 1924.5 at 12:00:09"), masks) == page(f"Gold 1924.5 at {GAP}")


def test_lines_that_look_alike_but_stay_are_not_blanked():
    """A price that is new at each fetch hides no other price, not even where it is missing."""
    masks = learn_masks(page("Price 5 €", "x", "Price 7 €"), page("Price 5 €", "x", "Price 9 €"))

    assert apply_masks(page("Price 5 €", "x", "Price 8 €"), masks) == page(
        "Price 5 €", "x", f"Price {GAP} €"
    )
    assert apply_masks(page("Price 6 €", "x", "Price 8 €"), masks)[2] == "Price 6 €"
    assert apply_masks(page("Price 6 €", "x"), masks)[2] == "Price 6 €"


def test_lines_between_others_are_blanked():
    masks = learn_masks(page("Buy soap!"), page("Eat fish."))

    assert apply_masks(page("Go home?"), masks) == page(GAP)


@pytest.mark.parametrize(
    "lines",
    [
        page("Go home?", top="Changed"),
        page("Go home?", end="Changed"),
        page("Go home?", "and more"),
        page("A long text. " * 2),
        page(f"{LINK}/new Soap"),
        ("Top", "Changed", "Go home?", "Footer", "End"),
        ("Top", "Menu", "Go home?", "Changed", "End"),
    ],
)
def test_a_change_beside_blanked_lines_is_seen(lines):
    masks = learn_masks(page("Buy soap!"), page("Eat fish."))

    assert apply_masks(lines, masks) != apply_masks(page("Eat fish."), masks)


def test_where_one_side_changed_only_what_was_there_is_blanked():
    masks = learn_masks(page("Buy soap!"), page("Eat fish."))

    assert apply_masks(("Top", "Menu", "Go home?", "Changed", "End"), masks) == (
        *("Top", "Menu", GAP, "Changed", "End"),
    )
    assert apply_masks(("Top", "Changed", "Go home?", "Footer", "End"), masks) == (
        *("Top", "Changed", GAP, "Footer", "End"),
    )


def test_lines_that_always_were_as_many_hide_no_more_lines():
    masks = learn_masks(page("Buy soap!", "Now"), page("Eat fish.", "Here"))

    assert apply_masks(page("Go home?", "Then"), masks) == page(GAP)
    assert "a real line" in apply_masks(page("Go home?", "Then", "a real line"), masks)


def test_links_of_another_kind_are_no_part_of_a_block_of_links():
    """An item added to a list is told from links to read next right below it."""
    first, second = (
        ("Jobs", f"{LINK}/job/1 Cook", *(f"{LINK}/read/{number} More" for number in some), "End")
        for some in ((3, 4), (5, 6, 7))
    )
    masks = learn_masks(first, second)

    added = (*first[:2], f"{LINK}/job/2 Baker", *first[2:])
    assert apply_masks(first, masks) == apply_masks(second, masks) == (*first[:2], GAP, "End")
    assert f"{LINK}/job/2 Baker" in apply_masks(added, masks)


def test_a_block_of_many_kinds_of_links_hides_any():
    masks = NO_MASKS
    for number in range(3):
        first, second = (page(f"{LINK}/{word}{number}/1 Ad") for word in ("a", "b"))
        masks = learn_masks(first, second, masks)

    assert apply_masks(page(f"{LINK}/other/1 Ad"), masks) == apply_masks(
        page(f"{LINK}/a0/1 Ad"), masks
    )


def test_a_place_is_known_again_after_the_line_beside_it_was_edited():
    """With as many lines as were seen there before: the pair after the edit had but one each."""
    masks = learn_masks(page("Buy", "soap", "now!"), page("Eat fish."))
    edited = learn_masks(("Bar", "Go home?", "Footer"), ("Bar", "Sing songs!", "Footer"), masks)

    assert apply_masks(("Bar", "Buy", "soap", "now!", "Footer"), edited) == ("Bar", GAP, "Footer")


@pytest.mark.parametrize(
    ("new", "moved"),
    [
        (page("Go home?"), False),
        (page("Go home?", top="Edited"), False),
        (("Top", "Edited", "Go home?", "Footer", "End"), True),
        (("Top", "Menu", "Go home?", "Edited", "End"), True),
        (("Top", "End"), True),
    ],
    ids=["same", "far", "before", "after", "both"],
)
def test_a_place_that_is_gone_or_edited_beside_is_displaced(new, moved):
    masks = learn_masks(page("Buy soap!"), page("Eat fish."))

    assert is_mask_displaced(page("Eat fish."), new, masks) == moved
    assert not is_mask_displaced(new, new, masks)


def test_two_advertisements_of_one_pool_hide_nothing_between_them():
    """In the second pair one has moved past the line between; that explains nothing new."""
    masks = learn_masks(page("Soap!", "Read on", "Fish!"), page("Tea!", "Read on", "Salt!"))
    masks = learn_masks(page("Soap!", "Read on", "Fish!"), page("Fish!", "Read on", "Soap!"), masks)

    assert apply_masks(page("Oil!", "Read on", "Ale!"), masks) == page(GAP, "Read on", GAP)


def test_two_lines_that_look_alike_have_a_mask_each():
    first, second = (
        page(f"{LINK}/out?t={token} Cart", "x", f"{LINK}/in/{token}/now Cart")
        for token in ("12ab34", "56cd78")
    )
    masks = learn_masks(first, second)
    masks = learn_masks(second, first, masks)

    assert apply_masks(first, masks) == apply_masks(second, masks)
    assert apply_masks(first, masks)[2:5:2] == (
        f"{LINK}/out?t={GAP} Cart",
        f"{LINK}/in/{GAP}/now Cart",
    )


def test_where_a_mask_goes_places_beside_it_are_learnt_anew():
    """The line after the first place was blanked, and is not any more."""
    masks = learn_masks(page("Soap!", "Shop 5 €"), page("Soap!", "Shop 6 €"))
    masks = learn_masks(page("Tea!", "Shop 5 €"), page("Fish!", "Shop 7 €"), masks)
    assert apply_masks(page("Gin!", "Shop 5 €"), masks) == page(GAP, f"Shop {GAP} €")

    for first, second in (("Tea!", "Oil!"), ("Ale!", "Gin!")) * 12:
        masks = learn_masks(page(first, "Shop 5 €"), page(second, "Shop 5 €"), masks)
        one, two = (apply_masks(page(each, "Shop 5 €"), masks) for each in (first, second))
        assert one == two

    assert apply_masks(page("Gin!", "Shop 5 €"), masks) == page(GAP, "Shop 5 €")


def test_lines_in_another_order_are_sorted_and_others_are_seen():
    masks = learn_masks(page("a", "b", "c"), page("c", "a", "b"))

    assert apply_masks(page("b", "c", "a"), masks) == page("a", "b", "c")
    assert apply_masks(page("b", "c", "d"), masks) == page("b", "c", "d")


def test_what_comes_and_goes_hides_only_itself():
    masks = learn_masks(page("Accept cookies?"), page())

    assert apply_masks(page("Accept cookies?"), masks) == apply_masks(page(), masks)
    assert "Closed today!" in apply_masks(page("Closed today!"), masks)


def test_what_comes_and_goes_is_known_by_one_line_beside_it():
    masks = learn_masks(page("Accept cookies?"), page())
    without, there = ("Top", "Edited", "Footer", "End"), ("Top", "Edited", "Accept cookies?")

    assert apply_masks(without, masks) == apply_masks((*there, "Footer", "End"), masks)
    assert "Closed!" in apply_masks(("Top", "Edited", "Closed!", "Footer", "End"), masks)


def test_other_line_breaks_of_the_same_words_are_no_place():
    assert learn_masks(page("one two"), page("one", "two")) == NO_MASKS


def test_a_change_that_fell_between_two_fetches_is_forgotten():
    masks = learn_masks(page("It rains today"), page("It shines today"))

    for _ in range(5):
        assert masks
        masks = learn_masks(page("It shines today"), page("It shines today"), masks)

    assert not masks


def test_what_differs_now_and_then_is_kept():
    masks = NO_MASKS
    for number in range(20):
        masks = learn_masks(page("Now 1:00:00"), page(f"Now 1:00:{number // 2 % 2}0"), masks)

    assert apply_masks(page("Now 1:00:07"), masks) == page(f"Now {GAP}")
    assert masks.masks[0].seen <= 16


def test_two_templates_of_one_line_become_one():
    """The days stand still in a double fetch, but not from one to the next."""
    masks = learn_masks(page("Ends in 5d 1:00:01 h"), page("Ends in 5d 1:00:02 h"))
    masks = learn_masks(page("Ends in 4d 2:00:01 h"), page("Ends in 4d 2:00:02 h"), masks)

    assert apply_masks(page("Ends in 3d 9:08:07 h"), masks) == page(f"Ends in {GAP} h")
    assert len(masks.masks) == 1


def test_a_wall_in_one_of_two_fetches_teaches_nothing():
    first = tuple(f"line {number}" for number in range(50))

    assert learn_masks(first, ("Are you a robot?",) * 3) == NO_MASKS


def test_masks_of_two_sources_are_joined_once_each():
    masks = learn_masks(page("Now 12:00:01"), page("Now 12:00:02"))

    assert masks.joined(masks) == masks == NO_MASKS.joined(masks)


@given(READING, READING)
def test_readings_at_random_are_learnt_from_and_masked(first, second):
    masks = learn_masks(first, second)

    assert len(masks.masks) <= MOST_MASKS
    assert apply_masks(first, masks) == apply_masks(first, masks)
    assert learn_masks(first, first, NO_MASKS) == NO_MASKS
    assert len(learn_masks(second, first, masks).masks) <= MOST_MASKS


@given(READING, READING, READING)
def test_masks_leave_readings_alone_that_have_none_of_their_places(first, second, other):
    shifted = tuple(f"{line} elsewhere {index}" for index, line in enumerate(other))

    masks = learn_masks(first, second)
    runs = Masks(tuple(mask for mask in masks.masks if mask.place.kind == "part"))

    assert len(apply_masks(shifted, runs)) == len(shifted)


def test_a_page_made_to_fit_all_masks_takes_little_time():
    words = [f"aaa{chr(97 + number % 26)}{number} " for number in range(120)]
    first, second = (
        [line for word in words for line in (f"{word}{version} bbb", f"same {word}")]
        for version in ("one", "two")
    )
    masks = learn_masks(first, second)
    hostile = [f"{word}three bbb" for word in words] * 1000

    began = time.process_time()
    apply_masks(hostile, masks)
    apply_masks(["same aaaa0"] * 100_000, masks)

    assert len(masks.masks) == MOST_MASKS
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "lines",
    [
        ("same",) * 19_999,
        tuple(f"line {number}" for number in range(19_999)),
        tuple(f"line {number % 7}" for number in range(19_999)),
        ("word " * 200_000,),
        tuple("ab"[number % 2] for number in range(19_999)),
        tuple("word " * 35 + str(number) for number in range(600)),
        tuple(f"x{number}" for number in range(2900)),
    ],
    ids=["equal", "different", "in turn", "one line", "two in turn", "same words", "short"],
)
def test_learning_from_anything_takes_little_time(lines):
    other = tuple(reversed(lines))
    edited = tuple(line + " x" if index % 3 else line for index, line in enumerate(lines))

    began = time.process_time()
    for second in (other, edited, lines[1:]):
        masks = learn_masks(lines, second)
        apply_masks(lines, masks)
        learn_masks(lines, second, masks)

    assert time.process_time() - began < 10


def test_a_page_of_too_many_lines_teaches_nothing():
    many = tuple(map(str, range(30_000)))

    assert learn_masks(many, (*many[:-1], "x")) == NO_MASKS


def _learned(*pairs):
    masks = NO_MASKS
    for first, second in pairs:
        masks = learn_masks(first, second, masks)
    return masks


def test_a_block_that_had_two_texts_again_and_again_hides_no_third():
    old = ("Top", "A", "(c) 2025", "Imprint"), ("Top", "A", "(c) 2026")
    masks = _learned(old, old[::-1])

    for version in old:
        assert apply_masks(version, masks) == ("Top", "A", GAP)
    for added in (("Top", "A", "New", "(c) 2026"), ("Top", "A", "(c) 2027")):
        assert apply_masks(added, masks) == added


def test_a_block_that_had_a_third_text_hides_it_once_that_was_seen():
    one, two, other = (("Top", *lines, "End") for lines in (("a b",), ("c", "d"), ("e",)))
    masks = _learned((one, two), (two, one))
    assert apply_masks(other, masks) == other

    masks = learn_masks(other, one, masks)

    for version in (one, two, other):
        assert apply_masks(version, masks) == ("Top", GAP, "End")


def test_a_block_of_sentences_hides_no_line_that_is_none():
    ads = [("Top", *(f"Buy {n} and {k}!" for k in range(n % 3 + 1)), "End") for n in range(12)]
    masks = _learned(*zip(ads[::2], ads[1::2], strict=True))
    with_line = ("Top", "Buy now!", "Contact", "End")

    assert apply_masks(("Top", "Sell 5 now?", "End"), masks) == ("Top", GAP, "End")
    assert apply_masks(with_line, masks) == with_line


def test_a_block_hides_no_much_longer_line_once_it_was_seen_often():
    ads = [("Top", *(f"{n} {k} {'x' * 40}" for k in range(n % 3 + 1)), "End") for n in range(12)]
    few, many = _learned(ads[:2]), _learned(*zip(ads[::2], ads[1::2], strict=True))
    longer = ("Top", "y" * 65, "End")

    assert apply_masks(longer, few) == ("Top", GAP, "End")
    assert apply_masks(longer, many) == longer
    assert apply_masks(("Top", "y" * 50, "End"), many) == ("Top", GAP, "End")


def test_what_a_block_was_seen_to_hold_survives_a_store():
    masks = _learned((("Top", "A", "End"), ("Top", "B", "C", "End")))

    assert read_masks(as_json(masks)) == masks
    assert masks.masks[0].place.texts


@pytest.mark.parametrize("held", ['["",4,"x"]', '[1,4,"o"]', '["",-1,"o"]', '["",4,"o",1]', "[]"])
def test_what_no_block_can_hold_is_refused(held):
    assert read_masks(f'[1,["r",1,1,["Top"],["End"],1,1,9,{held}]]') == NO_MASKS
