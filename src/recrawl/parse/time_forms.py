r"""Forms that times are written in, as patterns with a group for each part.

    2026-01-31T13:05:00.5+01:00     ISO 8601, whatever is left out from behind
    31.01.2026 13:05                dots: the day comes first, whoever writes so
    %d/%m/%Y %H:%M                  what somebody says that it is, as for `strptime`

Where a form has only digits in its parts, a pattern finds them, and whole columns are read at once;
one with names of months or days is read cell by cell.

Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Sequence

_CLOCK = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d\d)"
    r"(?::(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,9}))?)?"
    r"(?: ?(?:(?P<utc>[Zz]|(?<= )(?:UTC|GMT))|[+-](?P<hours>\d\d):?(?P<minutes>\d\d)?))?"
)
_ISO = re.compile(
    r"(?P<year>\d{4})(?P<mark>[-/])(?P<month>\d\d)(?P=mark)(?P<day>\d\d)"
    rf"(?:[Tt ](?=\d\d:){_CLOCK})?",
    re.ASCII,
)
_DOTTED = re.compile(
    rf"(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}})(?:(?:[Tt ]|, ?){_CLOCK})?",
    re.ASCII,
)
USUAL_FORMS = (_ISO, _DOTTED)

# Parts of a form that are digits alone.
_PARTS = {
    "Y": r"(?P<year>\d{4})",
    "m": r"(?P<month>\d{1,2})",
    "d": r"(?P<day>\d{1,2})",
    "H": r"(?P<hour>\d{1,2})",
    "M": r"(?P<minute>\d{1,2})",
    "S": r"(?P<second>\d{1,2})",
    "f": r"(?P<fraction>\d{1,6})",
    "z": r"(?:(?P<utc>[Zz])|[+-](?P<hours>\d\d):?(?P<minutes>\d\d))",
    "%": "%",
}
_SAMPLE = datetime(2026, 1, 31, 13, 5, 59, tzinfo=UTC)
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class TimeForm:
    """A form that somebody named.

    Args:
        text: The form, as for `strptime`.
        patterns: Patterns of a whole cell; none where only `strptime` can tell.
    """

    text: str
    patterns: Sequence[re.Pattern[str]]

    @classmethod
    def of(cls, text: str) -> TimeForm:
        """Check a form: it must tell year, month and day.

        >>> TimeForm.of("%d/%m/%Y %H:%M").sample
        '31/01/2026 13:05'
        """
        try:
            whole = datetime.strptime(_SAMPLE.strftime(text), text)  # noqa: DTZ007 - a form may have no zone
            fits = len(text) <= _LONGEST and whole.date() == _SAMPLE.date()
        except (ValueError, re.error):  # the latter for a part that is there twice
            fits = False
        if not fits:
            must = "time-format must tell year, month and day, such as '%d/%m/%Y %H:%M'"
            raise InvalidParameter(f"{must} (got {text!r})")
        return cls(text, _patterns(text))

    @property
    def sample(self) -> str:
        """A time in this form."""
        return _SAMPLE.strftime(self.text)

    def moment(self, text: str) -> datetime | None:
        """A time in this form; None where it is none."""
        try:
            return datetime.strptime(text.strip(), self.text)  # noqa: DTZ007 - the caller knows the zone
        except ValueError:
            return None


def _patterns(text: str) -> list[re.Pattern[str]]:
    pattern, letters = "", iter(text)
    for letter in letters:
        if letter != "%":
            pattern += re.escape(letter)
            continue
        part = _PARTS.get(next(letters, ""))
        if part is None:
            return []
        pattern += part
    return [re.compile(pattern, re.ASCII)]
