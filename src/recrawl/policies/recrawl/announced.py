r"""Changes that a host announces, by dates in its sitemaps and feeds, and how far to believe them.

A page changes at rate $r$. With chance *recall* $\rho$ a change is announced, and *false alarms*
come at a rate $\nu$ of their own (`recrawl.plan.signals`). So there are two streams of changes, and
they are learned from apart:

| stream | rate | seen |
|---|---|---|
| announced | $\rho r$ | whenever the host is asked, whether there was any |
| unannounced | $(1 - \rho) r$ | at visits only, whether there was any |

While nothing is announced, only unannounced changes can have happened, so time counts for
$1 - \rho$ as much: a page of a host that tells is in less doubt while it is silent. $n$
announcements, each false with chance $q = \nu / (\rho r + \nu)$, leave the copy fresh with chance
$q^n$ times that. For a rate that is $\text{Gamma}(a, b)$ both together are like an *effective* time

$$ e' = b \left( \left(1 + \frac{(1 - \rho) e}{b}\right) q^{-n / a} - 1 \right) $$

without announcements. Time since the host was last asked what changed counts in full.

A hint, by a person or a program, that a page has changed is an announcement that is false with
chance $1 - p$, as far as hints for this host were right before. It says nothing of other pages.

Silence is evidence, too: whenever a host is asked and names a page not, there was no announced
change in the days since it was last asked, whether the page is visited or not.

Pure.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from recrawl.arrays.growing import append_rows

if TYPE_CHECKING:
    from recrawl.arrays.types import Bools, Floats, Ints

NAMES = (
    *("count", "recall", "false_alarms", "asked", "silent", "learned", "span", "watched"),
    "hinted",
)
_NO_TIME = 1e-12
_MOST = 3.0  # announcements of a page that count: more say no more
_LEAST_FALSE = 1e-3  # chance that an announcement is false, however right they were so far
_LONGEST = 1e3  # exposures that an effective time may be


@dataclass(frozen=True, slots=True)
class Streams:
    """What gaps can tell of both streams of changes: one row per gap.

    Args:
        was_announced: Whether a change was found that had been announced.
        announced: Days in which it was announced, as far as they count for that.
        unannounced: Days in which changes came unannounced, if they did, as far as they count.
        since: Days since the host was last asked what changed.
        doubted: Days that leave doubt, as far as they do.

    All days are on the clock.
    """

    was_announced: Bools
    announced: Floats
    unannounced: Floats
    since: Floats
    doubted: Floats

    @classmethod
    def one(cls, elapsed: Floats) -> Streams:
        """Gaps in which nothing would have been announced."""
        none = np.zeros(len(elapsed))
        return cls(np.zeros(len(elapsed), np.bool_), none, elapsed, elapsed, elapsed)

    @property
    def gaps(self) -> Floats:
        """Days in which a change that was found must lie."""
        return np.where(self.was_announced, self.announced, self.unannounced)

    def ages(self, age: Floats, elapsed: Floats) -> Floats:
        """Days since changes, as far as they count: all since the host was asked, fewer before.

        Args:
            age: Days on the clock since the last change; nan where that is unknown, or announced.
            elapsed: Days on the clock since the visit before.
        """
        before = np.maximum(elapsed - self.since, _NO_TIME)
        share = np.clip((self.unannounced - self.since) / before, 0.0, 1.0)
        late = np.minimum(age, self.since)
        return np.where(self.was_announced, np.nan, late + share * (age - late))


@dataclass(slots=True)
class Announced:
    """What was announced of pages: one row per page.

    Attributes:
        count: Announcements since the last visit.
        recall: Chance that a change of the page is announced; 0 where nobody announces.
        false_alarms: Announcements a day without a change.
        asked: When the host was last asked what changed, in days after 1970.
        silent: Days on the clock, as it was read when the host was asked, between the last visit
            and its first announcement, if any, in which nothing was announced.
        learned: How many of them were learned from already, as far as they count.
        span: Days on the clock in which the first announced change happened.
        watched: Days on the clock, in all gaps that ended without an announced change, as far as
            an unannounced one would have been met.
        hinted: Evidence of hints that the page has changed since the last visit: the sum of
            -ln(1 - p) over hints that are right with chance p; 0 for no hint.
        any: Whether anything is announced or hinted of any page.
    """

    count: Floats
    recall: Floats
    false_alarms: Floats
    asked: Floats
    silent: Floats
    learned: Floats
    span: Floats
    watched: Floats
    hinted: Floats
    any: bool = field(init=False)

    def __post_init__(self) -> None:
        """See whether there is anything."""
        self._look()

    @classmethod
    def start(cls) -> Announced:
        """Nothing of no pages."""
        return cls(*(np.empty(0) for _ in NAMES))

    def _look(self) -> None:
        self.any = bool(self.recall.any() or self.hinted.any())

    def grow(self, pages: int) -> None:
        """Make room for pages of which nothing is announced."""
        none, count = np.zeros(pages), len(self.asked) + pages
        nothing = not self.asked.any() and not self.hinted.any()
        for name in NAMES:
            # While nobody announces anything: zeros take no memory until they are written.
            rows = np.zeros(count) if nothing else append_rows(getattr(self, name), none)
            setattr(self, name, rows)

    def believe(self, rows: Ints, recall: Floats, false_alarms: Floats) -> None:
        """Take in how far hosts are believed.

        Args:
            rows: Pages that they would name.
            recall: Chance that a change of each is announced.
            false_alarms: Announcements of each a day without a change.
        """
        self.recall[rows], self.false_alarms[rows] = recall, false_alarms
        self._look()

    def tell(self, rows: Ints, named: Floats, now: float) -> None:
        """Take in what a host says of pages.

        Args:
            rows: The pages.
            named: Chance that each page which it names has changed; 0 where it does not.
            now: When it was asked.
        """
        self.count[rows] = np.minimum(self.count[rows] + (named > 0), _MOST)
        self.asked[rows] = now

    def hint(self, rows: Ints, right: Floats) -> None:
        """Take in hints that pages have changed.

        Args:
            rows: The pages.
            right: Chance that each hint is right.
        """
        more = self.hinted[rows] - np.log(np.maximum(1 - right, _LEAST_FALSE))
        self.hinted[rows] = np.minimum(more, -_MOST * np.log(_LEAST_FALSE))
        self._look()

    def unlearned(self, rows: Ints) -> Floats:
        """Silent days that are to be learned from, as far as they count: they are from now on.

        A host that is believed more by now was right about what was silent before; of one that is
        believed less, days are taken back.
        """
        days = self.recall[rows] * self.silent[rows] - self.learned[rows]
        self.learned[rows] += days
        return np.asarray(days)

    def streams(self, rows: Ints, silent: Floats, since: Floats, changed: Bools) -> Streams:
        """What gaps that end now can tell of both streams.

        Args:
            rows: The pages.
            silent: Days on the clock from the last visit until the host was last asked.
            since: Days on the clock since then.
            changed: Whether a change was found.
        """
        recall, before = self.recall[rows], self.silent[rows]
        # The clock is read anew: what was learned is a share of its days.
        learned = self.learned[rows] / np.maximum(before, _NO_TIME) * np.minimum(before, silent)
        announced = recall * self.span[rows]
        return Streams(
            was_announced=changed & (self.count[rows] > 0) & (announced > 0),
            announced=announced,
            unannounced=np.maximum(since + silent - learned, _NO_TIME),
            since=since,
            doubted=(1 - recall) * silent + since,
        )

    def watch(self, rows: Ints, elapsed: Floats, rates: Floats, changed: Bools) -> None:
        """Note for how long visits have watched for unannounced changes.

        A visit meets several changes as one: of $n$ expected ones it meets $1 - e^{-n}$.

        Args:
            rows: The pages.
            elapsed: Days on the clock since the last visit to each.
            rates: Changes of each in such a day.
            changed: Whether a change was found.
        """
        asked = self.asked.take(rows) > 0  # before that nobody would have announced anything
        if not np.count_nonzero(asked):
            return
        expected = np.maximum((1 - self.recall[rows]) * rates * elapsed, _NO_TIME)
        met = -np.expm1(-expected) / expected
        was_announced = changed & (self.count[rows] > 0)
        self.watched[rows] += np.where(asked & ~was_announced, met * elapsed, 0.0)

    def forget(self, rows: Ints) -> None:
        """Drop the announcements of pages that were visited."""
        if self.any:
            self.hinted[rows] = 0.0
            self._look()
        if np.count_nonzero(self.asked.take(rows)):  # nothing was told of the others
            for each in (self.count, self.silent, self.learned, self.span):
                each[rows] = 0.0

    def effective(
        self, rows: Ints, states: tuple[Floats, Floats], silent: Floats, since: Floats
    ) -> Floats:
        """Days without announcements that would leave as much doubt: one row per memory.

        Args:
            rows: The pages.
            states: Shape and exposure of each, one row per memory.
            silent: Days on the clock from its last visit until its host was last asked.
            since: Days on the clock since then.

        Examples:
            Of two pages whose host tells of nine changes in ten, one was announced:

            >>> pages = Announced(
            ...     count=np.array([0.0, 1.0]),
            ...     recall=np.array([0.9, 0.9]),
            ...     false_alarms=np.array([0.01, 0.01]),
            ...     asked=np.zeros(2),
            ...     silent=np.zeros(2),
            ...     learned=np.zeros(2),
            ...     span=np.zeros(2),
            ...     watched=np.zeros(2),
            ...     hinted=np.zeros(2),
            ... )
            >>> states = np.full((1, 2), 2.0), np.full((1, 2), 20.0)
            >>> pages.effective(np.arange(2), states, np.full(2, 10.0), np.zeros(2)).round(1)
            array([[ 1. , 46.4]])
        """
        shape, exposure = states
        recall, alarms, count = self.recall[rows], self.false_alarms[rows], self.count[rows]
        elapsed = (1 - recall) * silent + since
        named = recall * shape / exposure
        with np.errstate(invalid="ignore"):
            false = np.minimum(np.maximum(alarms / (named + alarms), _LEAST_FALSE), 1.0)
        false = np.where(named > 0, false, 1.0)  # nobody announces: whatever is said says nothing
        evidence = self.hinted[rows] - count * np.log(false)
        with np.errstate(over="ignore"):  # bounded below
            more = np.minimum(np.exp(evidence / shape), _LONGEST)
        grown = exposure * ((1 + elapsed / exposure) * more - 1)
        return np.asarray(np.where(evidence > 0, grown, elapsed))
