"""Every column, key and word of `recrawl diff` is explained."""

import pytest

from recrawl.detect.diff.gist import GISTS
from recrawl.detect.diff.line_diff import BlockKind
from recrawl.detect.diff.word_diff import EditKind
from recrawl.report.diff.data import (
    BLOCK_KEYS,
    DIFF_KEYS,
    SIDE_KEYS,
    VERSION_COLUMNS,
)
from tests.docs.pages import DOCS

CRAWLS = (DOCS / "reference" / "files.md").read_text().split("## Crawls")[1].split("\n## ")[0]
KEYS = {*DIFF_KEYS, *SIDE_KEYS, *BLOCK_KEYS, *VERSION_COLUMNS}
KINDS = {kind.value for kind in BlockKind if kind is not BlockKind.MOVED_AWAY}


@pytest.mark.parametrize(
    "word", sorted({*KEYS, *KINDS, *GISTS, *(kind.value for kind in EditKind)})
)
def test_every_word_of_a_difference_is_explained(word):
    assert f"`{word}`" in CRAWLS


@pytest.mark.parametrize("word", GISTS[1:])
def test_every_gist_is_explained_to_people(word):
    assert f"`{word}`" in (DOCS / "how-to" / "crawl.md").read_text()
