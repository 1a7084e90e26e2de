"""How many requests to one IP address are under way, whatever names it has.

A hundred thousand names may lead to one machine, and politeness counts by name. Which address a
request goes to is known once it connects, or from the last connection to its host, which it may go
on with.

Touches: nothing but the request that is being made.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextvars import ContextVar

from recrawl.errors import FetchFailed

_MOST_HOSTS = 10_000  # whose address is remembered

# IP addresses that the request which is being made counts for.
_counted: ContextVar[list[str]] = ContextVar("_counted")


class AddressLimit:
    """Counts requests by IP address.

    Args:
        most: How many may be under way to one.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._under_way: Counter[str] = Counter()
        self._address_of: OrderedDict[str, str] = OrderedDict()  # least recently asked first

    def asking(self, host: str) -> _Asking:
        """Make one request to a host; `FetchFailed` where there are enough to its address."""
        return _Asking(self, host)

    def begin(self, host: str) -> list[str]:
        """Count a request to a host, whose address may be known; returns what is counted."""
        counted: list[str] = []
        _counted.set(counted)
        if (address := self._address_of.get(host)) is not None:
            self.connect(address)
        return counted

    def end(self, host: str, counted: list[str]) -> None:
        """Count a request no more."""
        for each in counted:
            self._under_way[each] -= 1
            if not self._under_way[each]:
                del self._under_way[each]
        if counted:
            self._address_of[host] = counted[-1]
            self._address_of.move_to_end(host)
        if len(self._address_of) > _MOST_HOSTS:
            self._address_of.popitem(last=False)

    def connect(self, address: str) -> None:
        """Count the request that is being made for an IP address, once."""
        counted = _counted.get()
        if address in counted:
            return
        if self._under_way[address] >= self._most:
            message = f"{self._most} other requests to {address} are under way"
            raise FetchFailed("overloaded", message)
        self._under_way[address] += 1
        counted.append(address)


class _Asking:
    """One request to a host, while it is counted."""

    __slots__ = ("_counted", "_host", "_limit")

    def __init__(self, limit: AddressLimit, host: str) -> None:
        self._limit = limit
        self._host = host

    def __enter__(self) -> None:
        self._counted = self._limit.begin(self._host)

    def __exit__(self, *_: object) -> None:
        self._limit.end(self._host, self._counted)
