"""Every column and key that the verbs of a crawl write is explained."""

import pytest

from recrawl.report.histories import VISIT_COLUMNS
from recrawl.report.pages import ORDERS, PAGE_COLUMNS, RATE_COLUMNS
from recrawl.report.status.object import (
    BUDGET_KEYS,
    HOST_KEYS,
    KEYS,
    LEARNING_KEYS,
    OUTLOOK_KEYS,
    TARGET_KEYS,
    TENTH_KEYS,
)
from recrawl.visits.status import PageStatus, VisitOutcome
from tests.docs.pages import DOCS

CRAWLS = (DOCS / "reference" / "files.md").read_text().split("## Crawls")[1].split("\n## ")[0]
PARTS = (BUDGET_KEYS, OUTLOOK_KEYS, TENTH_KEYS, LEARNING_KEYS, TARGET_KEYS, HOST_KEYS)
OF_STATUS = {*KEYS, *(key for keys in PARTS for key in keys)}
WORDS = sorted({*VISIT_COLUMNS, *PAGE_COLUMNS, *RATE_COLUMNS, *OF_STATUS})


@pytest.mark.parametrize("word", WORDS)
def test_every_column_and_key_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("word", [each.label for each in [*PageStatus, *VisitOutcome]])
def test_every_status_and_outcome_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("order", ORDERS[1:])
def test_every_order_is_explained(order):
    assert f"`{order}`" in (DOCS / "how-to" / "crawl.md").read_text()
