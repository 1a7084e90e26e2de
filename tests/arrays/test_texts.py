"""Texts keep what they are given, and their hashes tell the same from the different."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts

# Empty, NUL, other alphabets, and lengths around the 64 bytes that are read at a time.
_texts = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.text(alphabet="ab\0", max_size=4),
        st.builds(lambda length, end: "x" * length + end, st.integers(55, 70), st.text(max_size=2)),
        st.integers(120, 300).map(lambda length: "y" * length),
    ),
    max_size=12,
)


def identities(texts, seed=7):
    """Both hashes of each text, as pairs."""
    key, check = texts.hashes(seed)
    return list(zip(key.tolist(), check.tolist(), strict=True))


def identity(text, seed=7):
    return identities(Texts.of([text]), seed)[0]


@given(_texts)
def test_texts_come_back_as_they_were(texts):
    assert Texts.of(texts).tolist() == texts
    assert len(Texts.of(texts)) == len(texts)


@given(st.lists(_texts, max_size=4))
def test_joined_texts_follow_each_other(parts):
    joined = Texts.joined([Texts.of(part) for part in parts])

    assert joined.tolist() == [text for part in parts for text in part]


@given(_texts.filter(len), st.data())
def test_texts_are_taken_in_any_order(texts, data):
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20))

    taken = Texts.of(texts).take(np.array(rows, np.int64))

    assert taken.tolist() == [texts[row] for row in rows]


def test_many_texts_are_taken_block_by_block():
    """A block is 8192 texts."""
    texts = Texts.of([str(number) for number in range(20_000)])
    rows = np.arange(20_000)[::-1]

    assert texts.take(rows).tolist() == [str(number) for number in rows]


def test_long_runs_of_texts_are_taken_as_ranges():
    """Neighbours stay neighbours, and each text its own, wherever the runs lie."""
    texts = [str(number) * (number % 3) for number in range(1000)]
    rows = np.concatenate([np.arange(500, 900), np.arange(1, 300), np.arange(990, 1000)])

    assert Texts.of(texts).take(rows).tolist() == [texts[row] for row in rows]


def test_parts_of_texts_are_texts():
    texts = Texts.of(["https://a.org/1", "b"])

    assert texts.parts(np.array([8, 0]), np.array([5, 5])).tolist() == ["a.org", "https"]


def test_a_column_may_begin_inside_its_bytes():
    """As a slice of an Arrow array does."""
    slice_of = Texts(np.frombuffer(b"leftaabbbright", np.uint8), np.array([4, 6, 9]))

    assert slice_of.tolist() == ["aa", "bbb"]
    assert Texts.joined([slice_of, slice_of]).tolist() == ["aa", "bbb"] * 2
    assert identities(slice_of) == [identity("aa"), identity("bbb")]


@given(_texts)
def test_equal_texts_have_equal_hashes_and_others_do_not(texts):
    """Wherever they lie; 96 bits do not meet by chance."""
    found = dict(zip(texts, identities(Texts.of(texts)), strict=True))

    assert identities(Texts.of(texts)) == [found[text] for text in texts]
    assert [found[text] for text in found] == [identity(text) for text in found]
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("text", ["", "a", "x" * 63, "x" * 64, "x" * 65, "é" * 100])
def test_a_hash_does_not_depend_on_the_place(text):
    """At the edges of blocks of 8192 texts, and at the end of the bytes."""
    texts = ["filler"] * 20_000
    places = [0, 1, 8190, 8191, 8192, 8193, 16_383, 16_384, 19_998, 19_999]
    for place in places:
        texts[place] = text

    found = identities(Texts.of(texts))

    assert {found[place] for place in places} == {identity(text)}


@pytest.mark.parametrize("behind", range(70))
def test_what_lies_behind_a_text_is_not_read_into_it(behind):
    """Words are read past a text's end, up to and beyond the last byte."""
    assert identities(Texts.of(["page", "z" * behind]))[0] == identity("page")


@pytest.mark.parametrize("length", [1, 7, 8, 9, 63, 64, 65, 128, 200, 300])
def test_one_byte_makes_a_difference_at_any_place(length):
    """Two hundred and more texts of one length, each different from the first in one place."""
    plain = "a" * length
    others = [plain[:place] + "b" + plain[place + 1 :] for place in range(length)]

    found = identities(Texts.of([plain, *others]))

    assert len({key for key, _ in found}) == length + 1
    assert len({check for _, check in found}) == length + 1


def test_prefixes_of_each_other_differ():
    """Zero bytes, too, which look like nothing at all."""
    texts = ["a" * length for length in range(300)] + ["\0" * length for length in range(1, 300)]

    found = identities(Texts.of(texts))

    assert len({key for key, _ in found}) == len(texts)


def test_addresses_of_a_real_size_do_not_collide():
    """Two hundred thousand: the first hash alone meets itself with a chance of one in 10^9."""
    texts = Texts.of([f"https://example.org/section/{number}" for number in range(200_000)])
    key, check = texts.hashes(seed=1)

    assert len(np.unique(key)) == 200_000
    # 31 bits: by chance 200,000^2 / 2^32, about 9 pairs.
    assert len(np.unique(check)) > 200_000 - 40


def test_every_bit_of_a_hash_is_used():
    """Half of 200,000 bits set, within six standard deviations; the lowest of the check is 1."""
    key, check = Texts.of([str(number) for number in range(200_000)]).hashes(seed=1)
    odds = 6 * np.sqrt(200_000) / 2

    for bit in range(64):
        assert abs(int((key >> np.uint64(bit) & np.uint64(1)).sum()) - 100_000) < odds
    for bit in range(1, 32):
        assert abs(int((check >> np.uint32(bit) & np.uint32(1)).sum()) - 100_000) < odds


@given(_texts.filter(len), st.integers(0, 2**56 - 1), st.integers(0, 2**56 - 1))
def test_another_seed_makes_other_hashes(texts, one, other):
    """Both of them: nobody can prepare names that collide."""
    if one == other:
        return
    key, check = Texts.of(texts).hashes(one)
    other_key, other_check = Texts.of(texts).hashes(other)

    assert (key != other_key).all()
    assert (check != other_check).mean() > 0.5 or len(texts) < 4


def test_a_check_is_never_zero():
    """Zero stands for a name not seen yet."""
    _, check = Texts.of([str(number) for number in range(50_000)]).hashes(seed=3)

    assert check.min() > 0


def test_no_texts_have_no_hashes():
    key, check = Texts.of([]).hashes(seed=1)

    assert (len(key), len(check)) == (0, 0)


def test_a_text_that_ends_in_zeros_is_not_a_shorter_one_with_another_letter():
    """A length of 2 and an a, a length of 1 and a b: with both added up the sums were equal."""
    for seed in (0, 1, 7, 2**40):
        key, check = Texts.of(["a\0", "b", "a", "b\0\0\0"]).hashes(seed)

        assert len(set(key.tolist())) == 4
        assert len(set(check.tolist())) == 4
