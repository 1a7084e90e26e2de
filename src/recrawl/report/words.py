"""Figures as people read them.

Pure.
"""

from __future__ import annotations

import math
import re

import numpy as np

from recrawl.units import duration, instant_after_epoch

_CONSONANT_Y = re.compile("[^aeiou]y$")
_UNITS = ("kB", "MB", "GB", "TB")
_FOUR_DIGITS = 999.5


def every(days: float) -> str:
    """Mean interval in words; a dash where there is none.

    >>> [every(0.25), every(float("inf")), every(float("nan"))]
    ['6.0h', 'never', '-']
    """
    return "-" if math.isnan(days) else duration(days)


def percent(share: float) -> str:
    """Share in per cent; a dash where there is none.

    >>> [percent(0.256), percent(0.0004), percent(float("nan"))]
    ['26 %', '0 %', '-']
    """
    return "-" if math.isnan(share) else f"{100 * share:.0f} %"


def tenths(share: float) -> str:
    """A share in per cent to a tenth; a dash where there is none.

    >>> [tenths(0.256), tenths(float("nan"))]
    ['25.6 %', '-']
    """
    return "-" if math.isnan(share) else f"{100 * share:.1f} %"


def cut(text: str, longest: int) -> str:
    """The beginning of a text that is too long.

    >>> cut("bakeries", 5)
    'bake…'
    """
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def minute(day: float) -> str:
    """The instant some days after 1970 to the minute, in UTC.

    >>> minute(20_000.5)
    '2024-10-04 12:00'
    """
    return str(np.datetime_as_string(instant_after_epoch(day), unit="m")).replace("T", " ")


def counted(number: int, thing: str) -> str:
    """A number of things, one or several.

    >>> [counted(1, "page"), counted(1234, "page"), counted(0, "copy"), counted(2, "push")]
    ['1 page', '1,234 pages', '0 copies', '2 pushes']
    """
    return f"1 {thing}" if number == 1 else f"{number:,} {_plural(thing)}"


def _plural(thing: str) -> str:
    if _CONSONANT_Y.search(thing):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith(("s", "x", "ch", "sh")) else f"{thing}s"


def clock_sentences(first: int, second: int, skipped: int) -> list[str]:
    """How times were read that clocks showed twice, or never.

    >>> clock_sentences(0, 0, 1)
    ['1 time in an hour that clocks skipped: read as if the clocks had not been changed.']
    """
    said = []
    if first + second:
        said.append(
            f"{counted(first + second, 'time')} in an hour that clocks showed twice: by the order "
            f"of rows, {first:,} in the first and {second:,} in the second."
        )
    if skipped:
        times = counted(skipped, "time")
        said.append(
            f"{times} in an hour that clocks skipped: read as if the clocks had not been changed."
        )
    return said


def visits_text(number: float) -> str:
    """A number of visits, to two figures at least.

    >>> [visits_text(1234.5), visits_text(3.0), visits_text(0.25)]
    ['1,234', '3', '0.2']
    """
    whole = number >= 10 or number == round(number)  # noqa: PLR2004 - two figures
    return f"{number:,.0f}" if whole else f"{number:.1f}"


def size_text(size: int) -> str:
    """Bytes as settings write them: 1 GB is 1024 MB.

    >>> [size_text(512), size_text(3 << 20), size_text(1536 << 20), size_text(1_045_000)]
    ['512 bytes', '3 MB', '1.5 GB', '1021 kB']
    """
    if size < 1 << 10:
        return counted(size, "byte")
    power = min((size.bit_length() - 1) // 10, len(_UNITS))
    figure = size / (1 << 10 * power)
    return f"{figure:.{3 if figure < _FOUR_DIGITS else 4}g} {_UNITS[power - 1]}"
