"""The page of the papers: its commands can be given, and its Python names are there."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from recrawl.cli.main import app
from recrawl.plan.objectives import Freshness
from recrawl.policies.named import policy_named
from recrawl.rates import METHODS

if TYPE_CHECKING:
    from typer._click.core import Command

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "papers.md"
TEXT = PAGE.read_text()
ROWS = re.findall(r"^\|(?! Section|---)(.*)\|$", TEXT, re.MULTILINE)
COMMANDS = sorted(set(re.findall(r"`recrawl ([a-z][^`]*)`", TEXT)))
NAMES = sorted(set(re.findall(r"`(recrawl\.[a-z_.]+[a-z_])`", TEXT)))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_can_be_given(command):
    """Every verb, option and value that the page names is there."""
    words = shlex.split(command)
    found: Command = get_group(app)
    while isinstance(found, TyperGroup):
        assert words[0] in found.commands, command
        found = found.commands[words.pop(0)]
    if any(word.isupper() or word.startswith("-") for word in words):
        given = found.make_context("recrawl", list(words)).params
        if isinstance(given.get("method"), str):
            assert given["method"] in METHODS or "listing" in command
        for policy in (given.get("policy") or "").split(","):
            assert not policy or policy_named(policy, Freshness()) is not None


@pytest.mark.parametrize("name", NAMES)
def test_a_python_name_is_there(name):
    if name == "recrawl.toml":
        return
    module, _, attribute = name.rpartition(".")

    assert hasattr(importlib.import_module(module), attribute)


def test_every_row_has_a_command_or_says_that_there_is_none():
    for row in ROWS:
        shown = row.rsplit("|", 1)[1]
        assert "`recrawl " in shown or "not by a command yet" in shown, row
