"""Which pages to visit now, and what visits teach, without a network.

Touches: a store, the clock, threads.
"""

from recrawl.scheduler.crawl_schedule import DuePage, SchedulerStatus
from recrawl.scheduler.scheduler import Scheduler

__all__ = ["DuePage", "Scheduler", "SchedulerStatus"]
