"""Every key and every constraint of `recrawl why` is explained."""

import pytest

from recrawl.inspect.why.binding import Binding
from recrawl.report.why import object as why
from tests.docs.pages import DOCS

CRAWLS = (DOCS / "reference" / "files.md").read_text().split("## Crawls")[1].split("\n## ")[0]
KEYS = {
    *why.KEYS,
    *why.EVIDENCE_KEYS,
    *why.ESTIMATE_KEYS,
    *why.SECTION_KEYS,
    *why.HONESTY_KEYS,
    *why.WORTH_KEYS,
    *why.VALUE_KEYS,
    *why.WHAT_IF_KEYS,
}


@pytest.mark.parametrize("key", sorted(KEYS))
def test_every_key_is_explained(key):
    assert f"`{key}`" in CRAWLS


@pytest.mark.parametrize("kind", [each.value for each in Binding])
def test_everything_that_may_decide_is_explained(kind):
    assert f"`{kind}`" in CRAWLS
    assert f"`{kind}`" in (DOCS / "how-to" / "crawl.md").read_text()
