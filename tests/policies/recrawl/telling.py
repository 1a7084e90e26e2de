"""A crawl of made hosts that announce a share of their changes, with no network in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.detect.reliability import (
    NO_RECORD,
    SITEMAP,
    false_alarms,
    is_heeded,
    precision,
    recall,
)
from recrawl.frontier.frontier import Frontier
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl.beliefs import Beliefs
from recrawl.policies.recrawl.policy import Recrawl
from recrawl.state.announcements import Announcements
from recrawl.units import SECONDS_A_DAY, instant_after_epoch

if TYPE_CHECKING:
    from recrawl.detect.reliability import SignalRecord

START = 20_000.0
AT_ONCE = 2


@dataclass
class Crawled:
    """What a crawl came to.

    Attributes:
        rate: True changes a day.
        beliefs: What the crawl believes of them in the end.
        looks: Day, freshness as expected and as it was, some times a day.
        words: What the hosts' words came to.
        recall: How far each page's host is believed.
    """

    rate: np.ndarray
    beliefs: Beliefs
    looks: np.ndarray
    words: list[SignalRecord]
    recall: np.ndarray


def learned(frontier: Frontier) -> Any:
    return frontier.state


def instant(day: float) -> np.datetime64:
    return instant_after_epoch(START + day)


def newest(changes: np.ndarray, day: float) -> float:
    """When a page last changed."""
    before = int(np.searchsorted(changes, day, side="right"))
    return float(changes[before - 1]) if before else -3.0


def crawl_telling(
    share: float, *, seed: int, budget: float = 0.4, alarms: float = 0.0, days: float = 30.0
) -> Crawled:
    """Crawl hosts that are asked once a day what changed, and say so of a share of the changes.

    Args:
        share: Share of the changes that they announce.
        seed: Draws the hosts.
        budget: Visits a page and day.
        alarms: Times a day that they announce a change of a page which did not change.
        days: How long to crawl.
    """
    hosts, pages = 12, 20
    random = np.random.default_rng(seed)
    count = hosts * pages
    host = np.arange(count) // pages
    rate = np.exp(random.normal(np.log(1 / 6), 1.0, count))
    changes = [np.sort(random.uniform(0, days, random.poisson(each * days))) for each in rate]
    announced = [each[random.random(len(each)) < share] for each in changes]
    if alarms:
        false = [random.uniform(0, days, random.poisson(alarms * days)) for _ in rate]
        both = zip(announced, false, strict=True)
        announced = [np.sort(np.concatenate(each)) for each in both]
    policy = Recrawl(objective=OBJECTIVES["freshness"])
    frontier = Frontier(policy, Budget(budget, "page"), random)
    names = [f"http://host{row // pages}.example/{row % pages}" for row in range(count)]
    frontier.add(Pages.of(names, np.full(count, instant(0.0))), instant(0.0))
    heard, rows, last = Announcements(), np.arange(count), np.zeros(count)
    heard.grow(count)
    words, looks = [NO_RECORD] * hosts, []
    asked, step = 0.0, AT_ONCE / (budget * count)
    for day in np.arange(step, days, step).tolist():
        if day - asked >= 1:
            asked = day
            dates = np.array([newest(each, day) for each in announced])
            at = (START + dates) * SECONDS_A_DAY
            heard.of_kind(rows, 1)
            news, late = heard.moved(rows, at, (START + last) * SECONDS_A_DAY)
            for each in host[late].tolist():
                words[each] = words[each].plus(right=1, silent=-1)
            right, word = believed(heard, words, host, frontier.unannounced_changes(rows))
            frontier.announced(rows, right * news, word, instant(day))
        some = frontier.take(instant(day), AT_ONCE)
        changed = np.array([newest(changes[row], day) > last[row] for row in some.tolist()], bool)
        for row, found in zip(some.tolist(), changed.tolist(), strict=True):
            at = (START + day) * SECONDS_A_DAY
            _, counts = heard.visited(row, at, changed=found)
            if not found:
                counts["quiet_days"] = day - last[row]
            words[host[row]] = words[host[row]].plus(**counts)
        last[some] = day
        frontier.seen(some, np.full(len(some), instant(day)), Outcomes.existence(changed))
        if int(4 * day) > int(4 * (day - step)):
            expected = policy.fresh(learned(frontier), rows, instant(day)).mean()
            fresh = [newest(changes[row], day) <= last[row] for row in range(count)]
            looks.append((day, expected, np.mean(fresh)))
    state = learned(frontier)
    beliefs = Beliefs.of(state, rows, START + days)
    return Crawled(rate, beliefs, np.array(looks), words, state.announced.recall)


def believed(
    heard: Announcements, words: list[SignalRecord], host: np.ndarray, awaited: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """How far the host of each page is believed, as a crawl does."""
    shares = np.zeros(len(words))
    for each, expected in enumerate(np.bincount(host, awaited, len(words)).tolist()):
        if is_heeded(words[each]):
            silent = words[each].silent
            of_all = heard.share_of_others(each, SITEMAP, expected, silent)
            shares[each] = recall(silent, expected, of_all)
    right = np.array([precision(each) for each in words])
    alarms = np.array([false_alarms(each) for each in words])
    return right[host], (shares[host], alarms[host])
