"""Pages of the documentation as blocks that can be run, each in the order of the page.

    ```python     a script; the blocks of a page share their names
    ```pycon      a session of the interpreter; what it shows is compared
    ```console    commands after `$ `, and what a terminal shows; `...` stands for anything

A comment `<!-- file: visits.csv -->` before a block of any kind makes it a file that the blocks
below it can read. A page is run in a folder of its own. Commands believe that they write to a
terminal, as they do for a reader, but for the remarks, which come after the rows.

Touches: the folder a page is run in.
"""

from __future__ import annotations

import ast
import contextlib
import doctest
import os
import pty
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.preloaded import environment, popen

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]

_BLOCK = re.compile(
    r"(?:^<!-- file: (?P<file>\S+) -->\n+)?^```(?P<kind>\w+)[^\n]*\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_PROMPT = re.compile(r"^\$ ", re.MULTILINE)
_COLUMNS = "100"
_QUOTED = re.compile(r"""'[^']*'|"[^"$`]*\"""")
_SHELL = re.compile(r"[|&;<>()$`*?~#!{}\[\]]")  # means something to a shell where not quoted


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page, the line it begins on, and the file it is, if it is one."""

    kind: str
    text: str
    line: int
    file: str | None = None


def blocks(text: str) -> list[Block]:
    """All fenced blocks of a page that name their kind."""
    return [
        Block(
            found["kind"],
            found["text"],
            text.count("\n", 0, found.start("text")) + 1,
            found["file"],
        )
        for found in _BLOCK.finditer(text)
    ]


@dataclass(slots=True)
class Session:
    """Runs the blocks of one page in the current folder; what differs is collected.

    Attributes:
        name: Of the page.
        output_of: What shows what a command writes.
        names: What the blocks of Python have named.
        differences: What is not as the page says.
    """

    name: str
    output_of: Callable[[str], str]
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    differences: list[str] = field(default_factory=list)

    def run(self, block: Block) -> None:
        """Run one block."""
        if block.file is not None:
            Path(block.file).write_text(block.text)
        elif block.kind == "python":
            code = "\n" * (block.line - 1) + block.text
            exec(compile(code, self.name, "exec"), self.names)  # noqa: S102 - our own pages
            for docstring, line in docstrings(code):
                self._interpret(docstring, line)
        elif block.kind == "pycon":
            self._interpret(block.text, block.line)
        elif block.kind == "console":
            for command, shown in commands(block.text):
                got = self.output_of(command)
                self._compare(f"line {block.line}: $ {command}", shown, got)

    def _interpret(self, text: str, line: int) -> None:
        """Follow a session of the interpreter."""
        said: list[str] = []
        parser = doctest.DocTestParser()
        session = parser.get_doctest(text, {}, self.name, self.name, line - 1)
        session.globs = self.names  # not the copy that doctest makes: the next block needs them
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(session, out=said.append, clear_globs=False)
        self.differences += ["".join(said)] if said else []

    def _compare(self, where: str, wanted: str, got: str) -> None:
        if not doctest.OutputChecker().check_output(wanted, got, doctest.ELLIPSIS):
            self.differences.append(f"{where}\nwanted:\n{wanted}\ngot:\n{got}")


def docstrings(code: str) -> list[tuple[str, int]]:
    """Docstrings of a script's classes and functions, and the lines they begin on."""
    made = [
        node
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    ]
    found = [(ast.get_docstring(node), node.body[0].lineno) for node in made]
    return [(text, line) for text, line in found if text is not None]


def commands(text: str) -> list[tuple[str, str]]:
    """Each command of a console block, and what is shown after it."""
    pairs = []
    for part in _PROMPT.split(text)[1:]:
        lines = part.splitlines(keepends=True)
        last = next(row for row, line in enumerate(lines) if not line.endswith("\\\n"))
        pairs.append(("".join(lines[: last + 1]).strip(), "".join(lines[last + 1 :])))
    return pairs


def output_of(command: str) -> str:
    """What a shell shows of a command."""
    return shown_by(lambda **screen: subprocess.Popen(["bash", "-c", command], **screen))


def output_of_recrawl(command: str) -> str:
    """The same, but `recrawl` is not loaded anew where a shell would only start it."""
    program, *words = shlex.split(command.replace("\\\n", ""))
    if program != "recrawl" or _SHELL.search(_QUOTED.sub("", command)):
        return output_of(command)
    return shown_by(lambda **screen: popen(words, **screen))


def shown_by(start: Callable[..., subprocess.Popen[Any]]) -> str:
    """What a process writes to a terminal of 100 columns, then what it remarks."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    screen = {"COLUMNS": _COLUMNS, "NO_COLOR": "1", "PATH": path}
    ours, theirs = pty.openpty()
    with tempfile.TemporaryFile() as remarks:
        process = start(
            stdin=subprocess.DEVNULL, stdout=theirs, stderr=remarks, env=environment(**screen)
        )
        os.close(theirs)
        rows = _read_to_end(ours)
        process.wait()
        remarks.seek(0)
        return (rows.replace(b"\r\n", b"\n") + remarks.read()).decode()


def _read_to_end(terminal: int) -> bytes:
    """Everything written to a terminal until its last writer is gone."""
    parts = []
    with contextlib.suppress(OSError):  # Linux says so when the other end is closed
        while part := os.read(terminal, 65536):
            parts.append(part)
    os.close(terminal)
    return b"".join(parts)
