"""Small live crawls."""

from __future__ import annotations

from math import inf

import numpy as np

from recrawl.frontier.agenda import Agenda
from recrawl.frontier.frontier import Frontier
from recrawl.frontier.host_table import HostTable
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.policies.rivals.uniform import uniform
from recrawl.settings.terms import VisitTerms
from recrawl.units import epoch_days

START = 20_480.0
HARMONIC = OBJECTIVES["harmonic"]
# Instants and delays are whole numbers of these, so that sums of them are exact.
GRAIN = 1 / 4096
MINUTE = 1 / 1440


class Told(Frontier):
    """A frontier that remembers what it was last asked for."""

    ranking: list[int] = []  # noqa: RUF012 # replaced, never changed
    ranked_at = -inf

    def ranked(self, now, most, *, fits=None):
        everything = super().ranked(now, most)
        self.ranking = everything.tolist()
        self.ranked_at = float(epoch_days(now))
        return everything if fits is None else everything[fits(everything)][:most]


def crawl(*terms, policy=None, budget="24/1d", delay=0.0, together=1, hosts=1, seed=0):
    """An agenda with one pool."""
    random = np.random.default_rng(seed)
    agenda = Agenda(HostTable(delay=delay, together=together), terms or (VisitTerms(),), random)
    for _ in range(hosts):
        agenda.hosts.add()
    spent = Budget.read(budget)
    agenda.add_pool(Told(policy or uniform(), spent, random), spent, now=START)
    return agenda


def found(agenda, *pages):
    """Pages by host and term."""
    return agenda.found(*np.array(pages, np.int64).reshape(-1, 2).T).tolist()


def visit(agenda, lease, now, *, changed=False):
    agenda.answered(lease, now)
    if lease.first:
        agenda.copied(lease.page, f"https://h{lease.host}.org/{lease.page}", now)
    else:
        agenda.seen(lease.page, now, changed=changed)


def played(agenda, *, start=START, days, most=10):
    """Instant and page of all visits that are made in so many days, each at once."""
    now, made = start, []
    while now < start + days:
        leases = agenda.take(now, most)
        for lease in leases:
            visit(agenda, lease, now)
            made.append((now, lease.page))
        if not leases:
            wake = agenda.ready(now)
            assert wake > now
            now = wake
    return made
