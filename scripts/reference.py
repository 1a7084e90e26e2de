"""The page `docs/reference/cli.md`, made from the help of every verb.

    python scripts/reference.py [FILE]

Touches: FILE, or else the standard output.
"""

import os
import sys
from functools import cache
from pathlib import Path

os.environ["COLUMNS"] = "80"  # help is as wide as the terminal; read when Typer is loaded

from typer import testing
from typer.core import TyperGroup
from typer.main import get_group

from recrawl.cli.main import app

# It reads all verbs and their options off their functions, for each command anew.
testing._get_command = cache(testing._get_command)  # type: ignore[attr-defined] # noqa: SLF001

HEAD = """\
# Command line

<!-- Made by scripts/reference from the help of every verb. Do not edit. -->

Rows go to the standard output; remarks and the progress bar go to standard error.
[Files](files.md) says what the columns hold and what the exit codes mean.
"""


def page() -> str:
    """The whole page: `recrawl` itself, then its verbs in the order of its help."""
    return "\n".join([HEAD, *(_section(verb) for verb in ([], *verbs(get_group(app))))])


def verbs(group: TyperGroup) -> list[list[str]]:
    """All verbs, each before the verbs below it: `listing`, then `listing describe`."""
    found = []
    for name, command in group.commands.items():
        found.append([name])
        if isinstance(command, TyperGroup):
            found += [[name, *below] for below in verbs(command)]
    return found


def _section(verb: list[str]) -> str:
    answer = testing.CliRunner().invoke(app, [*verb, "--help"], prog_name="recrawl")
    level = "#" * max(len(verb) + 1, 2)
    return f"{level} {' '.join(['recrawl', *verb])}\n\n```text\n{answer.output.strip()}\n```\n"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(page())
    else:
        print(page(), end="")
