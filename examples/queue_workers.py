"""A queue of work and a few worker threads, as with any message queue.

    pip install recrawl httpx
    python queue_workers.py https://example.org/ https://example.com/

One thread puts due pages into a queue, others fetch them, and all share one scheduler. With a
broker in place of `queue.Queue` the workers may be anywhere: send the page's address and headers,
and keep the page itself, by its address, until the answer comes back.
"""

import sys
from queue import Queue
from threading import Thread

import httpx

from recrawl import Scheduler
from recrawl.scheduler import DuePage

WORKERS = 4


def fetch(scheduler: Scheduler, client: httpx.Client, page: DuePage) -> None:
    """Fetch a page, and say what was found."""
    try:
        response = client.get(page.address, headers=page.headers)
    except httpx.HTTPError:
        scheduler.seen(page, outcome="failed")
        return
    outcome = scheduler.seen(
        page,
        status=response.status_code,
        headers=response.headers,
        body=response.content,
        url=str(response.url),
    )
    print(outcome.label, page.address)


def work(scheduler: Scheduler, queue: Queue[DuePage | None]) -> None:
    """Fetch pages from the queue until it says that there are no more."""
    agent = {"User-Agent": "my-crawler (me@example.org)"}
    with httpx.Client(headers=agent, timeout=30, follow_redirects=True) as client:
        while (page := queue.get()) is not None:
            fetch(scheduler, client, page)


def crawl(addresses: list[str], store: str = "pages.db", budget: str = "500/1d") -> None:
    """Visit what is due now, and end."""
    queue: Queue[DuePage | None] = Queue(maxsize=2 * WORKERS)  # no more than is fetched soon
    with Scheduler.open(store, budget=budget) as scheduler:
        threads = [Thread(target=work, args=(scheduler, queue)) for _ in range(WORKERS)]
        for thread in threads:
            thread.start()
        scheduler.add(addresses)
        for page in scheduler.pages(patience_seconds=10):
            queue.put(page)
        for _ in threads:
            queue.put(None)
        for thread in threads:
            thread.join()


if __name__ == "__main__":
    crawl(sys.argv[1:])
