r"""Reliability of a host's change signals: how often each was right, and what follows from that.

A host signals changes in several ways, and each may be wrong. A signal is checked whenever a visit
happens to know better, and now and then by a second request made for that alone.

| signal | right | wrong | silent |
|---|---|---|---|
| `not_modified` | asked whether a changed page was modified, the host sent it | "not modified" of a page that had changed | "not modified", and it was true |
| `etag` | equal content, equal tag | equal content, another tag | |
| `modified` | a change dated inside of its gap | dated outside of it, at the moment of the answer, or moved without a change | |
| `sitemap`, `feed` | a page named as changed had changed | a page named as changed had not | a change that was not named |
| `hint` | a page that somebody said had changed had changed | it had not | |
| `noise` | fetched twice at once, the page was the same | it differed | |

Of `not_modified` only changes are evidence: a host that always says "not modified" is right about
every page that never changes. So what counts is the share of *changes* that it denied.

Pure.
"""  # noqa: E501 - a table

from __future__ import annotations

from typing import NamedTuple

from recrawl.arrays.special import beta_quantile

NOT_MODIFIED, ETAG, MODIFIED, SITEMAP, FEED, NOISE, HINT = KINDS = (
    "not_modified",
    "etag",
    "modified",
    "sitemap",
    "feed",
    "noise",
    "hint",
)

_MOST_DENIED = 0.05  # share of changes that a host may deny before its "not modified" is worthless
_SILENT_FOR_ONE = 4.0  # times that "not modified" was true which count as much as a change told
_LEAST_AUDITED = 0.02
_ALONE = 1.0  # lies that may be those of one page, which is then fetched in full by itself
# Times in a row that a page may be called unmodified before it is fetched in full: at first, and
# after each such fetch. Decisions, not tuned on data.
_UNCHECKED = 2, 8, 32, 64
_PAIRS_FOR_ONE = 10.0  # pairs of the host without a difference that count as much as one of a page
_FIRST_FALSE = 0.01  # false changes a visit before anything is known, and
_FIRST_PAIRS = 10.0  # how many pairs of fetches that counts for
_PAIRS_OF_ALL = 10.0  # pairs of a host that all hosts together count for
_PAIRS_OF_HOST = 0.2  # pairs of a page that its host counts for: most pages differ always or never

# However right a host was, so many changes may come without its record.
_MOST_BELIEVED = 0.95
_LEAST_RIGHT = 0.5  # share of announcements that must be right
_CHANGES_OF_ALL = 4.0  # changes of a host that all hosts which announce any count for
_QUIET_DAYS = 10.0  # in which one false alarm is assumed before any was heard


class SignalRecord(NamedTuple):
    """How often one signal of a host was right.

    Attributes:
        right: Times it was right.
        wrong: Times it was wrong.
        silent: Times it gave no evidence: see the table above.
        quiet_days: Days without a change in which the signal was watched.

    Examples:
        One change in ten was denied, give or take:

        >>> record = SignalRecord(right=18, wrong=2)
        >>> round(record.wrong_share, 2), [round(end, 2) for end in record.band()]
        (0.12, [0.03, 0.25])
    """

    right: float = 0.0
    wrong: float = 0.0
    silent: float = 0.0
    quiet_days: float = 0.0

    @property
    def checked(self) -> float:
        """Times it was checked."""
        return self.right + self.wrong

    @property
    def wrong_share(self) -> float:
        """Estimated share of wrong signals (Jeffreys prior)."""
        return (self.wrong + 0.5) / (self.checked + 1)

    @property
    def counts(self) -> dict[str, float]:
        """The counts, by name."""
        return self._asdict()

    def band(self, level: float = 0.9) -> tuple[float, float]:
        """Credible interval of the share of wrong signals."""
        tail = (1 - level) / 2
        counts = self.wrong + 0.5, self.right + 0.5
        return beta_quantile(*counts, tail), beta_quantile(*counts, 1 - tail)

    def plus(
        self,
        *,
        right: float = 0.0,
        wrong: float = 0.0,
        silent: float = 0.0,
        quiet_days: float = 0.0,
    ) -> SignalRecord:
        """The record with more counts added."""
        return SignalRecord(
            self.right + right,
            self.wrong + wrong,
            self.silent + silent,
            self.quiet_days + quiet_days,
        )


NO_RECORD = SignalRecord()


def denies(record: SignalRecord) -> bool:
    """Whether a host denies so many changes that its "not modified" is worth nothing.

    One denied change, where the host has told of others, may be the fault of one page.

    >>> [denies(SignalRecord(right, wrong)) for right, wrong in [(0, 1), (9, 1), (9, 2), (60, 2)]]
    [True, False, True, False]
    """
    alone = record.right > 0 and record.wrong <= _ALONE
    return record.wrong > 0 and not alone and record.wrong > _MOST_DENIED * record.checked


def most_unchecked(proved: int) -> int:
    """Times in a row that a page may be called unmodified before it is fetched in full.

    Args:
        proved: Times that it was fetched in full for that reason.

    Examples:
        >>> [most_unchecked(proved) for proved in range(5)]
        [2, 8, 32, 64, 64]
    """
    return _UNCHECKED[min(proved, len(_UNCHECKED) - 1)]


def audit_chance(record: SignalRecord) -> float:
    """Probability of an audit: fetching a page in full after it was said to be not modified.

    >>> [audit_chance(SignalRecord(**counts)) for counts in ({}, {"right": 9}, {"silent": 36})]
    [1.0, 0.1, 0.1]
    """
    return max(1 / (1 + record.right + record.silent / _SILENT_FOR_ONE), _LEAST_AUDITED)


def dates_changes(record: SignalRecord) -> bool:
    """Whether a host's dates are right more often than not, or were never checked.

    >>> dates_changes(SignalRecord(right=5, wrong=1)), dates_changes(SignalRecord(wrong=1))
    (True, False)
    """
    return record.wrong <= record.right


def check_chance(checked: int, noise: SignalRecord = NO_RECORD) -> float:
    """Probability of checking a change by a second fetch, given the double fetches so far.

    A page that differs by itself shows a change at every visit, and so comes up soon even where
    its host has shown no other.

    Args:
        checked: Pairs of fetches of the page.
        noise: Pairs of fetches of the host's pages.

    Examples:
        >>> check_chance(0), check_chance(3), check_chance(0, SignalRecord(right=40))
        (1.0, 0.25, 0.2)
    """
    quiet = noise.checked / (_PAIRS_FOR_ONE * (1 + _PAIRS_FOR_ONE * noise.wrong))
    return max(1 / (1 + checked + quiet), _LEAST_AUDITED)


def sample_chance(noise: SignalRecord) -> float:
    """Probability that any visit fetches its page twice.

    >>> sample_chance(SignalRecord()), sample_chance(SignalRecord(right=90))
    (0.25, 0.02)
    """
    return max(1 / (4 + noise.checked), _LEAST_AUDITED)


def false_changes(
    noise: SignalRecord, of_all: SignalRecord, checked: float = 0.0, differed: float = 0.0
) -> float:
    """False-change rate: probability that a visit to an unchanged page shows a change.

    A page that was fetched twice says most, its host less, all hosts together least.

    Args:
        noise: Pairs of fetches of the host's pages.
        of_all: Those of all hosts.
        checked: Pairs of fetches of the page.
        differed: How many of them differed.

    Examples:
        Of a page that always differs, of another on the same host, and where nothing is known:

        >>> host = SignalRecord(right=18, wrong=2)
        >>> [round(false_changes(host, host, *page), 2) for page in [(5, 5), (0, 0)]]
        [0.96, 0.09]
        >>> false_changes(SignalRecord(), SignalRecord())
        0.01
    """
    everywhere = (of_all.wrong + _FIRST_FALSE * _FIRST_PAIRS) / (of_all.checked + _FIRST_PAIRS)
    here = (noise.wrong + everywhere * _PAIRS_OF_ALL) / (noise.checked + _PAIRS_OF_ALL)
    return (differed + here * _PAIRS_OF_HOST) / (checked + _PAIRS_OF_HOST)


def is_heeded(record: SignalRecord) -> bool:
    """Whether a host announces changes, in sitemaps or feeds, and is right often enough.

    Dates that move with every build say nothing, however many changes they come with.

    >>> is_heeded(SignalRecord(right=1)), is_heeded(SignalRecord(right=5, wrong=9))
    (True, False)
    """
    return record.right > 0 and precision(record) >= _LEAST_RIGHT


def precision(record: SignalRecord) -> float:
    """Share of a host's announcements that are right, or of hints for its pages.

    >>> precision(SignalRecord()), precision(SignalRecord(right=8, wrong=1))
    (1.0, 0.9)
    """
    return (record.right + 1) / (record.right + record.wrong + 1)


def recall(silent: float, awaited: float, of_others: float) -> float:
    """Share of changes that a host announces.

    Visits follow announcements, so it is not the share of the changes found that were announced.
    Only gaps without an announcement tell: how many changes visits met there, of how many they
    would have met if none were ever announced.

    Args:
        silent: Unannounced changes that were found.
        awaited: Changes that visits would have met in gaps without an announcement.
        of_others: The share that other hosts announce, which counts while there is little else.

    Examples:
        Nothing is known, and one of nine awaited changes was found, where others announce 70 %:

        >>> round(recall(0.0, 0.0, 0.7), 2), round(recall(1.0, 9.0, 0.7), 2)
        (0.7, 0.83)
    """
    unannounced = max(silent, 0.0) + _CHANGES_OF_ALL * (1 - of_others)
    return min(max(1 - unannounced / (awaited + _CHANGES_OF_ALL), 0.0), _MOST_BELIEVED)


def false_alarms(record: SignalRecord) -> float:
    """Times a day that a host announces a change of a page that did not change.

    >>> false_alarms(SignalRecord()), false_alarms(SignalRecord(wrong=1, quiet_days=30.0))
    (0.1, 0.05)
    """
    return (record.wrong + 1) / (record.quiet_days + _QUIET_DAYS)
