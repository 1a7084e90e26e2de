"""Every column, key and word of `recrawl diff` is explained."""

import pytest

from recrawl.detect.diff.differences import GISTS, Kind
from recrawl.detect.diff.edits import Fate
from recrawl.report.diff.data import (
    DIFFERENCE_KEYS,
    PART_KEYS,
    SIDE_KEYS,
    VERSION_COLUMNS,
)
from tests.docs.pages import DOCS

CRAWLS = (DOCS / "reference" / "files.md").read_text().split("## Crawls")[1].split("\n## ")[0]
KEYS = {*DIFFERENCE_KEYS, *SIDE_KEYS, *PART_KEYS, *VERSION_COLUMNS}
KINDS = {kind.value for kind in Kind if kind is not Kind.MOVED_AWAY}


@pytest.mark.parametrize("word", sorted({*KEYS, *KINDS, *GISTS, *(fate.value for fate in Fate)}))
def test_every_word_of_a_difference_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("word", GISTS[1:])
def test_every_gist_is_explained_to_people(word):
    assert f"`{word}`" in (DOCS / "how-to" / "crawl.md").read_text()
