"""What `recrawl listing looks` writes is documented."""

import re

import pytest

from recrawl.report.listings.objects import OBJECT_COLUMNS
from recrawl.report.listings.syncs import LOOK_COLUMNS, LOOK_OUTCOMES
from tests.docs.pages import DOCS

FILES = (DOCS / "reference" / "files.md").read_text().split("## Listings")[1]


@pytest.mark.parametrize("column", LOOK_COLUMNS)
def test_every_column_of_looks_is_explained(column):
    """`precision_low` stands as `_low`."""
    name = re.sub(r"^(precision|recall)_(?=low|high)", "_", column)

    assert f"`{name}`" in FILES


@pytest.mark.parametrize("column", OBJECT_COLUMNS)
def test_every_column_of_objects_is_explained(column):
    assert f"`{column}`" in FILES.split("`objects`, a row an object that a crawl has seen")[1]


@pytest.mark.parametrize("outcome", LOOK_OUTCOMES)
def test_every_outcome_of_a_look_is_explained(outcome):
    assert f"`{outcome}`: " in FILES
