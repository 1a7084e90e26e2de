"""A crawl of made hosts that announce a share of their changes, with no network in between."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.crawl.announcements import Announcements
from recrawl.detect.honesty import NOTHING_HEARD, false_alarms, recall
from recrawl.frontier.frontier import Frontier
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.beliefs import Beliefs
from recrawl.policies.pages import Outcomes, Pages
from recrawl.policies.recrawl import Recrawl
from recrawl.units import SECONDS_A_DAY, instant_after_epoch

if TYPE_CHECKING:
    from recrawl.detect.honesty import Word

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
    """

    rate: np.ndarray
    beliefs: Beliefs
    looks: np.ndarray
    words: list[Word]


def learnt(frontier: Frontier) -> Any:
    return frontier.state


def instant(day: float) -> np.datetime64:
    return instant_after_epoch(START + day)


def newest(changes: np.ndarray, day: float) -> float:
    """When a page last changed."""
    before = int(np.searchsorted(changes, day, side="right"))
    return float(changes[before - 1]) if before else -3.0


def crawl_telling(
    share: float, *, seed: int, hosts: int = 12, pages: int = 20, days: float = 30.0
) -> Crawled:
    """Crawl hosts that are asked once a day what changed, and say so of a share of the changes."""
    random = np.random.default_rng(seed)
    count = hosts * pages
    host = np.arange(count) // pages
    rate = np.exp(random.normal(np.log(1 / 6), 1.0, count))
    changes = [np.sort(random.uniform(0, days, random.poisson(each * days))) for each in rate]
    announced = [each[random.random(len(each)) < share] for each in changes]
    policy = Recrawl(objective=OBJECTIVES["freshness"])
    frontier = Frontier(policy, Budget(0.4, "page"), random)
    names = [f"http://host{row // pages}.example/{row % pages}" for row in range(count)]
    frontier.add(Pages.of(names, np.full(count, instant(0.0))), instant(0.0))
    heard, rows, last = Announcements(), np.arange(count), np.zeros(count)
    heard.grow(count)
    words, looks = [NOTHING_HEARD] * hosts, []
    asked, step = 0.0, AT_ONCE / (0.4 * count)
    for day in np.arange(step, days, step).tolist():
        if day - asked >= 1:
            asked = day
            dates = np.array([newest(each, day) for each in announced])
            at = (START + dates) * SECONDS_A_DAY
            news, late = heard.moved(rows, at, 1, (START + last) * SECONDS_A_DAY)
            for each in host[late].tolist():
                words[each] = words[each].plus(right=1, silent=-1)
            word = believed(words, host, frontier.missed(rows))
            frontier.told(rows, news.astype(float), word, instant(day))
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
            expected = policy.fresh(learnt(frontier), rows, instant(day)).mean()
            fresh = [newest(changes[row], day) <= last[row] for row in range(count)]
            looks.append((day, expected, np.mean(fresh)))
    return Crawled(rate, Beliefs.of(learnt(frontier), rows, START + days), np.array(looks), words)


def believed(
    words: list[Word], host: np.ndarray, missed: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """How far the host of each page is believed, as a crawl does."""
    telling = NOTHING_HEARD
    for each in words:
        if each.right:
            telling = telling.plus(**each.counts)
    more = np.bincount(host, missed, len(words)).tolist()
    shares = [recall(each.plus(silent=few), telling) for each, few in zip(words, more, strict=True)]
    return np.array(shares)[host], np.array([false_alarms(each) for each in words])[host]
