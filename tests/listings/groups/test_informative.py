"""Groups that tell how long objects live."""

import numpy as np

from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.groups.informative import informative_groups
from tests.listings.worlds import daily


def made(*, seed=1, days=60, count=3000):
    """Objects whose rate of removal depends on colour and, less so, size; not on the number."""
    random = np.random.default_rng(seed)
    colour, size = random.integers(0, 3, count), random.integers(0, 2, count)
    rate = np.array([0.05, 0.1, 0.4])[colour] * np.array([1.0, 1.6])[size]
    first = random.integers(0, days, count)
    gone = np.minimum(first + random.geometric(np.minimum(rate, 1.0)), days)
    columns = {
        "number": Numbers(random.integers(0, 4, count).astype(np.float64)),
        "size": Labels.of([("small", "large")[code] for code in size]),
        "colour": Labels.of([("red", "green", "blue")[code] for code in colour]),
    }
    spells = list(zip(range(count), first.tolist(), gone.tolist(), strict=True))
    return daily(days, spells, attributes=columns)


def test_attributes_that_tell_are_chosen_and_the_best_comes_first():
    assert informative_groups(made()).attributes == ("colour", "size")


def test_at_most_three_are_chosen():
    """Each of four attributes doubles the rate."""
    random = np.random.default_rng(3)
    flags = random.integers(0, 2, (4, 6000))
    gone = np.minimum(random.geometric(0.02 * 2.0 ** flags.sum(axis=0)), 60)
    columns = {f"flag {n}": Labels.of([str(flag) for flag in flags[n]]) for n in range(4)}
    listing = daily(
        60, [(row, 0, end) for row, end in enumerate(gone.tolist())], attributes=columns
    )

    assert len(informative_groups(listing).attributes) == 3


def test_what_is_seen_later_does_not_matter():
    """All lifetimes that begin after day 30 become as short as can be, but for one colour."""
    listing = made()
    until = listing.crawls[30]
    late = listing.first > 30
    end = np.where(late & (listing.attributes["size"].values()[0] == 0), listing.first + 1, 60)
    spells = list(
        zip(
            listing.object.tolist(),
            listing.first.tolist(),
            np.where(listing.gone <= 30, listing.gone, np.maximum(end, 31)).tolist(),
            strict=True,
        )
    )
    other = daily(60, spells, attributes=listing.attributes)

    one, two = informative_groups(listing, until=until), informative_groups(other, until=until)

    assert one.names == two.names
    assert one.codes.tolist() == two.codes.tolist()


def test_nothing_known_makes_one_group():
    assert informative_groups(daily(5, [])).names == ("(all)",)
    assert (
        informative_groups(daily(1, [(0, 0, 1)], attributes={"a": Labels.of(["x"])})).attributes
        == ()
    )
    assert informative_groups(made(), until=np.datetime64("2020-01-01")).attributes == ()
