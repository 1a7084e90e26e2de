"""What `recrawl listing syncs` writes is documented."""

import re

import pytest

from recrawl.report.listings.objects import OBJECT_COLUMNS
from recrawl.report.listings.syncs import SYNC_OUTCOMES
from tests.docs.pages import DOCS
from tests.report.columns import SYNC_COLUMNS

FILES = (DOCS / "reference" / "files.md").read_text().split("## Listings")[1]


@pytest.mark.parametrize("column", SYNC_COLUMNS)
def test_every_column_of_syncs_is_explained(column):
    """`precision_low` stands as `_low`."""
    name = re.sub(r"^(precision|recall)_(?=low|high)", "_", column)

    assert f"`{name}`" in FILES


@pytest.mark.parametrize("column", OBJECT_COLUMNS)
def test_every_column_of_objects_is_explained(column):
    assert f"`{column}`" in FILES.split("`objects` writes one row per object")[1]


@pytest.mark.parametrize("outcome", SYNC_OUTCOMES)
def test_every_outcome_of_a_sync_is_explained(outcome):
    assert f"`{outcome}`: " in FILES
