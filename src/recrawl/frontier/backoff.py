"""Exponential backoff: when to look again at pages that fail, vanish, or are refused.

A failure says nothing of the page: it is tried again soon, then ever later. A page that its host
calls gone is looked at once more before that is believed, and then ever more rarely, since pages
come back. A page that robots.txt forbids is asked about again when robots.txt may have changed.

Pure.
"""

from __future__ import annotations

from recrawl.units import days

# Decisions, not tuned on data.
_FIRST_RETRY, _LAST_RETRY = days("10m"), days("2d")
_CONFIRM, _FIRST_RECHECK, _LAST_RECHECK = days("1h"), days("1d"), days("90d")
_FIRST_REFUSED, _LAST_REFUSED = days("1d"), days("30d")
_MOST_DOUBLINGS = 40


def retry_after(failures: int) -> float:
    """Days until a page is tried again that has failed so many times in a row.

    >>> [round(retry_after(failures) * 24, 2) for failures in (1, 2, 3, 20)]
    [0.17, 0.33, 0.67, 48.0]
    """
    return _backoff(_FIRST_RETRY, failures - 1, _LAST_RETRY)


def recheck_after(times: int) -> float:
    """Days until a page is looked at again that was found gone so many times in a row.

    The first time is to be confirmed, an hour later; the second time the page counts as gone.

    >>> [round(recheck_after(times), 3) for times in (1, 2, 3, 4, 20)]
    [0.042, 1.0, 2.0, 4.0, 90.0]
    """
    return _CONFIRM if times <= 1 else _backoff(_FIRST_RECHECK, times - 2, _LAST_RECHECK)


def robots_recheck_after(times: int) -> float:
    """Days until a page is asked about again that robots.txt has forbidden so many times in a row.

    >>> [robots_recheck_after(times) for times in (1, 2, 9)]
    [1.0, 2.0, 30.0]
    """
    return _backoff(_FIRST_REFUSED, times - 1, _LAST_REFUSED)


def _backoff(first: float, times: int, most: float) -> float:
    return min(first * 2.0 ** min(max(times, 0), _MOST_DOUBLINGS), most)
