"""Weights of pages by a hash of their addresses."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recrawl.arrays.texts import Texts
from recrawl.settings.page_weights import PageWeights

NAMES = ["https://a.org/", "https://a.org/b?c=d", "/only/a/path", "ä", "https://b.org/x"]
rows = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(1, 10**6)), min_size=1)


def weights(pairs, seed=3):
    names, figures = zip(*pairs, strict=True)
    return PageWeights.of(Texts.of(list(names)), np.array(figures, float), seed=seed)


@given(rows, st.integers(0, 30), st.integers(0, 2**64 - 1))
def test_rows_of_a_page_add_up_however_they_are_divided(pairs, cut, seed):
    """As a dictionary adds them, whatever the seed of the hashes."""
    sums: dict[str, float] = {}
    for name, weight in pairs:
        sums[name] = sums.get(name, 0) + weight
    parts = [weights(some, seed) for some in (pairs[:cut], pairs[cut:]) if some]
    joined = PageWeights.joined(parts)
    found = joined.find(Texts.of(NAMES))

    np.testing.assert_array_equal(found, [sums.get(name, np.nan) for name in NAMES])
    assert len(joined) == joined.count_named(Texts.of(NAMES)) == len(sums)
    assert (joined.least, joined.most) == (min(sums.values()), max(sums.values()))
    np.testing.assert_array_equal(
        joined.or_least(found), [sums.get(name, joined.least) for name in NAMES]
    )


def test_spellings_of_one_address_are_one_page():
    some = weights([("HTTPS://A.org:443/x/../b#top", 2), ("https://a.org/b", 3), ("b", 1)])

    assert some.find(Texts.of(["https://a.org/b", "https://a.org/b/"])).tolist()[0] == 5
    assert np.isnan(some.find(Texts.of(["https://a.org/b/"]))).all()
    assert some.addresses == 2


def test_a_million_pages_take_sixteen_bytes_each():
    some = weights([(f"https://a.org/{'long/' * 40}{number}", 1) for number in range(1000)])

    assert some.keys.nbytes + some.weight.nbytes == 16_000
