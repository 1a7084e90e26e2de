"""Refuse a locked package whose licence is not allowed, or not known.

    .venv/bin/python scripts/licences.py requirements.lock requirements-dev.lock

What a package says of itself counts: its SPDX expression, else its field `License`, else its
classifiers. Those who say it in words of their own are translated, and those who say nothing that
can be read, or are not installed here, stand in a table with the reason.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from importlib.metadata import Distribution

# Permissive ones, and MPL-2.0: it asks that changes to its own files are published, and nothing of
# a program that uses them unchanged, as we do.
ALLOWED = frozenset(
    (
        *("0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC"),
        *("MIT", "MIT-0", "MIT-CMU", "MPL-2.0", "PSF-2.0", "ZPL-2.1", "Zlib"),
    )
)

_WORDS = {
    "Apache 2.0": "Apache-2.0",
    "Apache Software License": "Apache-2.0",
    "BSD 2-Clause License": "BSD-2-Clause",
    "BSD License": "BSD-3-Clause",  # of two clauses or three: both are allowed
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT Licence": "MIT",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "PSFL": "PSF-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

# Read in the package itself.
EXCEPTIONS = {
    "axe-playwright-python": ("MIT", "says it in its file LICENSE only"),
    "apsw": ("MIT", 'says "any-OSI": any licence that the Open Source Initiative approves'),
    "brotlicffi": ("MIT", "for PyPy only, so it is not installed here"),
    "kubernetes-validate": ("Apache-2.0", 'says "Apache"; its file LICENSE has version 2.0'),
    "pydispatcher": ("BSD-3-Clause", "says it by a reference of its own"),
    "pyopenssl": ("Apache-2.0", "says it by a reference of its own"),
    "pypydispatcher": ("BSD-3-Clause", "for PyPy only, so it is not installed here"),
    "protobuf": ("BSD-3-Clause", "says it by a reference of its own"),
    "pypdfium2": ("BSD-3-Clause", "or Apache-2.0; PDFium and what it holds are as permissive"),
    "httpx2-jsfetch": ("BSD-3-Clause", "for browsers only, so it is not installed here"),
    "pywin32": ("PSF-2.0", "for Windows only; its adodbapi, which nothing loads, is LGPL-2.1"),
    "colorama": ("BSD-3-Clause", "for Windows only, so it may not be installed here"),
}

# Of libraries that are loaded as they are, and that anybody can replace: the LGPL asks for no more.
UNCHANGED = {
    "psycopg": "LGPL-3.0-only",
    "psycopg-binary": "LGPL-3.0-only",
}

_PINNED = re.compile(r"([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?==([^\s;\\]+)(?: ; ([^\\\n]+))?")
_VIA = re.compile(r"^    # (?:via +|  +)([\w.-]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_TOKEN = re.compile(r"[()]|[^\s()]+")


class Pinned(NamedTuple):
    """A package of a lock, on which machines it is needed, by whom, and its files' hashes."""

    name: str
    version: str
    marker: str
    needed_by: tuple[str, ...]
    hashes: tuple[str, ...]


def pinned(lock: Path) -> list[Pinned]:
    """Packages of a lock, in its order; one that has several versions comes several times."""
    parts = re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.MULTILINE)
    found = [(_PINNED.match(part), part) for part in parts if part.strip()]
    return [
        Pinned(
            *(match[1], match[2], (match[3] or "").strip()),
            tuple(_VIA.findall(part)),
            tuple(_HASH.findall(part)),
        )
        for match, part in found
        if match is not None
    ]


def licence_of(name: str) -> str:
    """Licence of a package as an SPDX expression; empty where it is not known."""
    if name in EXCEPTIONS:
        return EXCEPTIONS[name][0]
    try:
        return _said_by(distribution(name))
    except PackageNotFoundError:
        return ""


def _said_by(package: Distribution) -> str:
    about = package.metadata
    expression, field = (
        (about.get_all(name) or [""])[0] for name in ("License-Expression", "License")
    )
    if expression:
        return str(expression)
    field = str(field) or "UNKNOWN"
    if field != "UNKNOWN" and "\n" not in field:  # else its whole text, or nothing
        return field if is_expression(field) else _identifier(field)
    heads = [line.split(" :: ") for line in about.get_all("Classifier") or []]
    said = [parts[-1] for parts in heads if parts[0] == "License" and parts[-1] != "DFSG approved"]
    # Several are a choice, or hold for parts: all must be allowed.
    return " AND ".join(map(_identifier, said))


def _identifier(words: str) -> str:
    """SPDX identifier that is meant by some words, or a name for them."""
    return _WORDS.get(words) or "LicenseRef-" + re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-")


def is_expression(text: str) -> bool:
    """Whether a text is made of SPDX identifiers that we know."""
    names = [token for token in _TOKEN.findall(text) if token not in ("(", ")", "AND", "OR")]
    return bool(names) and all(name in ALLOWED for name in names)


def allows(name: str, licence: str) -> bool:
    """Whether a package may be used under its licence."""
    return is_allowed(licence) or UNCHANGED.get(name) == licence


def is_allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves us a choice that is allowed."""
    tokens = _TOKEN.findall(expression)
    return bool(tokens) and _any_of(tokens) and not tokens


def _any_of(tokens: list[str]) -> bool:
    allowed = _all_of(tokens)
    while tokens and tokens[0] == "OR":
        tokens.pop(0)
        allowed = _all_of(tokens) or allowed
    return allowed


def _all_of(tokens: list[str]) -> bool:
    allowed = _one(tokens)
    while tokens and tokens[0] == "AND":
        tokens.pop(0)
        allowed = _one(tokens) and allowed
    return allowed


def _one(tokens: list[str]) -> bool:
    token = tokens.pop(0) if tokens else ""
    if token != "(":  # noqa: S105 - a bracket, no secret
        return token in ALLOWED
    allowed = _any_of(tokens)
    return bool(tokens) and tokens.pop(0) == ")" and allowed


def main(locks: list[str]) -> int:
    """Print what is refused; 1 if anything is."""
    names = sorted({package.name for lock in locks for package in pinned(Path(lock))})
    refused = 0
    for name in names:
        licence = licence_of(name)
        if not allows(name, licence):
            refused += 1
            print(f"{name}: licence {licence or 'not known'} is not allowed (scripts/licences.py)")
    print(f"{len(names)} packages, {refused} refused.")
    return bool(refused)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
