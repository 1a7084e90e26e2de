r"""Whom to believe: how often the word of a host was found right, and what follows from that.

Hosts tell of changes in several ways, and lie in each. Every kind of word is checked whenever a
visit happens to know better, and now and then by a second request made for that alone.

| kind | right | wrong | silent |
|---|---|---|---|
| `not_modified` | asked whether a changed page was modified, the host sent it | "not modified" of a page that had changed | "not modified", and it was true |
| `etag` | equal content, equal tag | equal content, another tag | |
| `modified` | a change dated inside of its gap | dated outside of it, at the moment of the answer, or moved without a change | |
| `sitemap`, `feed` | a page named as changed had changed | a page named as changed had not | a change that was not named |
| `noise` | fetched twice at once, the page was the same | it differed | |

Of `not_modified` only changes are evidence: a host that always says "not modified" is right about
every page that never changes. So what counts is the share of *changes* that it denied.

Pure.
"""  # noqa: E501 - a table

from __future__ import annotations

from dataclasses import dataclass

NOT_MODIFIED, ETAG, MODIFIED, SITEMAP, FEED, NOISE = KINDS = (
    "not_modified",
    "etag",
    "modified",
    "sitemap",
    "feed",
    "noise",
)

_MOST_DENIED = 0.05  # share of changes that a host may deny before its "not modified" is worthless
_SILENT_FOR_ONE = 4.0  # times that "not modified" was true which count as much as a change told
_LEAST_AUDITED = 0.02
_PAIRS_FOR_ONE = 10.0  # pairs of the host without a difference that count as much as one of a page
_FIRST_FALSE = 0.01  # false changes a visit before anything is known, and
_FIRST_PAIRS = 10.0  # how many pairs of fetches that counts for
_PAIRS_OF_ALL = 10.0  # pairs of a host that all hosts together count for
_PAIRS_OF_HOST = 0.2  # pairs of a page that its host counts for: most pages differ always or never

# However right a host was, so many changes may come without its word.
_MOST_BELIEVED = 0.95
_LEAST_RIGHT = 0.5  # share of announcements that must be right
_CHANGES_OF_ALL = 4.0  # changes of a host that all hosts which announce any count for
_QUIET_DAYS = 10.0  # in which one false alarm is assumed before any was heard


@dataclass(frozen=True, slots=True)
class Word:
    """How often a host's word of one kind was found right.

    Args:
        right: Times it was right.
        wrong: Times it was wrong.
        silent: Times nothing was told, or nothing proved: see the table above.
        quiet_days: Days without a change in which it was watched.

    Examples:
        One change in ten was denied, give or take:

        >>> word = Word(right=18, wrong=2)
        >>> round(word.lies, 2), [round(end, 2) for end in word.band()]
        (0.12, [0.03, 0.25])
    """

    right: float = 0.0
    wrong: float = 0.0
    silent: float = 0.0
    quiet_days: float = 0.0

    @property
    def heard(self) -> float:
        """How often it could be checked."""
        return self.right + self.wrong

    @property
    def lies(self) -> float:
        """Share of words that are wrong, as far as is known."""
        return (self.wrong + 0.5) / (self.heard + 1)

    @property
    def counts(self) -> dict[str, float]:
        """What was counted, by name."""
        return {name: getattr(self, name) for name in Word.__slots__}

    def band(self, level: float = 0.9) -> tuple[float, float]:
        """Ends of the band that holds the share of wrong words with a probability."""
        from scipy.special import betaincinv  # slow to load: only where it is shown

        tail = (1 - level) / 2
        counts = self.wrong + 0.5, self.right + 0.5
        return float(betaincinv(*counts, tail)), float(betaincinv(*counts, 1 - tail))

    def plus(
        self,
        *,
        right: float = 0.0,
        wrong: float = 0.0,
        silent: float = 0.0,
        quiet_days: float = 0.0,
    ) -> Word:
        """The word after more was heard."""
        return Word(
            self.right + right,
            self.wrong + wrong,
            self.silent + silent,
            self.quiet_days + quiet_days,
        )


NOTHING_HEARD = Word()


def denies(word: Word) -> bool:
    """Whether a host denies so many changes that its "not modified" is worth nothing.

    >>> denies(Word(wrong=1)), denies(Word(right=30, wrong=1)), denies(Word())
    (True, False, False)
    """
    return word.wrong > 0 and word.wrong > _MOST_DENIED * word.heard


def audit_chance(word: Word) -> float:
    """Chance with which a "not modified" is checked by fetching the page all the same.

    >>> audit_chance(Word()), audit_chance(Word(right=9)), audit_chance(Word(silent=36))
    (1.0, 0.1, 0.1)
    """
    return max(1 / (1 + word.right + word.silent / _SILENT_FOR_ONE), _LEAST_AUDITED)


def dates_changes(word: Word) -> bool:
    """Whether a host's dates are right more often than not, or were never checked.

    >>> dates_changes(Word()), dates_changes(Word(right=5, wrong=1)), dates_changes(Word(wrong=1))
    (True, True, False)
    """
    return word.wrong <= word.right


def check_chance(checked: int, noise: Word = NOTHING_HEARD) -> float:
    """Chance with which a change is checked on a page that was fetched twice so often before.

    A page that differs by itself shows a change at every visit, and so comes up soon even where
    its host has shown no other.

    Args:
        checked: Pairs of fetches of the page.
        noise: Pairs of fetches of the host's pages.

    Examples:
        >>> check_chance(0), check_chance(3), check_chance(0, Word(right=40))
        (1.0, 0.25, 0.2)
    """
    quiet = noise.heard / (_PAIRS_FOR_ONE * (1 + _PAIRS_FOR_ONE * noise.wrong))
    return max(1 / (1 + checked + quiet), _LEAST_AUDITED)


def sample_chance(noise: Word) -> float:
    """Chance with which any visit fetches its page twice.

    >>> sample_chance(Word()), sample_chance(Word(right=90))
    (0.25, 0.02)
    """
    return max(1 / (4 + noise.heard), _LEAST_AUDITED)


def false_changes(noise: Word, of_all: Word, checked: float = 0.0, differed: float = 0.0) -> float:
    """Chance that a visit to an unchanged page shows a change.

    A page that was fetched twice says most, its host less, all hosts together least.

    Args:
        noise: Pairs of fetches of the host's pages.
        of_all: Those of all hosts.
        checked: Pairs of fetches of the page.
        differed: How many of them differed.

    Examples:
        Of a page that always differs, of another on the same host, and where nothing is known:

        >>> host = Word(right=18, wrong=2)
        >>> [round(false_changes(host, host, *page), 2) for page in [(5, 5), (0, 0)]]
        [0.96, 0.09]
        >>> false_changes(Word(), Word())
        0.01
    """
    everywhere = (of_all.wrong + _FIRST_FALSE * _FIRST_PAIRS) / (of_all.heard + _FIRST_PAIRS)
    here = (noise.wrong + everywhere * _PAIRS_OF_ALL) / (noise.heard + _PAIRS_OF_ALL)
    return (differed + here * _PAIRS_OF_HOST) / (checked + _PAIRS_OF_HOST)


def is_heeded(word: Word) -> bool:
    """Whether a host announces changes, in sitemaps or feeds, and is right often enough.

    Dates that move with every build say nothing, however many changes they come with.

    >>> is_heeded(Word(right=1)), is_heeded(Word(silent=5)), is_heeded(Word(right=5, wrong=9))
    (True, False, False)
    """
    return word.right > 0 and precision(word) >= _LEAST_RIGHT


def precision(word: Word) -> float:
    """Share of a host's announcements that are right.

    >>> precision(Word()), precision(Word(right=8, wrong=1))
    (1.0, 0.9)
    """
    return (word.right + 1) / (word.right + word.wrong + 1)


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


def false_alarms(word: Word) -> float:
    """Times a day that a host announces a change of a page that did not change.

    >>> false_alarms(Word()), false_alarms(Word(wrong=1, quiet_days=30.0))
    (0.1, 0.05)
    """
    return (word.wrong + 1) / (word.quiet_days + _QUIET_DAYS)
