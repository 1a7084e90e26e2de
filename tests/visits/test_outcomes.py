"""What the outcomes of visits mean in a log."""

import pytest

from recrawl.visits.outcomes import ANSWER_OF_OUTCOME, CHANGED_BY_OUTCOME
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

MEANING = {
    "first": (-1, AnswerKind.OK),
    "same": (0, AnswerKind.OK),
    "not_modified": (0, AnswerKind.NOT_MODIFIED),
    "changed": (1, AnswerKind.OK),
    "gone": (-1, AnswerKind.GONE),
    "failed": (-1, AnswerKind.FAILED),
    "refused": (-1, AnswerKind.FAILED),
    "moved": (-1, AnswerKind.FAILED),
    "cosmetic": (0, AnswerKind.OK),
    "walled": (-1, AnswerKind.FAILED),
    "duplicate": (-1, AnswerKind.FAILED),
}


@pytest.mark.parametrize("outcome", VisitOutcome)
def test_every_outcome_means_something(outcome):
    """A new outcome must be given a meaning here, which no door may lack."""
    found = int(CHANGED_BY_OUTCOME[outcome]), AnswerKind(int(ANSWER_OF_OUTCOME[outcome]))

    assert found == MEANING[outcome.label]
