"""The pages of a spider: which of them to visit in this run, and what visits found.

One for each crawler of Scrapy, shared by the scheduler and the middlewares.

Touches: a store, files.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from scrapy.exceptions import CloseSpider

from recrawl.adapters.scrapy.request_book import PAGE, RequestBook, request_from, request_text
from recrawl.errors import RecrawlError
from recrawl.parse.addresses import canonical
from recrawl.parse.store_addresses import is_postgres
from recrawl.scheduler import Scheduler
from recrawl.store import file_of, open_store
from recrawl.store.places import place_of
from recrawl.store.settings_file import load_settings, store_of

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from recrawl.scheduler import DuePage
    from recrawl.visits.status import VisitOutcome

STORE = "recrawl-%(name)s.db"
_BOOK = ".requests"
_DELAY = "0.001s"  # delays are Scrapy's
_AT_ONCE = 100  # visits to one host: how many are under way is Scrapy's affair, too
_PATIENCE_SECONDS = 10.0
_NOT_IN_THIS_RUN_SECONDS = 1e7
_MOST_SKIPPED = 100  # pages looked at for one that was not visited in this run yet

_of_crawler: WeakKeyDictionary[Crawler, Revisits] = WeakKeyDictionary()


class Revisits:
    """Pages of a spider.

    Args:
        scheduler: Says which are due.
        book: Knows how the spider asks for each.
        spider: The spider.
        store: File of the store.
    """

    def __init__(
        self, scheduler: Scheduler, book: RequestBook, spider: Spider, store: Path
    ) -> None:
        self._scheduler = scheduler
        self._book = book
        self._spider = spider
        self._store = store
        self._found: dict[str, str] = {}  # addresses and requests that are not written down yet
        self._out: dict[str, DuePage] = {}
        self._visited: set[str] = set()

    @classmethod
    def open(cls, crawler: Crawler) -> Revisits:
        """Hold the store of a spider; `CloseSpider` says what is wrong."""
        spider = crawler.spider
        assert spider is not None  # noqa: S101 - Scrapy opens its scheduler with a spider
        try:
            store, asked = _asked(crawler.settings, spider)
            scheduler = Scheduler.open(store, seed=None, **asked)
            try:
                book = RequestBook(store.with_name(store.name + _BOOK))
            except BaseException:
                scheduler.close()
                raise
        except RecrawlError as error:
            raise CloseSpider(f"recrawl: {error}") from None
        _of_crawler[crawler] = opened = cls(scheduler, book, spider, store)
        return opened

    @staticmethod
    def of(crawler: Crawler) -> Revisits | None:
        """The pages of a crawler; None where the add-on's scheduler is not at work."""
        return _of_crawler.get(crawler)

    def close(self) -> None:
        """Write down what is left, give back what is out, and let the store go."""
        self._write_found()
        for page in self._out.values():
            self._scheduler.release(page)
        self._scheduler.close()
        self._book.close()

    # What to do next.

    def take_in(self, request: Request) -> bool:
        """Take in a request for a page, to be made when that is due; False if it is for none."""
        if request.meta.get(PAGE, True) is not True or request.url.startswith("data:"):
            return False
        address, text = canonical(request.url), request_text(request, self._spider)
        if address is None or text is None:
            return False
        self._found[address] = text
        return True

    def unparsed(self) -> list[Request]:
        """Requests for pages that the run before had not parsed when it was killed."""
        return [self._request(address) for address in self._book.unparsed()]

    def next_request(self) -> Request | None:
        """A request for a page that is due; a run visits a page at most once."""
        self._write_found()
        for _ in range(_MOST_SKIPPED):
            due = self._scheduler.due()
            if not due:
                return None
            (page,) = due
            if page.address not in self._visited:
                self._visited.add(page.address)
                self._out[page.address] = page
                return self._request(page.address)
            self._scheduler.release(page, wait_seconds=_NOT_IN_THIS_RUN_SECONDS)
        return None

    def due_in(self) -> float:
        """Seconds until a page may be due."""
        return self._scheduler.due_in()

    def is_pending(self) -> bool:
        """Whether this run may have more to do."""
        return bool(self._found or self._out) or self.due_in() <= _PATIENCE_SECONDS

    def _request(self, address: str) -> Request:
        request = request_from(self._book.get(address) or "{}", address, self._spider)
        request.meta[PAGE] = address
        return request

    def _write_found(self) -> None:
        """Write down what was found: first how to ask for it, for whatever is a page has that."""
        if self._found:
            found, self._found = self._found, {}
            self._book.put(found.items())
            self._scheduler.add(found)

    # What became of it.

    def page_of(self, request: Request) -> DuePage | None:
        """The page that a request is for, while it is out."""
        return self._out.get(request.meta.get(PAGE, ""))

    def begin_parsing(self, page: DuePage) -> None:
        """Note that the spider gets a page, before its visit is written down."""
        self._book.begin(page.address)

    def seen(self, page: DuePage, **found: Any) -> VisitOutcome:  # noqa: ANN401
        """Write a visit to a page that is out down, as `Scheduler.seen` takes it; in any thread."""
        outcome = self._scheduler.seen(page, **found)
        self._out.pop(page.address, None)
        return outcome

    def moved(self, page: DuePage, target: str) -> None:
        """Ask for the page that another has moved to as for that one."""
        address, text = canonical(target), self._book.get(page.address)
        if address is not None and text is not None:
            self._book.put([(address, text)])

    def release(self, page: DuePage) -> None:
        """Give back a page that was not visited, for later runs."""
        self._out.pop(page.address, None)
        self._scheduler.release(page, wait_seconds=_NOT_IN_THIS_RUN_SECONDS)

    def parsed(self, address: str) -> None:
        """Note that the spider is done with a page."""
        self._write_found()
        self._book.end(address)

    def copy(self, address: str) -> bytes | None:
        """The body of a page as it was last kept; None where it is not."""
        with open_store(self._store) as reader:
            (number,) = reader.find_pages([address])
            return None if number is None else reader.newest_body(number)


def _asked(settings: BaseSettings, spider: Spider) -> tuple[Path, dict[str, Any]]:
    """The store of a spider, and what `Scheduler.open` is to be asked for."""
    store = settings.get("RECRAWL_STORE")
    file = settings.get("RECRAWL_SETTINGS")
    if file:
        path = Path(file)
        own = store_of(path, load_settings(path))
        return (_named(store, spider) if store else own), {"settings": path}
    asked = {"budget": settings.get("RECRAWL_BUDGET"), "policy": settings.get("RECRAWL_POLICY")}
    return _named(store or STORE, spider), {**asked, "delay": _DELAY, "together": _AT_ONCE}


def _named(store: str, spider: Spider) -> Path:
    """Place of a spider's store."""
    named = str(store) % {"name": spider.name}
    return place_of(named) if is_postgres(named) else file_of(named)
