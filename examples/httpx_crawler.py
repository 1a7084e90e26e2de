"""Keep copies of pages fresh with httpx: which page next, and was it worth it?

    pip install recrawl httpx
    python httpx_crawler.py https://example.org/ https://example.org/news

Run it as often as you like: what was learned is in pages.db, which `recrawl status --settings
pages.db` and `recrawl changes --settings pages.db` look at.
"""

import sys

import httpx

from recrawl import Scheduler

AGENT = "my-crawler (me@example.org)"  # whom to write to if you are a nuisance


def crawl(addresses: list[str], store: str = "pages.db", budget: str = "500/1d") -> None:
    """Visit what is due now, and end."""
    with (
        Scheduler.open(store, budget=budget) as scheduler,
        httpx.Client(headers={"User-Agent": AGENT}, timeout=30, follow_redirects=True) as client,
    ):
        scheduler.add(addresses)
        # Without the patience it goes on for ever, and waits for each page until it is due.
        for page in scheduler.pages(patience_seconds=10):
            try:
                response = client.get(page.address, headers=page.headers)  # 304 if unchanged
            except httpx.HTTPError:
                scheduler.seen(page, outcome="failed")  # tried again later
                continue
            outcome = scheduler.seen(
                page,
                status=response.status_code,
                headers=response.headers,
                body=response.content,
                url=str(response.url),
            )
            print(outcome.label, page.address)
            if outcome.brings_content:
                pass  # index response.text, or whatever it is that you do with pages


if __name__ == "__main__":
    crawl(sys.argv[1:])
