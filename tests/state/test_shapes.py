"""Which shapes of addresses lead nowhere."""

from recrawl.entries.filtering import ShapeJudged
from recrawl.state.shapes import ShapeBook, is_trap

HOST, SHAPE = "a.org", "/calendar/#-#"
ALIKE = [1 << number for number in range(20)]  # each two bits from the others: 1 % of the words
UNLIKE = [(1 << 64) - 1, 0, 0xFFFFFFFF, 0xFFFF0000FFFF0000, 0xF0F0F0F0F0F0F0F0, 0xAAAAAAAAAAAAAAAA]


def judged(pages, book=None, **more):
    """A book that has judged pages with these simhashes."""
    book = book or ShapeBook()
    for simhash in pages:
        book.judge(HOST, SHAPE, simhash, **({"fruitful": False} | more))
    return book


def test_pages_that_are_alike_and_lead_nowhere_are_a_trap_after_nine():
    """The first has nothing to be compared with; eight that are judged are enough."""
    assert not judged(ALIKE[:8]).is_trap(HOST, SHAPE)
    assert judged(ALIKE[:9]).is_trap(HOST, SHAPE)


def test_pages_that_lead_somewhere_are_none_however_alike():
    assert not judged(ALIKE, fruitful=True).is_trap(HOST, SHAPE)


def test_pages_with_texts_of_their_own_are_none_though_they_lead_nowhere():
    assert not judged(UNLIKE * 1).is_trap(HOST, SHAPE)


def test_copies_of_other_pages_are_barren_though_there_is_nothing_to_compare_them_with():
    assert judged([None] * 8, duplicate=True).is_trap(HOST, SHAPE)


def test_what_has_no_text_says_nothing():
    book = ShapeBook()

    assert book.judge(HOST, SHAPE, None, fruitful=False) is None
    assert not judged([None] * 20).is_trap(HOST, SHAPE)


def test_other_hosts_and_shapes_are_judged_on_their_own():
    book = judged(ALIKE)

    assert not book.is_trap("b.org", SHAPE)
    assert not book.is_trap(HOST, "/calendar/#")


def test_what_was_written_down_is_known_again():
    known = judged(ALIKE[:5]).judge(HOST, SHAPE, ALIKE[5], fruitful=False)
    assert known == ShapeJudged(HOST, SHAPE, judged=5, barren=5)

    book = judged(ALIKE[6:9], ShapeBook([known]))

    assert not book.is_trap(HOST, SHAPE)
    assert judged(ALIKE[9:10], book).is_trap(HOST, SHAPE)


def test_a_trap_that_turns_out_to_be_none_is_none():
    """A site under maintenance shows one page everywhere. Afterwards its pages show themselves."""
    book = judged([None] * 10, duplicate=True)
    assert book.is_trap(HOST, SHAPE)

    judged(UNLIKE[:4], book, fruitful=True)

    assert not book.is_trap(HOST, SHAPE)


def test_few_that_are_not_barren_free_a_shape():
    assert is_trap(20, 17)
    assert not is_trap(20, 16)
