"""The map of the house is the house: rooms, files and names that the pages mention are there."""

import re

import pytest

from tests.docs.pages import DOCS, ROOT

PACKAGE = ROOT / "src" / "recrawl"
ARCHITECTURE = (DOCS / "architecture.md").read_text()
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
ROOMS = sorted(
    path.name for path in PACKAGE.iterdir() if path.is_dir() and (path / "__init__.py").exists()
)
NAMED = sorted(set(re.findall(r"`((?:[a-z_0-9]+/)*[a-z_0-9]+\.py)`", ARCHITECTURE)))


def rows(page: str, title: str) -> list[str]:
    """First cells of the table below a title."""
    (part,) = re.findall(rf"\n## {re.escape(title)}\n(.*?)(?:\n## |\Z)", page, flags=re.DOTALL)
    return re.findall(r"^\| `([a-z_]+)/` ", part, flags=re.MULTILINE)


def test_the_map_lists_every_room_once():
    assert sorted(rows(ARCHITECTURE, "Rooms")) == ROOMS


def test_the_contributors_map_lists_every_room_once():
    assert sorted(rows(CONTRIBUTING, "Where things are")) == ROOMS


@pytest.mark.parametrize("name", NAMED)
def test_every_file_that_is_named_is_there(name):
    places = [PACKAGE / name, *(PACKAGE / room / name for room in ROOMS)]

    assert any(path.is_file() for path in places)


def test_rooms_stand_in_the_order_in_which_they_may_import():
    """The list of the page is the layers of the import contract, the first at the bottom."""
    layers = re.findall(
        r'^    "\((\w+)\)",$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE
    )

    listed = rows(ARCHITECTURE, "Rooms")

    assert listed == [room for room in reversed(layers) if room in listed]
