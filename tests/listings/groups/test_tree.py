"""The survival tree: finds what matters, leaves out what does not."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.listings.data.attributes import Labels, Numbers
from recrawl.listings.data.lifetimes import Lifetimes
from recrawl.listings.groups.goodness import likelihood_ratio
from recrawl.listings.groups.tree import AtMost, Node, OneOf
from recrawl.listings.groups.tree_growing import TreeGrower


def world(rng, objects, rate_of):
    """Objects with a make, a year, a flag and a colour; `rate_of` makes their rates."""
    make = rng.choice(["BMW", "Ford", "Honda", ""], objects)
    year = rng.integers(2000, 2010, objects).astype(float)
    year[rng.uniform(size=objects) < 0.1] = np.nan
    sold = rng.choice(["true", "false"], objects)
    colour = rng.choice(list("abcdefgh"), objects)
    lifetime = rng.exponential(1 / rate_of(make, year, sold))
    lifetimes = Lifetimes.of(np.minimum(lifetime, 60), np.where(lifetime < 60, lifetime, np.inf))
    columns = {
        "make": Labels.of(make.tolist()),
        "year": Numbers(year),
        "sold": Labels.of(sold.tolist()),
        "colour": Labels.of(colour.tolist()),
    }
    return lifetimes, columns


def test_what_matters_is_found_and_what_does_not_is_left_out():
    """Hondas vanish thrice as fast; of the others those after 2004."""
    rng = np.random.default_rng(1)

    def rate_of(make, year, sold):
        return np.where(make == "Honda", 0.15, np.where(year > 2004, 0.05, 0.02))

    lifetimes, columns = world(rng, 4000, rate_of)
    tree = TreeGrower().grow(lifetimes, columns)
    rules = {" and ".join(rule): node.rate for rule, node in tree.rules()}

    assert tree.leaves == 3
    assert any(
        "year > 2004" in rule and rate == pytest.approx(0.05, rel=0.15)
        for rule, rate in rules.items()
    )
    assert not any("colour" in rule or "sold" in rule for rule in rules)
    assert max(rules.values()) == pytest.approx(0.15, rel=0.1)
    missing = next(rule for rule in rules if "year <= 2004" in rule)
    assert missing.endswith("or ?"), "without a year they vanish as slowly as the old"


def test_a_flag_and_the_missing_word_can_part():
    rng = np.random.default_rng(2)
    lifetimes, columns = world(
        rng, 3000, lambda make, year, sold: np.where((sold == "true") | (make == ""), 0.2, 0.04)
    )
    tree = TreeGrower().grow(lifetimes, columns)
    rate = np.array([node.rate for _, node in tree.rules()])[tree.leaf_of(columns, len(lifetimes))]
    fast = (columns["sold"].values()[0] == columns["sold"].words.tolist().index("true")) | (
        columns["make"].missing
    )

    assert tree.leaves == 3
    assert np.mean((rate > 0.1) == fast) == 1


def test_noise_is_pruned_away():
    """Nothing matters: most trees are a single leaf, though they grew many."""
    rng = np.random.default_rng(3)
    leaves, grown = [], []
    for _ in range(12):
        lifetimes, columns = world(rng, 1500, lambda make, year, sold: np.full(len(make), 0.05))
        found = TreeGrower().grow(lifetimes, columns)
        leaves.append(found.leaves)
        part = TreeGrower(folds=2)
        grown.append(part.grow(lifetimes, {"colour": columns["colour"]}).leaves)

    assert np.median(leaves) == 1
    assert np.median(grown) == 1


def test_the_first_split_is_the_best_of_all():
    """Words cut in the order of their rates: every other way to part them, tried."""
    rng = np.random.default_rng(4)
    word = rng.integers(0, 5, 1000)
    lifetime = rng.exponential(1 / np.array([0.05, 0.2, 0.07, 0.3, 0.1])[word])
    lifetimes = Lifetimes.of(lifetime, lifetime)
    tree = TreeGrower(deepest=1).grow(lifetimes, {"word": Labels.of([f"w{code}" for code in word])})

    best = 0.0
    for mask in range(1, 16):
        side = np.isin(word, [code for code in range(5) if mask >> code & 1])
        days = np.array([lifetime[side].sum(), lifetime[~side].sum()])
        best = max(best, likelihood_ratio(np.array([side.sum(), (~side).sum()], float), days))
    assert tree.gain == pytest.approx(best)


def test_a_number_of_many_values_is_cut_at_its_quantiles():
    """Dear objects vanish slowly, and those without a price as the cheap ones do."""
    rng = np.random.default_rng(5)
    price = rng.lognormal(9, 1, 3000)
    price[::10] = np.nan
    rate = np.where(price > 10_000, 0.03, 0.1)
    lifetime = rng.exponential(1 / rate)
    columns = {"price": Numbers(price)}
    tree = TreeGrower().grow(Lifetimes.of(lifetime, lifetime), columns)
    leaf = tree.leaf_of(columns, 3000)

    assert tree.leaves == 2
    assert isinstance(tree.question, AtMost)
    assert tree.question.number == pytest.approx(10_000, rel=0.1)
    assert tree.question.missing
    assert np.mean((leaf == 1) == (price > 10_000)) > 0.97
    assert [node.objects for _, node in tree.rules()] == np.bincount(leaf).tolist()


def test_both_sides_keep_ten_removals():
    age = np.concatenate([np.full(9, 1.0), np.full(200, 30.0)])
    year = np.concatenate([np.full(9, 1990.0), np.tile([2000.0, 2001.0], 100)])
    tree = TreeGrower().grow(Lifetimes.of(age, age), {"year": Numbers(year)})

    assert tree.leaves == 1
    assert (
        TreeGrower(least_removals=5).grow(Lifetimes.of(age, age), {"year": Numbers(year)}).leaves
        == 2
    )


def test_without_attributes_or_removals_there_is_one_leaf():
    lifetimes = Lifetimes.of(np.full(50, 5.0), np.full(50, np.inf))

    assert TreeGrower().grow(lifetimes, {}).leaves == 1
    assert TreeGrower().grow(Lifetimes.of(np.ones(50), np.ones(50)), {}).rate == 1
    nothing = TreeGrower().grow(lifetimes, {"year": Numbers(np.arange(50.0))})
    assert (nothing.leaves, nothing.rate) == (1, 0)


def test_pruning_takes_the_weakest_branch_first():
    leaf = Node(20.0, 100.0, 30.0)
    weak = Node(40.0, 200.0, 60.0, AtMost("year", 2004.0), 5.0, leaf, leaf)
    tree = Node(60.0, 300.0, 90.0, OneOf("make", ("BMW",)), 50.0, weak, leaf)

    assert tree.prices() == [5.0, 50.0]
    assert [tree.pruned(price).leaves for price in (1, 6, 60)] == [3, 2, 1]


def test_a_strong_split_below_a_weak_one_is_kept():
    """Two attributes that only matter together."""
    leaf = Node(20.0, 100.0, 30.0)
    strong = Node(40.0, 200.0, 60.0, AtMost("year", 2004.0), 40.0, leaf, leaf)
    tree = Node(60.0, 300.0, 90.0, OneOf("make", ("BMW",)), 4.0, strong, leaf)

    assert tree.pruned(10).leaves == 3
    assert tree.pruned(23).leaves == 1


def test_rules_read_like_questions():
    assert str(OneOf("make", ("BMW", "?"))) == "make in (BMW, ?)"
    assert OneOf("make", ("BMW",)).opposite() == "make not in (BMW)"
    assert str(AtMost("year", 2002.0, missing=True)) == "year <= 2002 or ?"
    assert AtMost("year", 2002.0, missing=True).opposite() == "year > 2002"
    other = {"year": Labels.of(["new", "old"])}
    assert AtMost("year", 2002.0).holds(other).tolist() == [False, False]
