"""The documentation runs, names everything there is, and leads nowhere that does not exist."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from typer.core import TyperGroup
from typer.main import get_group

import recrawl
from recrawl.cli.main import app
from recrawl.listings.forecast.methods import METHODS as FORECASTERS
from recrawl.rates import METHODS
from recrawl.rates.estimates import STATUS_NAMES
from recrawl.report.listings.backtests import CYCLE_COLUMNS, KEEP_COLUMNS
from recrawl.report.listings.describe import MARKS, STATUS_REMARKS
from recrawl.report.listings.schedules import REASONS
from recrawl.report.rates import COLUMNS
from recrawl.visits.visit import Flag
from tests.docs.pages import (
    DOCS,
    PAGES,
    ROOT,
    Block,
    Session,
    blocks,
    commands,
    output_of,
    output_of_recrawl,
)
from tests.report.columns import (
    DAY_COLUMNS,
    DECAY_COLUMNS,
    DESCRIBE_COLUMNS,
    FORECAST_COLUMNS,
    PARTITION_COLUMNS,
    SCHEDULE_COLUMNS,
    STEP_COLUMNS,
    UPDATE_COLUMNS,
)

if TYPE_CHECKING:
    from pathlib import Path

    from typer._click.core import Command

CLI_REFERENCE = DOCS / "reference" / "cli.md"
# Their commands are typed into a shell, which loads the program each time as a reader's does.
FIRST_READ = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", DOCS / "tutorial.md"]
NAV = re.findall(r"[\w/.-]+\.md", (ROOT / "mkdocs.yml").read_text())


def commands_of(group: TyperGroup, before: str = "") -> dict[str, Command]:
    """All verbs by what is typed: `listing describe` below `listing`."""
    found = {}
    for name, command in group.commands.items():
        found[f"{before}{name}"] = command
        if isinstance(command, TyperGroup):
            found |= commands_of(command, f"{before}{name} ")
    return found


VERBS = commands_of(get_group(app))
OPTIONS = [
    (verb, option)
    for verb, command in VERBS.items()
    for parameter in command.params
    if parameter.param_type_name == "option"
    for option in parameter.opts
]

LISTING_COLUMNS = {
    *(*DESCRIBE_COLUMNS, *UPDATE_COLUMNS, *DAY_COLUMNS, *FORECAST_COLUMNS, *SCHEDULE_COLUMNS),
    *(*PARTITION_COLUMNS, *STEP_COLUMNS, *DECAY_COLUMNS, *CYCLE_COLUMNS, *KEEP_COLUMNS),
}

LINK = re.compile(r"\]\((?!https?:)(?P<page>[^)#\s]*)(?:#(?P<place>[^)\s]*))?\)")
PICTURE = re.compile(r'(?:src|srcset)="(?P<file>[^"]+)"')


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def prose(page: Path) -> str:
    """Text of a page without its blocks."""
    return re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def written_by_hand():
    """All pages but the one that is made from the help."""
    return "\n".join(page.read_text() for page in PAGES if page != CLI_REFERENCE)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_page_shows_what_really_happens(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = Session(name_of(page), output_of if page in FIRST_READ else output_of_recrawl)

    for block in blocks(page.read_text()):
        session.run(block)

    assert not session.differences, "\n\n".join(session.differences)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_a_console_block_begins_with_a_command(page):
    """What stands before the first `$ ` would never be compared."""
    shown = [block for block in blocks(page.read_text()) if block.kind == "console"]

    assert all(block.text.startswith("$ ") for block in shown)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_documented(verb, written_by_hand):
    assert f"recrawl {verb}" in written_by_hand


@pytest.mark.parametrize(("verb", "option"), OPTIONS)
def test_every_option_is_documented(verb, option, written_by_hand):
    assert re.search(rf"(?<![\w-]){option}(?![\w-])", written_by_hand), f"{verb} {option}"


@pytest.mark.parametrize("name", recrawl.__all__)
def test_every_public_name_is_in_the_reference(name):
    reference = (DOCS / "reference" / "python.md").read_text()

    assert f"::: recrawl.{name}\n" in reference


@pytest.mark.parametrize("name", [*STATUS_NAMES, *(str(flag.name).lower() for flag in Flag)])
@pytest.mark.parametrize("page", ["concepts/visits.md", "reference/files.md"])
def test_every_status_and_flag_is_explained(name, page):
    assert f"`{name}`" in (DOCS / page).read_text()


@pytest.mark.parametrize("column", COLUMNS)
def test_every_output_column_is_explained(column):
    assert f"`{column}`" in (DOCS / "reference" / "files.md").read_text()


@pytest.mark.parametrize("column", sorted(LISTING_COLUMNS))
def test_every_column_of_listings_is_explained(column):
    """`precision_low` stands as `_low`."""
    page = (DOCS / "reference" / "files.md").read_text().split("## Listings")[1]
    name = re.sub(r"^(precision|recall|deleted|inserted|listed)_(?=low|high)", "_", column)

    assert f"`{name}`" in page


@pytest.mark.parametrize("method", FORECASTERS)
def test_every_forecaster_is_explained(method):
    assert f"`{method}`" in (DOCS / "concepts" / "listing-forecasts.md").read_text().replace(
        "--method ", ""
    )


@pytest.mark.parametrize("reason", ["precision", "recall", *REASONS])
def test_every_reason_of_a_schedule_is_explained(reason):
    assert f"`{reason}`" in (DOCS / "concepts" / "listing-schedules.md").read_text()


@pytest.mark.parametrize("word", [*STATUS_REMARKS, "ok", "rekey?", *filter(None, MARKS)])
def test_every_status_and_mark_of_a_listing_is_explained(word):
    assert f"`{word}`" in (DOCS / "concepts" / "listings.md").read_text()


@pytest.mark.parametrize("method", METHODS)
def test_every_method_has_a_page(method):
    """`likelihood-plain` is on the page of `likelihood`, `lln` on that of streaming methods."""
    pages = [page.read_text() for page in (DOCS / "concepts").glob("*.md")]

    assert any(f"`--method {method}`" in page for page in pages)


def test_the_reference_of_the_command_line_is_not_stale():
    """If this fails: run scripts/reference."""
    made = subprocess.run(
        [sys.executable, ROOT / "scripts" / "reference.py"],
        capture_output=True,
        check=True,
        text=True,
    )

    assert made.stdout == CLI_REFERENCE.read_text()


@pytest.mark.parametrize(
    "name", ["rates", "accuracy", "clocks", "simulate", "trends", "listings", "demo"]
)
def test_pictures_show_what_their_scripts_compute(name, tmp_path):
    """Only the figures are compared: where text stands depends on the fonts of a machine."""
    script = DOCS / "pictures" / f"{name}.py"
    subprocess.run([sys.executable, script, tmp_path], check=True)

    drawn = {picture.name: figures(picture) for picture in tmp_path.iterdir()}
    kept = {picture.name: figures(picture) for picture in script.parent.glob(f"{name}*.svg")}
    assert drawn == kept


def figures(picture: Path) -> list[str]:
    return re.findall(r'aria-label="([^"]*)"', picture.read_text())


def test_every_page_is_in_the_navigation():
    there = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")}

    assert set(NAV) == there
    assert len(NAV) == len(there)


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=name_of)
def test_links_lead_somewhere(page):
    for link in LINK.finditer(prose(page)):
        target = (page.parent / link["page"]).resolve() if link["page"] else page
        assert target.exists(), link[0]
        if link["place"]:
            assert link["place"] in places(target), link[0]


def places(page: Path) -> set[str]:
    """Headings of a page as they stand in a link, and names of the Python reference."""
    text = prose(page)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\s-]", "", heading).strip().lower() for heading in headings}
    names = re.findall(r"^::: (\S+)$", text, re.MULTILINE)
    return {*names, *(re.sub(r"[\s-]+", "-", slug) for slug in slugs)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pictures_and_scripts_that_a_page_names_are_there(page):
    text = page.read_text()
    pictures = [page.parent / found["file"] for found in PICTURE.finditer(text)]
    scripts = [ROOT / name for name in re.findall(r"\bscripts/\w+\b(?!\.)", text)]

    assert all(picture.is_file() for picture in pictures)
    assert all(script.is_file() and script.stat().st_mode & 0o100 for script in scripts)


def test_a_page_without_a_machine_of_ours():
    """A path or an index that exists on one machine only is no use to a reader."""
    for page in PAGES:
        assert not re.search(r"/(?:home|root|work)/|pypi\.org", page.read_text()), name_of(page)


# The machinery itself: a block that is never run, or never compared, would go unnoticed.


def test_blocks_are_found_in_order_with_their_kind():
    text = "```python\nx = 1\n```\n\n<!-- file: a.csv -->\n```csv\nb\n```\n"

    assert blocks(text) == [Block("python", "x = 1\n", 2), Block("csv", "b\n", 7, "a.csv")]


def test_commands_are_told_from_what_they_show():
    assert commands("$ echo a \\\n    b\na b\n$ true\n") == [
        ("echo a \\\n    b", "a b\n"),
        ("true", ""),
    ]


@pytest.mark.parametrize(
    ("kind", "right", "wrong"),
    [
        ("pycon", ">>> 1 + 1\n2\n", ">>> 1 + 1\n3\n"),
        ("console", "$ echo a; echo b\na\n...\n", "$ echo a; echo b\nb\n"),
        ("python", 'def f():\n    """>>> f()"""\n', 'def f():\n    """>>> 1"""\n'),
    ],
)
def test_what_differs_is_reported(kind, right, wrong, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = Session("a page", output_of)

    session.run(Block(kind, right, 1))
    assert session.differences == []

    session.run(Block(kind, wrong, 1))
    assert len(session.differences) == 1


def test_a_command_believes_that_it_writes_to_a_terminal(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    session = Session("a page", output_of)

    asks = "import shutil, sys; print(sys.stdout.isatty(), shutil.get_terminal_size().columns)"
    session.run(Block("console", f"$ python -c '{asks}'\nTrue 100\n", 1))

    assert session.differences == []
