"""What the outcomes of a crawl's visits mean in a visit log, by their numbers.

| outcome | changed | answer |
|---|---|---|
| first | unknown: there is nothing to compare with | ok |
| same, cosmetic | no: nothing that a reader would call a change | ok |
| not_modified | no | not modified |
| changed | yes | ok |
| gone | unknown: what ends a history is judged with it | gone |
| failed, refused, moved, walled, duplicate | unknown | failed: says nothing of the page |

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from recrawl.visits.rows import UNKNOWN_CHANGE
from recrawl.visits.status import VisitOutcome
from recrawl.visits.visit import AnswerKind

if TYPE_CHECKING:
    from recrawl.arrays.types import Answers, Changes

_TOLD_NOTHING = (
    VisitOutcome.FAILED,
    VisitOutcome.REFUSED,
    VisitOutcome.MOVED,
    VisitOutcome.WALLED,
    VisitOutcome.DUPLICATE,
)

CHANGED_BY_OUTCOME: Changes = np.full(len(VisitOutcome), UNKNOWN_CHANGE, np.int8)
CHANGED_BY_OUTCOME[[outcome for outcome in VisitOutcome if outcome.compared]] = 0
CHANGED_BY_OUTCOME[VisitOutcome.CHANGED] = 1

ANSWER_OF_OUTCOME: Answers = np.full(len(VisitOutcome), AnswerKind.OK, np.uint8)
ANSWER_OF_OUTCOME[VisitOutcome.NOT_MODIFIED] = AnswerKind.NOT_MODIFIED
ANSWER_OF_OUTCOME[VisitOutcome.GONE] = AnswerKind.GONE
ANSWER_OF_OUTCOME[list(_TOLD_NOTHING)] = AnswerKind.FAILED
