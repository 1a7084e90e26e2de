"""Which pages to visit now, and what visits teach, without a network.

Touches: a store.
"""

from recrawl.scheduler.scheduler import DuePage, Scheduler, SchedulerStatus

__all__ = ["DuePage", "Scheduler", "SchedulerStatus"]
