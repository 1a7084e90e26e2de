"""The paper's score of a schedule: quality over crawls. It grows by crawling less, so never alone.

Pure.
"""

from __future__ import annotations

from recrawl.errors import InvalidParameter


def quality_per_crawl(quality: float, crawls: int) -> float:
    r"""Average quality over the number of crawls, $\rho = Q_T / C$.

    A schedule that breaks its threshold scores above one that keeps it: print the share of time
    below the threshold beside it.

    >>> quality_per_crawl(0.93, 10)
    0.093
    """
    if crawls < 1:
        raise InvalidParameter(f"crawls must be at least 1 (got {crawls})")
    return quality / crawls


def improvement(score: float, reference: float) -> float:
    """By what share a score is above another.

    >>> round(improvement(0.0941, 0.0855), 4)
    0.1006
    """
    return score / reference - 1
