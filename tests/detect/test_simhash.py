"""Likenesses in 64 bits, and what they tell of a change."""

import random
import time
from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.detect.diff.share import share_changed
from recrawl.detect.simhash import estimated_share, simhash

VOCABULARY = [f"w{number}" for number in range(5000)]
# Some words are far more frequent than others, as in all languages.
FREQUENCIES = list(accumulate(1 / (number + 3) for number in range(5000)))


def text(chance, count):
    return [
        " ".join(chance.choices(VOCABULARY, cum_weights=FREQUENCIES, k=chance.randint(5, 30)))
        for _ in range(count)
    ]


def edited(chance, lines, share):
    """Lines with a share of the words replaced, alone or by lines, or cut off."""
    kind = chance.choice(["words", "lines", "cut"])
    lines = [line.split() for line in lines]
    left = max(1, int(share * sum(map(len, lines))))
    while left > 0:
        line = chance.choice([line for line in lines if line])
        count = 1 if kind == "words" else min(len(line), left)
        if kind == "cut":
            del line[:count]
        else:
            start = chance.randrange(len(line) - count + 1)
            line[start : start + count] = chance.choices(VOCABULARY, k=count)
        left -= count
    return [" ".join(line) for line in lines if line]


def test_estimates_are_as_good_as_said():
    """Two of three within a factor of two; of those of a twentieth and more, three of four."""
    chance = random.Random(3)  # noqa: S311 # chance need not be secret
    ratios, shares = [], []
    for _ in range(300):
        old = text(chance, chance.choice([10, 30, 100]))
        new = edited(chance, old, 10 ** chance.uniform(-3, -0.1))
        share = share_changed(old, new)
        if share:
            shares.append(share)
            ratios.append(estimated_share(simhash(old), simhash(new)) / share)

    near = np.abs(np.log2(ratios)) <= 1

    assert near.mean() > 0.6
    assert near[np.array(shares) > 0.05].mean() > 0.7
    assert 0.8 < np.median(ratios) < 1.3


@given(st.lists(st.text(max_size=20), max_size=10))
def test_a_simhash_is_64_bits_and_the_same_each_time(lines):
    found = simhash(lines)

    assert 0 <= found < 1 << 64
    assert simhash(list(lines)) == found


def test_words_and_their_order_count_and_lines_do_not():
    page = simhash(("one two three", "four five"))

    assert simhash(("one", "two three four", "five")) == page
    assert simhash(("one two three", "five four")) != page
    assert simhash(("one two three", "four fives")) != page


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_estimates_are_shares_and_symmetric(one, other):
    assert 0 < estimated_share(one, other) <= 1
    assert estimated_share(one, other) == estimated_share(other, one)


def test_a_large_page_takes_little_time():
    page = [" ".join(VOCABULARY)] * 100

    began = time.process_time()
    simhash(page)

    assert time.process_time() - began < 5
