"""Turns, and shares of what all use together."""

from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.frontier.fair_shares import FairShares, RoundRobin

WINDOW = 60.0


def test_an_owner_with_much_to_do_delays_the_others_by_one_item():
    waiting = RoundRobin[str]()
    for number in range(100):
        waiting.put("evil", f"evil {number}")
    waiting.put("honest", "honest 0")
    waiting.put("other", "other 0")

    assert [waiting.take() for _ in range(4)] == ["evil 0", "honest 0", "other 0", "evil 1"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=60))
def test_every_item_is_taken_once_in_the_order_of_its_owner(steps):
    waiting, put, taken = RoundRobin[tuple[str, int]](), [], []
    for number, (owner, take) in enumerate(steps):
        waiting.put(owner, (owner, number))
        put.append((owner, number))
        if take:
            first = waiting.peek()
            taken.append(waiting.take())
            assert taken[-1] == first
    while waiting:
        taken.append(waiting.take())

    assert sorted(taken, key=lambda item: item[1]) == put
    for owner in "abc":
        mine = [number for name, number in taken if name == owner]
        assert mine == sorted(mine)


def shares(*used, capacity=10.0):
    made = FairShares(capacity, WINDOW)
    for number, amount in enumerate(used):
        made.charge(str(number), amount, 0.0)
    return made


def waits(made, count, now=0.0):
    return [made.wait(str(number), now) for number in range(count)]


def test_nobody_waits_while_there_is_enough_for_all():
    assert waits(shares(1.0, 4.0, 5.0), 3) == [0.0, 0.0, 0.0]


def test_those_above_the_share_wait_until_they_are_at_it():
    """Of 10, who used 2 leaves 8 to the two others, 4 each."""
    made = shares(2.0, 8.0, 5.0)

    expected = [0.0, WINDOW * log(8 / 4), WINDOW * log(5 / 4)]
    assert waits(made, 3) == pytest.approx(expected)


def test_ten_that_take_all_do_not_make_ten_others_wait():
    made = shares(*[5.0] * 10, *[0.3] * 10, capacity=45.0)

    found = waits(made, 20)
    assert found[:10] == pytest.approx([WINDOW * log(5 / 4.2)] * 10)
    assert found[10:] == [0.0] * 10


def test_who_is_alone_never_waits():
    assert waits(shares(1000.0), 1) == [0.0]


def test_use_fades_within_the_window():
    made = shares(8.0, 8.0)

    assert made.used("0", WINDOW / 2) == pytest.approx(8 * exp(-0.5))
    assert waits(made, 2, now=WINDOW) == [0.0, 0.0]
    assert made.used("0", 2 * WINDOW) == pytest.approx(8 * exp(-2))
    assert made.used("0", 30 * WINDOW) == 0.0


def test_use_in_small_pieces_adds_up():
    """A millisecond at a time for a minute, as a domain with many small pages takes it."""
    made = FairShares(10.0, WINDOW)
    for step in range(60_000):
        made.charge("a", 0.001, step / 1000)

    assert made.used("a", 60.0) == pytest.approx(60 * (1 - exp(-1)), rel=1e-3)


used = st.lists(st.floats(0.01, 100), min_size=2, max_size=12)


@given(used, st.floats(0.1, 300))
def test_the_share_is_that_of_max_min_fairness(amounts, capacity):
    """Who waits is brought down to the share, and all together to what there is."""
    made = shares(*amounts, capacity=capacity)

    found = waits(made, len(amounts))
    left = [amount * exp(-wait / WINDOW) for amount, wait in zip(amounts, found, strict=True)]
    assert sum(left) == pytest.approx(min(sum(amounts), capacity))
    for wait, after in zip(found, left, strict=True):
        assert not wait or after == pytest.approx(max(left))
