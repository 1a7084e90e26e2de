r"""Paths into JSON: a small part of RFC 9535, enough to find a list and the parts of its items.

    $.jobs[*]            every element of the list `jobs`
    jobs                 the same value as $.jobs: the `$.` may be left out
    $.data["all jobs"]   a name that is no word, in quotes
    $.pages[0].title     the first of a list
    $.pages[-1]          its last
    $.*                  every member of an object, or element of a list

There are no filters, slices or recursive descents: a path finds at most as many values as the
document has, in one walk.

Pure.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, TypeAlias

from recrawl.errors import InvalidParameter

_LONGEST = 500
_STEP = re.compile(
    r"""\.\s*(?P<name>[^\W\d][\w-]*|\d[\w-]*)   # .name
      | (?P<all>\.\*|\[\s*\*\s*\])              # .* or [*]
      | \[\s*(?P<index>-?\d{1,9})\s*\]          # [3]
      | \[\s*(?P<quoted>"(?:[^"\\]|\\.)*"|'[^'\\]*')\s*\]""",
    re.VERBOSE,
)
_RULE = "path must look like $.jobs[*] or location.name"


class _Every:
    """The step to all members."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "*"


EVERY = _Every()
Step: TypeAlias = str | int | _Every


@dataclass(frozen=True, slots=True)
class JsonPath:
    """Steps from a value to values within it.

    Args:
        steps: Names of members, numbers of elements, or `EVERY`.

    Examples:
        >>> JsonPath.read("$.jobs[*].id")
        JsonPath(steps=('jobs', *, 'id'))
        >>> page = {"jobs": [{"id": 7, "at": {"city": "Bern"}}, {"id": 8}]}
        >>> JsonPath.read("$.jobs[*]").all(page)
        [{'id': 7, 'at': {'city': 'Bern'}}, {'id': 8}]
        >>> JsonPath.read("at.city").first(page["jobs"][0])
        'Bern'
        >>> JsonPath.read("at.city").first(page["jobs"][1]) is None
        True
    """

    steps: tuple[Step, ...]

    @classmethod
    def read(cls, text: str) -> JsonPath:
        """Parse a path.

        Raises:
            InvalidParameter: The text is not a path.
        """
        wanted = text.strip()
        if wanted.startswith("$"):
            rest = wanted[1:]
        else:
            rest = wanted if wanted.startswith("[") else f".{wanted}"
        if not wanted or len(wanted) > _LONGEST:
            raise InvalidParameter(f"{_RULE} (got {text[:_LONGEST]!r})")
        steps: list[Step] = []
        place = 0
        while place < len(rest):
            match = _STEP.match(rest, place)
            if match is None:
                raise InvalidParameter(f"{_RULE} (got {text!r})")
            steps.append(_step(match, text))
            place = match.end()
        return cls(tuple(steps))

    def all(self, value: Any) -> list[Any]:  # noqa: ANN401 - whatever JSON holds
        """Every value that the path leads to, in the order of the document."""
        found = [value]
        for step in self.steps:
            found = [inner for outer in found for inner in _inside(outer, step)]
        return found

    def first(self, value: Any) -> Any:  # noqa: ANN401 - whatever JSON holds
        """The first value that the path leads to; None where there is none."""
        found = self.all(value)
        return found[0] if found else None


def _step(match: re.Match[str], text: str) -> Step:
    if match["all"]:
        return EVERY
    if match["index"]:
        return int(match["index"])
    quoted = match["quoted"]
    if quoted is None:
        return match["name"]
    if quoted.startswith("'"):
        return quoted[1:-1]
    try:
        return str(json.loads(quoted))
    except ValueError:
        raise InvalidParameter(f"{_RULE} (got {text!r})") from None


def _inside(value: Any, step: Step) -> list[Any]:  # noqa: ANN401 - whatever JSON holds
    """Values that one step leads to."""
    if isinstance(step, _Every):
        if isinstance(value, dict):
            return list(value.values())
        return value if isinstance(value, list) else []
    if isinstance(step, int):
        inside = isinstance(value, list) and -len(value) <= step < len(value)
        return [value[step]] if inside else []
    return [value[step]] if isinstance(value, dict) and step in value else []
