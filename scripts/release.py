"""Make a release of what is here: join the fragments of the changelog, and set the version.

    .venv/bin/python scripts/release.py 0.2.0 [--date 2026-11-18]

Writes `CHANGELOG.md` and the version in `src/recrawl/__init__.py`, and deletes the fragments. What
is wrong with a fragment is said before anything is written.

Touches: the files of the project.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KINDS = {"breaking": "Breaking", "added": "Added", "changed": "Changed", "fixed": "Fixed"}
_WIDTH = 110
_UNRELEASED = "## Unreleased"
_VERSION = re.compile(r'^__version__ = "(.*)"$', re.MULTILINE)


def fragments_in(folder: Path) -> dict[str, list[str]]:
    """Texts of the fragments by kind, in the order of their names.

    Raises:
        ValueError: A fragment has no kind that there is, or no text.
    """
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for path in sorted(folder.glob("*.md")):
        if path.name == "README.md":
            continue
        _, _, kind = path.stem.rpartition(".")
        text = " ".join(path.read_text().split())
        if kind not in found or not text:
            raise ValueError(f"{path.name}: a fragment is named what-is-new.kind.md and has a text")
        found[kind].append(text)
    return found


def with_release(changelog: str, fragments: dict[str, list[str]], heading: str) -> str:
    """A changelog with a release on top, before those that it has."""
    before, mark, after = changelog.partition(_UNRELEASED)
    if not mark:
        raise ValueError(f"CHANGELOG.md has no line {_UNRELEASED!r}")
    rest = re.search(r"^## ", after, re.MULTILINE)
    kept, older = (after[: rest.start()], after[rest.start() :]) if rest else (after, "")
    parts = [f"{before}{_UNRELEASED}\n", f"{heading}\n"]
    for kind, title in KINDS.items():
        earlier = _section(kept, title)
        entries = [*earlier, *(_entry(text) for text in fragments[kind])]
        if entries:
            parts.append(f"### {title}\n\n" + "\n".join(entries) + "\n")
    return "\n".join([*parts, older]) if older else "\n".join(parts)


def _section(text: str, title: str) -> list[str]:
    """Entries under a title, as they stand."""
    found = re.search(rf"^### {title}\n+(.*?)\n*(?=^### |\Z)", text, re.MULTILINE | re.DOTALL)
    return [found[1]] if found else []


def _entry(text: str) -> str:
    return textwrap.fill(
        text,
        _WIDTH,
        initial_indent="- ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def main() -> None:
    """Release a version."""
    asked = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    asked.add_argument("version")
    asked.add_argument("--date", default=f"{datetime.now(UTC):%Y-%m-%d}")
    words = asked.parse_args()
    if not re.fullmatch(r"\d+\.\d+\.\d+", words.version):
        sys.exit(f"scripts/release.py: a version has three numbers (got {words.version})")
    package, changelog = ROOT / "src/recrawl/__init__.py", ROOT / "CHANGELOG.md"
    try:
        fragments = fragments_in(ROOT / "changelog.d")
        heading = f"## {words.version} ({words.date})"
        text = with_release(changelog.read_text(), fragments, heading)
    except ValueError as error:
        sys.exit(f"scripts/release.py: {error}")
    changelog.write_text(text)
    package.write_text(_VERSION.sub(f'__version__ = "{words.version}"', package.read_text()))
    for path in (ROOT / "changelog.d").glob("*.*.md"):
        path.unlink()


if __name__ == "__main__":
    main()
