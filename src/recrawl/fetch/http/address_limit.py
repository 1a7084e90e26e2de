"""How many requests to one IP address are under way, whatever names it has.

A hundred thousand names may lead to one machine, and politeness counts by name. Which address a
request goes to is known once it connects, or from the last connection to its host, which it may go
on with.

Touches: nothing but the request that is being made.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from recrawl.errors import FetchFailed

if TYPE_CHECKING:
    from collections.abc import Iterator

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

    @contextmanager
    def asking(self, host: str) -> Iterator[None]:
        """Make one request to a host; `FetchFailed` where there are enough to its address."""
        counted: list[str] = []
        _counted.set(counted)
        try:
            if host in self._address_of:
                self.connect(self._address_of[host])
            yield
        finally:
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
