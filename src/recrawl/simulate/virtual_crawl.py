"""One crawl on a clock that takes no time: the live agenda, and no network.

Whatever is simulated visit by visit goes through here: `recrawl simulate --live`, the next visits
that `why`, `pages`, `history` and `status` name, and the policies that the demonstration compares.
They differ only in the world that visits find.

Pure.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING

from recrawl.units import SECONDS_A_DAY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from recrawl.frontier.agenda import Agenda, Lease

_SECOND = 1 / SECONDS_A_DAY  # the clock goes on by this at least


def virtual_visits(
    agenda: Agenda,
    now: float,
    until: float,
    *,
    on_wait: Callable[[float, float], object] | None = None,
) -> Iterator[Lease]:
    """Leases of an agenda in the order in which a crawl gets them, each at its instant.

    Before the next lease is asked for, tell the agenda that the host has answered, and what the
    visit found.

    Args:
        agenda: What to do next.
        now: The instant to begin at, in days after 1970.
        until: The instant to end at.
        on_wait: Called where nothing may be visited for a while, with its beginning and its end.

    Examples:
        A page every twelve hours:

        >>> import numpy as np
        >>> from recrawl.frontier.agenda import Agenda
        >>> from recrawl.frontier.frontier import Frontier
        >>> from recrawl.frontier.host_table import HostTable
        >>> from recrawl.plan.budget import Budget
        >>> from recrawl.policies.rivals.uniform import uniform
        >>> from recrawl.settings.terms import VisitTerms
        >>> random, budget = np.random.default_rng(0), Budget.read("2/1d")
        >>> agenda = Agenda(HostTable(delay=0.0), [VisitTerms()], random)
        >>> agenda.add_pool(Frontier(uniform(), budget, random), budget, now=100.0)
        0
        >>> agenda.found(np.array([agenda.hosts.add()]), np.array([0]))
        array([0])
        >>> times = []
        >>> for lease in virtual_visits(agenda, 100.0, 102.1):
        ...     times.append(round(lease.at, 2))
        ...     agenda.answered(lease, lease.at)
        ...     if lease.first:
        ...         agenda.copied(lease.page, "https://example.org/", lease.at)
        ...     else:
        ...         agenda.seen(lease.page, lease.at, changed=False)
        >>> times
        [100.0, 101.0, 101.5, 102.0]
    """
    while now <= until:
        leases = agenda.take(now, 1)
        yield from leases
        if not leases:
            ready = agenda.ready(now)
            if ready == inf:
                return
            later = max(ready, now + _SECOND)
            if on_wait is not None:
                on_wait(now, later)
            now = later
