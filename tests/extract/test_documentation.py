"""Real documentation: what is kept of it, what of its navigation is left in, and single edits."""

from collections import Counter
from functools import cache

import pytest

from recrawl.extract import chunks_of
from tests.extract.documentation import (
    EDITS,
    PACKAGES,
    edited,
    kept,
    moved,
    pages,
    parts_of,
    parts_of_markdown,
)
from tests.extract.reading import content_of

PAGES = [(manual, path.name, path.read_bytes()) for manual, path in pages()]

pytestmark = pytest.mark.skipif(
    len(PAGES) < 200, reason=f"needs Debian's documentation: {', '.join(PACKAGES)}"
)


@cache
def read(page, name):
    """Content of a page; several ask for the same."""
    return content_of(page, address=f"https://docs.example.org/{name}")


def test_documentation_is_kept_and_its_navigation_is_not():
    """As a Markdown parser of others finds it; shares of all pages together."""
    counts = Counter[str]()
    for manual, name, page in PAGES:
        found = parts_of_markdown(read(page, name).markdown)
        counts += kept(parts_of(page, manual, name), found)

    shares = {
        kind: counts[f"{kind} kept"] / counts[kind] for kind in list(counts) if " " not in kind
    }
    assert counts["headings"] > 1500
    assert counts["rows"] > 1000
    assert counts["codes"] > 1000
    assert counts["items"] > 1500
    assert shares["headings"] >= 0.995
    assert shares["rows"] >= 0.97
    assert shares["codes"] >= 0.995
    assert shares["items"] >= 0.97
    assert shares["outside"] <= 0.05


def test_an_edited_sentence_moves_one_block():
    """None is lost, and none moves more than the block that it stands in."""
    wrong = []
    edits = Counter[str]()
    for number, (manual, name, page) in enumerate(PAGES):
        for kind in list(EDITS)[number % 2 :: 2]:
            versions = edited(page, manual, name, kind)
            if versions is None:
                continue
            old, new = (read(each, name) for each in versions)
            edits[kind] += 1
            went, came = moved(*([block.markdown for block in each.blocks] for each in (old, new)))
            if went > 1 or came != 1:
                wrong.append((name, kind, went, came))

    assert min(edits[kind] for kind in EDITS) >= 15
    assert edits.total() >= 350
    assert not wrong


def test_chunks_of_documentation_have_ids_of_their_own_and_lose_nothing():
    for _, name, page in PAGES[::5]:
        content = read(page, name)
        chunks = chunks_of(content)

        assert len({chunk.id for chunk in chunks}) == len(chunks)
        assert max(len(chunk.markdown) for chunk in chunks) <= 2_000
        letters = [
            Counter(filter(str.isalnum, text))
            for text in (content.text, "".join(c.text for c in chunks))
        ]
        numbers = set("0123456789")  # of lists that were cut
        assert {k: v for k, v in letters[0].items() if k not in numbers} == {
            k: v for k, v in letters[1].items() if k not in numbers
        }
