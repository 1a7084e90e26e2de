"""Chunks: their ids last while a page is edited."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.extract import LONGEST_CHUNK, chunks_of
from recrawl.extract.markdown import markdown
from recrawl.extract.splitting import split_node
from tests.extract.reading import content_of
from tests.extract.reparsed import bare
from tests.extract.test_markdown import leaves, nodes

ADDRESS = "https://example.org/tea"
SECTIONS = (
    "<h2>Green</h2><p>5 euros",
    "<h2>Black</h2><p>4 euros",
    "<h2>Notes</h2><p>a",
    "<h2>Notes</h2><p>b",
)


def chunks(*sections, title="Tea", address=ADDRESS):
    """Chunks of a page with these sections."""
    page = f"<main><h1>{title}</h1><p>Hot.{''.join(sections)}</main>"
    return chunks_of(content_of(page, address=address))


def changes(before, after):
    """Chunks that must be written, and ids that must be deleted."""
    old = {chunk.id: chunk.hash for chunk in before}
    new = {chunk.id: chunk.hash for chunk in after}
    return sum(old.get(each) != new[each] for each in new), len(old.keys() - new.keys())


@pytest.mark.parametrize(
    ("sections", "title", "written", "deleted"),
    [
        (SECTIONS, "Tea", 0, 0),
        ((SECTIONS[0].replace("5", "6"), *SECTIONS[1:]), "Tea", 1, 0),
        (("<h2>New</h2><p>x", *SECTIONS), "Tea", 1, 0),
        (SECTIONS[1:], "Tea", 0, 1),
        (SECTIONS[:-1], "Tea", 0, 1),
        ((SECTIONS[1], SECTIONS[0], *SECTIONS[2:]), "Tea", 0, 0),
        (SECTIONS, "Teas", 1, 0),
        ((SECTIONS[0].replace("Green", "White"), *SECTIONS[1:]), "Tea", 1, 1),
    ],
)
def test_an_edit_writes_what_it_touches_and_no_more(sections, title, written, deleted):
    assert changes(chunks(*SECTIONS), chunks(*sections, title=title)) == (written, deleted)


def test_an_id_is_a_uuid_of_address_heading_occurrence_and_part():
    found = chunks(*SECTIONS)

    assert all(UUID(chunk.id).version == 5 for chunk in found)
    assert len({chunk.id for chunk in found}) == 5
    assert not {chunk.id for chunk in found} & {
        chunk.id for chunk in chunks(*SECTIONS, address="https://example.org/other")
    }
    # For ever: whoever has stored these ids must find them again.
    assert found[0].id == "cbcdd9de-fc57-55ce-a1ef-4762d97e4d06"
    assert found[1].id == "68dc28f5-87f9-5849-bde9-3d7a945ab311"


def test_the_path_is_part_of_neither_id_nor_hash():
    under = chunks("<h2>Kinds</h2><p>x<h3>Green</h3><p>5 euros")[-1]
    renamed = chunks("<h2>Sorts</h2><p>x<h3>Green</h3><p>5 euros")[-1]

    assert under.path == ("Tea", "Kinds", "Green")
    assert (under.id, under.hash) == (renamed.id, renamed.hash)


def test_white_space_does_not_change_a_hash():
    one = chunks("<h2>a</h2><pre>x  y\nz</pre>")[-1]
    other = chunks("<h2>a</h2><pre>x y\n\nz</pre>")[-1]

    assert one.hash == other.hash


def test_a_long_section_has_parts_without_overlap():
    words = [f"word{number}" for number in range(1000)]
    found = chunks("<h2>Long</h2><p>" + " ".join(words))

    assert [chunk.part for chunk in found[1:]] == list(range(len(found) - 1))
    assert max(len(chunk.markdown) for chunk in found) <= LONGEST_CHUNK
    assert " ".join(chunk.text for chunk in found[1:]).split()[1:] == words


def test_a_long_table_is_cut_between_rows():
    rows = "".join(f"<tr><td>{number}<td>{'x' * 50}" for number in range(100))
    found = chunks(f"<h2>T</h2><table><tr><th>a<th>b{rows}</table>")

    lines = [line for chunk in found for line in chunk.markdown.splitlines() if "xxx" in line]
    assert len(lines) == 100
    assert all(len(chunk.markdown) <= LONGEST_CHUNK for chunk in found)
    assert "| a | b |" in found[1].markdown
    assert sum("| a | b |" in chunk.markdown for chunk in found) == 1


@given(st.one_of(leaves, nodes), st.integers(120, 400))
def test_pieces_are_short_enough_and_lose_no_letter(node, longest):
    """A link alone may be longer than all of it."""
    pieces = list(split_node(node, longest))

    letters = [letter for letter in bare(node) if letter.isalpha()]
    assert [letter for piece in pieces for letter in bare(piece) if letter.isalpha()] == letters
    assert all(len(markdown(piece)) <= longest for piece in pieces)
