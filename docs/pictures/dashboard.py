"""Take the pictures of docs/how-to/dashboard.md: the dashboard of the demo's crawl in Chromium.

    python docs/pictures/dashboard.py [FOLDER] [--crawl CRAWL]

Runs `recrawl demo`, serves what it has left and looks at it in light and dark. Needs Chromium and
playwright. Each run is another crawl, so the pictures differ a little. --crawl takes the folder of
a crawl that `recrawl demo --folder` has left instead of making one.

Touches: `dashboard-*.webp` in FOLDER, or else beside this file; the loopback network, processes.
"""

import argparse
import base64
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

RECRAWL = str(Path(sys.executable).with_name("recrawl"))
SHOTS = {
    "overview": ("/", 830),
    "page": ("/pages/{page}", 830),
    "what-if": ("/what-if?budget=240/1d&weight-1=2", 760),
}
QUALITY = 82
WIDTH = 1180


def take(browser: Browser, address: str, path: str, file: Path, *, height: int, dark: bool) -> None:
    """Look at a page and keep the upper part of it."""
    context = browser.new_context(
        viewport={"width": WIDTH, "height": height},
        device_scale_factor=1.5,
        color_scheme="dark" if dark else "light",
    )
    page = context.new_page()
    page.goto(address + path, wait_until="load")
    for chart in page.locator("[data-chart]").all():
        chart.and_(page.locator("[data-drawn=yes]")).wait_for(timeout=120_000)
    for part in page.locator("[data-part]").all():
        part.and_(page.locator("[data-loaded=yes]")).wait_for(state="attached", timeout=120_000)
    client = context.new_cdp_session(page)
    shot = client.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(shot["data"]))
    context.close()


def main() -> None:
    """Make a crawl, serve it, and take all pictures of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent)
    parser.add_argument("--crawl", type=Path)
    asked = parser.parse_args()
    chromium = shutil.which("chromium")
    if chromium is None:
        sys.exit("chromium is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        crawl = asked.crawl or Path(scratch) / "crawl"
        if asked.crawl is None:
            words = [RECRAWL, "demo", "--folder", str(crawl)]
            subprocess.run(words, check=True)  # noqa: S603 - our own command
        words = [RECRAWL, "serve", "-c", str(crawl / "recrawl.toml"), "--port", "0"]
        server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)  # noqa: S603 - as above
        with server, server.stdout or sys.stdin as output:
            try:
                address = output.readline().strip().rstrip("/")
                with sync_playwright() as playwright:
                    browser = playwright.chromium.launch(
                        executable_path=chromium, args=["--no-sandbox"]
                    )
                    _take_all(browser, address, asked.folder)
                    browser.close()
            finally:
                server.terminate()


def _take_all(browser: Browser, address: str, folder: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{address}/pages?sort=visits&q=prices")
    link = page.locator("td.address a").first.get_attribute("href") or ""
    number = re.sub(r"\D", "", link)
    context.close()
    for name, (path, height) in SHOTS.items():
        for dark in (False, True):
            file = folder / f"dashboard-{name}{'-dark' if dark else ''}.webp"
            take(browser, address, path.format(page=number), file, height=height, dark=dark)
            print(file, file.stat().st_size)


if __name__ == "__main__":
    main()
