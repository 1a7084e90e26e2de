"""The house in numbers: files, code lines, folders, names that stand for two things, slivers.

    .venv/bin/python scripts/measure.py [--source src/recrawl]

- A *code line* holds code: no docstring, no comment, not blank.
- A *sliver* is a module under 100 lines whose only importer is in its own room.
- A *prefix family* is three files or more of one folder whose names begin with the same word.
- A *construction* is a call outside of `store/` that opens a store.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter, defaultdict
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_SLIVER = 100
_FAMILY = 3
_OPENERS = re.compile(
    r"\b(?:Reader|ListingReader|open_store|open_for_writing|create_store|Store\.(?:open|create))\("
)
_NOT_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines that hold code."""
    docstrings: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                docstrings |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOT_CODE:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return len(lines - docstrings)


def importers(texts: Mapping[str, str]) -> dict[str, set[str]]:
    """Modules that import each module, by their dotted names."""
    found: dict[str, set[str]] = defaultdict(set)
    for name, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    whole = f"{node.module}.{each.name}"
                    found[whole if whole in texts else node.module].add(name)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    found[each.name].add(name)
    return found


def slivers(texts: Mapping[str, str]) -> list[str]:
    """Short modules that only one other module of their room imports."""
    by = importers(texts)
    short = []
    for name, text in texts.items():
        others = by[name]
        if len(others) == 1 and text.count("\n") < _SLIVER and name.count(".") > 1:
            (other,) = others
            if other.split(".")[1:2] == name.split(".")[1:2]:
                short.append(name)
    return short


def families(files: Iterable[Path]) -> dict[str, int]:
    """Files of one folder that share the first word of their names."""
    counts = Counter(
        f"{file.parent}/{file.stem.split('_')[0]}_*"
        for file in files
        if "_" in file.stem.strip("_")
    )
    return {name: count for name, count in counts.items() if count >= _FAMILY}


def names_of_classes(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """Public classes that are defined in more than one module."""
    found: dict[str, list[str]] = defaultdict(list)
    for name, text in texts.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(name)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def constructions(texts: Mapping[str, str]) -> int:
    """Places outside of the store's room that open a store."""
    return sum(
        len(_OPENERS.findall(text))
        for name, text in texts.items()
        if not name.startswith("recrawl.store")
    )


def main() -> None:
    """Print the numbers."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--source", type=Path, default=Path("src/recrawl"))
    parser.add_argument("--names", action="store_true", help="also list what was counted")
    asked = parser.parse_args()
    files = sorted(asked.source.rglob("*.py"))
    texts = {_module(file, asked.source): file.read_text(encoding="utf-8") for file in files}
    sizes = [text.count("\n") for text in texts.values()]
    folders = Counter(str(file.parent.relative_to(asked.source.parent)) for file in files)
    twice, short, alike = names_of_classes(texts), slivers(texts), families(files)
    print(f"files               {len(files):,}")
    print(f"lines               {sum(sizes):,}")
    print(f"code lines          {sum(map(code_lines, texts.values())):,}")
    print(f"lines of a file     {median(sizes):.0f} in the middle, {max(sizes)} at most")
    print("largest folders     " + ", ".join(f"{n} {c}" for n, c in folders.most_common(5)))
    print(f"classes named twice {len(twice)}")
    print(f"slivers             {len(short)}")
    print(f"prefix families     {len(alike)} ({sum(alike.values())} files)")
    print(f"store constructions {constructions(texts)}")
    if asked.names:
        for title, rows in (("twice", twice), ("slivers", short), ("families", alike)):
            print(f"\n{title}:", *sorted(map(str, rows)), sep="\n  ")


def _module(file: Path, source: Path) -> str:
    parts = file.with_suffix("").relative_to(source.parent).parts
    return ".".join(parts).removesuffix(".__init__")


if __name__ == "__main__":
    main()
