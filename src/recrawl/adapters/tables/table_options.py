"""How tables are read, where their files do not tell: what options say, checked.

Light to import, for the command line does so before it knows what is asked of it.

Touches: the system's time zones.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from datetime import UTC
from typing import TYPE_CHECKING

from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import tzinfo

    from recrawl.parse.time_forms import TimeForm

# How a caller names a column: with an option of the command, or an argument of a function.
COLUMN_OPTION = "--column {}={}"
COLUMNS_ARGUMENT = 'columns={{"{}": "{}"}}'

_ASCII = "".join(map(chr, range(1, 128)))
_DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How tables are read, where their files do not tell.

    Args:
        columns: Their name of each of our columns, where it differs; empty where there is none.
        skip_bad_rows: Count malformed rows instead of refusing a file.
        delimiter: What separates cells of CSV; empty for what the header tells.
        time_zone: Time zone of times without an offset; None for UTC.
        remarks: What a reader of the result should know of all these tables, once each.
        time_form: How times are written; None for any usual form.
        change_words: What words for true and false mean; None for the usual ones.
        encoding: Codec of text in files; empty for UTF-8.
        rename: How a caller names a column, one of the above; empty where none can be named.
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    skip_bad_rows: bool = False
    delimiter: str = ""
    time_zone: tzinfo | None = None
    remarks: dict[str, None] = field(default_factory=dict)
    time_form: TimeForm | None = None
    change_words: Mapping[str, int] | None = None
    encoding: str = ""
    rename: str = field(default="", compare=False)

    @classmethod
    def of(
        cls,
        columns: Mapping[str, str] | None = None,
        *,
        skip_bad_rows: bool = False,
        delimiter: str = "",
        tz: str = "",
    ) -> TableOptions:
        """Options as callers of functions write them, checked.

        Args:
            columns: Their name of each of our columns, where it differs.
            skip_bad_rows: Count malformed rows instead of refusing a file.
            delimiter: What separates cells of CSV, such as `tab` or `;`; empty for any.
            tz: Time zone of times without an offset, such as `Europe/Berlin`; empty for UTC.
        """
        return cls(
            columns or {},
            skip_bad_rows,
            delimiter_of(delimiter),
            time_zone_of(tz),
            rename=COLUMNS_ARGUMENT,
        )


def time_form_of(text: str) -> TimeForm | None:
    """The form of times that somebody names, such as `%d/%m/%Y`; None for none."""
    from recrawl.parse.time_forms import TimeForm

    return TimeForm.of(text) if text else None


def change_words_of(true: str, false: str) -> Mapping[str, int] | None:
    """What words mean, the usual ones and those of two lists such as `changed,new`; None for none.

    >>> words = change_words_of("geändert, neu", "gleich")
    >>> words["neu"], words["gleich"], words["yes"]
    (1, 0, 1)
    """
    from recrawl.parse.cells import CHANGE_WORDS

    if not true and not false:
        return None
    given = [{word.strip().lower() for word in text.split(",")} for text in (true, false)]
    both = given[0] & given[1] - {""}
    if both:
        raise InvalidParameter(f"true and false must be different words (got {min(both)!r} twice)")
    named = dict.fromkeys(given[0], 1) | dict.fromkeys(given[1], 0)
    return {**CHANGE_WORDS, **{word: value for word, value in named.items() if word}}


def encoding_of(name: str) -> str:
    """Codec of text, by any of its names in Python, such as `latin-1`; empty for UTF-8.

    >>> encoding_of("Latin-1"), encoding_of("windows-1252"), encoding_of("")
    ('iso8859-1', 'cp1252', '')
    """
    if not name:
        return ""
    try:
        codec = codecs.lookup(name)
        # Lines and cells are told apart before they are decoded.
        if _ASCII.encode(codec.name) == _ASCII.encode():
            return codec.name
    except (LookupError, ValueError):
        pass
    raise InvalidParameter(
        f"encoding must name one that contains ASCII, such as latin-1 or cp1252 (got {name!r})"
    )


def delimiter_of(text: str) -> str:
    """What separates cells, from a name such as `tab` or the letter itself; empty for any.

    >>> delimiter_of("semicolon"), delimiter_of("^"), delimiter_of("")
    (';', '^', '')
    """
    found = _DELIMITERS.get(text.strip().lower(), text)
    if found and (len(found) > 1 or found.isalnum() or not found.isascii() or found in '"\r\n\0'):
        raise InvalidParameter(
            f"delimiter must be comma, semicolon, tab, pipe or one mark (got {text!r})"
        )
    return found


def time_zone_of(name: str) -> tzinfo | None:
    """Time zone of a name such as `Europe/Berlin`; None for none."""
    from zoneinfo import ZoneInfo, available_timezones

    if not name:
        return None
    if name.upper() == "UTC":  # needs no database
        return UTC
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        if not available_timezones():
            message = f"tz needs the system's time zones: pip install tzdata (got {name!r})"
            raise InvalidParameter(message) from None
        message = f"tz must name a time zone such as Europe/Berlin or UTC (got {name!r})"
        raise InvalidParameter(message) from None
