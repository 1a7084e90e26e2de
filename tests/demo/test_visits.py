"""What visits of the example site tell: sizes saved, copies made."""

import numpy as np
import pytest

from recrawl.demo.truth import ExampleVisits
from recrawl.visits.status import VisitOutcome

FIRST, SAME, CHANGED = VisitOutcome.FIRST, VisitOutcome.SAME, VisitOutcome.CHANGED
UNMODIFIED, GONE, COSMETIC = VisitOutcome.NOT_MODIFIED, VisitOutcome.GONE, VisitOutcome.COSMETIC


def visits(*rows: tuple[int, float, VisitOutcome, int], age: float = np.nan) -> ExampleVisits:
    page, at, outcome, size = (np.array(each) for each in zip(*rows, strict=True))
    ages = np.where(outcome == CHANGED, age, np.nan)
    return ExampleVisits(page, at - 0.01, at, outcome, ages, size, np.zeros(len(page), np.int64))


def test_saved_bytes_are_those_of_the_copy_at_hand():
    seen = visits(
        (0, 1.0, FIRST, 100),
        (1, 1.0, FIRST, 7),
        (0, 2.0, UNMODIFIED, -1),
        (0, 3.0, CHANGED, 120),
        (0, 4.0, UNMODIFIED, -1),
        (-1, 5.0, GONE, 20),
    )

    assert seen.saved_bytes == 100 + 120


def test_other_bytes_are_nothing_new():
    seen = visits(
        (0, 1.0, FIRST, 9), (0, 2.0, COSMETIC, 9), (0, 3.0, SAME, 9), (0, 4.0, CHANGED, 9)
    )

    assert seen.found_nothing_new.tolist() == [False, True, True, False]
    assert seen.count(COSMETIC) == 1


def test_visits_without_a_page_are_no_visits_to_copies():
    seen = visits((1, 2.0, CHANGED, 9), (0, 1.0, FIRST, 9), (-1, 3.0, FIRST, 9), (0, 4.0, GONE, 9))

    assert seen.of_copies.page.tolist() == [0, 1]
    assert seen.of_copies.asked.tolist() == pytest.approx([0.99, 1.99])


def test_only_a_visit_that_makes_a_copy_makes_one():
    """A host that says "not modified" may lie, and what is cosmetic is not copied."""
    seen = visits(
        (0, 1.0, FIRST, 9), (0, 2.0, UNMODIFIED, -1), (0, 3.0, COSMETIC, 9), (0, 4.0, CHANGED, 9)
    )

    assert seen.of_copies.at.tolist() == [1.0, 4.0]
