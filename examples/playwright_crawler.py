"""Keep copies of pages fresh that only a browser can show: Playwright and the system's Chromium.

    pip install recrawl playwright
    apt install chromium      # or any Chrome or Chromium that is on the PATH
    python playwright_crawler.py https://example.org/

What is compared is what the browser shows. A browser has its own cache, so requests are not made
conditional here; a page that says the same as the last time is unchanged all the same.
"""

import shutil
import sys

from playwright.sync_api import Error, sync_playwright

from recrawl import Scheduler

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--disable-gpu",
    "--disable-background-networking",  # nothing is fetched but the pages
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


def crawl(
    addresses: list[str],
    store: str = "pages.db",
    budget: str = "500/1d",
    arguments: tuple[str, ...] = (),
) -> None:
    """Visit what is due now, and end."""
    browser_path = next(filter(None, map(shutil.which, BROWSERS)), None)
    with (
        Scheduler.open(store, budget=budget) as scheduler,
        sync_playwright() as playwright,
        playwright.chromium.launch(
            executable_path=browser_path, args=[*ARGUMENTS, *arguments]
        ) as browser,
    ):
        scheduler.add(addresses)
        tab = browser.new_page()
        for page in scheduler.pages(patience_seconds=10):
            try:
                response = tab.goto(page.address, timeout=30_000)
                status = response.status if response else 200
                outcome = scheduler.seen(page, status=status, body=tab.content(), url=tab.url)
            except Error:  # no answer, or none that a browser shows
                outcome = scheduler.seen(page, outcome="failed")
            print(outcome.label, page.address)


if __name__ == "__main__":
    crawl(sys.argv[1:])
