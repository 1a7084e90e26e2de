"""Every column and key that the verbs of a crawl write is explained."""

import pytest

from recrawl.report.histories import VISIT_COLUMNS
from recrawl.report.pages import ORDERS, PAGE_COLUMNS, RATE_COLUMNS
from recrawl.report.status import BUDGET_KEYS, KEYS
from recrawl.visits.status import Outcome, PageStatus
from tests.docs.pages import DOCS

CRAWLS = (DOCS / "reference" / "files.md").read_text().split("## Crawls")[1].split("\n## ")[0]
WORDS = sorted({*VISIT_COLUMNS, *PAGE_COLUMNS, *RATE_COLUMNS, *KEYS, *BUDGET_KEYS})


@pytest.mark.parametrize("word", WORDS)
def test_every_column_and_key_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("word", [each.label for each in [*PageStatus, *Outcome]])
def test_every_status_and_outcome_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("order", ORDERS[1:])
def test_every_order_is_explained(order):
    assert f"`{order}`" in (DOCS / "how-to" / "crawl.md").read_text()
