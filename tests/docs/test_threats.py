"""Pages that promise something name the tests that hold it; those tests must be there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("docs/reference/threats.md", "docs/reference/bounds.md")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")


def named(page: str) -> list[tuple[str, str]]:
    return NAMED.findall((ROOT / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_every_test_that_a_page_names_is_there(page):
    missing = []
    for file, name in named(page):
        path = ROOT / file
        tree = ast.parse(path.read_text(encoding="utf-8")) if path.exists() else ast.Module([], [])
        if not any(isinstance(node, ast.FunctionDef) and node.name == name for node in tree.body):
            missing.append(f"{file}::{name}")

    assert missing == []


@pytest.mark.parametrize("page", PAGES)
def test_every_row_of_a_page_names_a_test(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| ") and "| test |" not in line]

    assert rows
    assert [row for row in rows if not NAMED.search(row)] == []
