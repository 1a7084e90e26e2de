"""A news site with the odd corners of real ones: copies of addresses, addresses without end.

/                             home: links to all articles, as other sites and mails link to them
/articles/1 ... /articles/40  articles; every page links to a few, with utm_source and the like
/articles/1/print             an article once more, which names the other by rel=canonical
/calendar/2026-11             a calendar: each month links to the next, for ever
/shop;jsessionid=...          a page that gives a new session id to every visitor
/wiki/wiki/wiki/              a page that answers under any address, with a relative link
"""

from __future__ import annotations

import random
import re
from itertools import count
from typing import TYPE_CHECKING

from tests.servers import answers
from tests.servers.faults import FaultServer

if TYPE_CHECKING:
    from tests.servers.faults import Behaviour

ARTICLES = 40
WORDS = [f"{first}{last}" for first in ("tra", "mo", "ke", "su", "li") for last in "bdfgklmnprst"]
MENU = "<nav><a href=/>Home</a> <a href=/calendar/2026-11>Calendar</a> <a href=/shop>Shop</a></nav>"


class NewsServer(FaultServer):
    """Serves the site."""

    def __init__(self) -> None:
        super().__init__()
        self._sessions = count(1)

    def behaviour(self, path: str) -> Behaviour:
        """What is done at a path."""
        body = self.page(path)
        return answers.page(body.encode()) if body else super().behaviour(path)

    def page(self, path: str) -> str:  # noqa: PLR0911 - one per page
        """HTML of a page; empty where there is none."""
        plain = re.sub(r"[;?].*", "", path)
        match plain.split("/")[1:]:
            case [""]:
                return _html("Home", _teasers(list(range(1, ARTICLES + 1)), "home"))
            case ["articles", number]:
                return self._article(int(number))
            case ["articles", number, "print"]:
                link = f"<link rel=canonical href=/articles/{number}>"
                return self._article(int(number)).replace("<title>", f"{link}<title>Print: ")
            case ["calendar", month]:
                return _calendar(*map(int, month.split("-")))
            case ["shop"]:
                return self._shop()
            case ["wiki", *_]:
                return _html("Wiki", f"<p>{_words(9, 80)}</p><a href=wiki/>Wiki</a>")
        return ""

    def _shop(self) -> str:
        session = f"{next(self._sessions):030x}ab"
        links = (
            f"<a href='/shop;jsessionid={session}'>Shop</a> <a href='/shop?sid={session}'>Cart</a>"
        )
        return _html("Shop", f"<p>{_words(7, 60)}</p>{links}")

    def _article(self, number: int) -> str:
        if not 1 <= number <= ARTICLES:
            return ""
        others = [(number + step) % ARTICLES + 1 for step in (0, 6, 12)]
        extra = f"<a href=/articles/{number}/print>Print</a> <a href=/wiki/>Wiki</a>"
        body = f"<h1>Article {number}</h1><p>{_words(number, 120)}</p>{_teasers(others, 'list')}"
        return _html(f"Article {number}", body + extra)


def _html(title: str, body: str) -> str:
    return f"<html><head><title>{title}</title></head><body>{MENU}{body}</body></html>"


def _teasers(numbers: list[int], source: str) -> str:
    links = (
        f"<a href='/articles/{each}?utm_source={source}&utm_medium=web'>Article {each}</a>"
        for each in numbers
    )
    return "".join(links)


def _calendar(year: int, month: int) -> str:
    after = f"{year + month // 12}-{month % 12 + 1:02d}"
    days = " ".join(f"<td>{day}</td>" for day in range(1, 31))
    table = f"<h1>Events in {year}-{month:02d}</h1><table><tr>{days}</tr></table><p>No events.</p>"
    return _html("Calendar", f"{table}<a href=/calendar/{after}>Next month</a>")


def _words(seed: int, many: int) -> str:
    chance = random.Random(seed)  # noqa: S311 - the same words in every run
    return " ".join(chance.choices(WORDS, k=many))
