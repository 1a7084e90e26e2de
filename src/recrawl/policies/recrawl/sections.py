"""Which pages belong together, as their addresses tell: a tree of sections that grows.

The chain of a page runs from the crawl over its host and folders to its *family*: the folder
and the first word of the file name, so `compute.v1.json` and `compute.beta.json` are one family.
A part of the chain becomes a *node* of the tree once it has at least two pages and fewer than
the nearest node above it; a page belongs to the deepest node of its chain, its *leaf*. Nodes
are numbered as they come and never vanish, so that what was learned of them keeps its row; the
whole crawl is node 0.

A node takes some kilobytes for its clock. So of very many only the largest are *shown*, as many as
a hundred thousand or one for sixteen pages: all that is said of the tree is said of these, and the
pages of the others belong to the nearest node above that is shown.

Pages are also related across the tree: a file name that occurs in several folders (the language
versions of a page, everybody's privacy policy) makes a *kin* group of its pages, otherwise the
rest of the name after its first word does within a folder (`v1.json`).

Pure.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from xxhash import xxh3_64_intdigest

from recrawl.arrays.equal_keys import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from recrawl.arrays.types import Bools, Ints

    Kept = int | float | npt.NDArray[np.generic]

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*://")
_WORD = re.compile(r"[^\W_]+")
_FEWEST_PAGES = 2
_LARGE_SITE = 20  # pages; sites with fewer share what is learned of how sites behave
_FEWEST_NEWEST, _NEWEST_OF = 1 << 16, 8  # parts in a dictionary: so many, or a part of the others
_NEARLY_ALL = 0.9  # of the crawl: kin that tell nothing
_MOST_SHOWN, _PAGES_A_NODE = 100_000, 16


def chain(address: str, deepest: int = 16) -> tuple[str, list[str], str, str]:
    r"""Host of an address, its parts from there to its family, its file name, its kind of name.

    >>> host, parts, name, kind = chain("https://example.org/api/compute.v1.json?page=2")
    >>> host, name
    ('example.org', 'compute.v1.json')
    >>> parts
    ['example.org/', 'example.org/api/', 'example.org/api/\ncompute']
    >>> kind
    'example.org/api/\n.v1.json'
    """
    path = address.partition("#")[0].partition("?")[0]
    scheme = _SCHEME.match(path)
    if scheme:
        path = path[scheme.end() :]
    folder, slash, name = path.rpartition("/")
    if scheme and not slash:
        folder, name = name, ""
    here = f"{folder}/" if folder or slash else ""
    # Only so many are built: an address of 100 kB may have 50,000 folders.
    folders = here.split("/", deepest)[:-1]
    parts = [f"{path}/" for path in accumulate(folders[: deepest - 1], "{}/{}".format)]
    word = _WORD.search(name.lower())
    family, end = (word[0], word.end()) if word else ("", 0)
    # No folder has a line break, so a family is never taken for one.
    parts.append(f"{here}\n{family}")
    return folders[0] if scheme and folders else "", parts, name, f"{here}\n{name[end:]}"


def _ints(*first: int) -> Callable[[], array[int]]:
    """A column of whole numbers in four bytes each: a list has forty, and there are millions."""
    return lambda: array("i", first)


@dataclass(slots=True)
class _Parts:
    """Parts of chains: where each hangs and how many pages are below it; the crawl is part 0."""

    first_page: array[int] = field(default_factory=_ints(0))
    pages: array[int] = field(default_factory=_ints(0))
    parts: array[int] = field(default_factory=_ints(0))
    first_part: array[int] = field(default_factory=_ints(-1))
    node: array[int] = field(default_factory=_ints(0))
    is_host: array[int] = field(default_factory=_ints(0))
    # Numbers by the hashes of what parts are called, which rise; those of the newest in a
    # dictionary, which takes ten times as much memory for each.
    _keys: array[int] = field(default_factory=lambda: array("Q"))
    _numbers: array[int] = field(default_factory=_ints())
    _newest: dict[int, int] = field(default_factory=dict)

    def find(self, key: int) -> int | None:
        """Number of a part by the hash of its name; None where it is new."""
        number = self._newest.get(key)
        if number is not None:
            return number
        place = bisect_left(self._keys, key)
        known = place < len(self._keys) and self._keys[place] == key
        return self._numbers[place] if known else None

    def add(self, key: int, page: int, *, is_host: bool) -> int:
        """Add a part that a page is the first of; returns its number."""
        if len(self._newest) >= max(_FEWEST_NEWEST, len(self._keys) // _NEWEST_OF):
            self._settle()
        number = self._newest[key] = len(self.node)
        columns = (self.first_page, self.pages, self.parts, self.first_part, self.node)
        for column, value in zip(columns, (page, 0, 0, -1, -1), strict=True):
            column.append(value)
        self.is_host.append(is_host)
        return number

    def _settle(self) -> None:
        """Put the newest among the others."""
        count = len(self._newest)
        keys = np.append(self._keys, np.fromiter(self._newest, np.uint64, count))
        numbers = np.append(self._numbers, np.fromiter(self._newest.values(), np.int32, count))
        order = np.argsort(keys)
        self._keys = array("Q", keys[order].astype(np.uint64).tobytes())
        self._numbers = array("i", numbers[order].astype(np.int32).tobytes())
        self._newest = {}


@dataclass(slots=True)
class _Nodes:
    """Nodes of the tree: the node above each, those below it and its pages, as linked lists."""

    parent: array[int] = field(default_factory=_ints(-1))
    is_host: array[int] = field(default_factory=_ints(0))
    _first_below: array[int] = field(default_factory=_ints(-1))
    _next_below: array[int] = field(default_factory=_ints(-1))
    _first_page: array[int] = field(default_factory=_ints(-1))
    # One row per page: its neighbours among the pages of its node.
    _next_page: array[int] = field(default_factory=_ints())
    _page_before: array[int] = field(default_factory=_ints())

    def add(self, above: int, *, is_host: bool) -> int:
        """Add a node below another; returns its number."""
        node = len(self.parent)
        self.parent.append(above)
        self.is_host.append(is_host)
        self._first_below.append(-1)
        self._next_below.append(self._first_below[above])
        self._first_below[above] = node
        self._first_page.append(-1)
        return node

    def add_between(self, above: int, *, is_host: bool) -> int:
        """Add a node that takes over all nodes and pages below another; returns its number."""
        below, pages = self._first_below[above], self._first_page[above]
        self._first_below[above] = self._first_page[above] = -1
        node = self.add(above, is_host=is_host)
        self._first_below[node], self._first_page[node] = below, pages
        while below >= 0:
            self.parent[below] = node
            below = self._next_below[below]
        return node

    def pages(self, node: int) -> Iterator[int]:
        """Pages of a node."""
        page = self._first_page[node]
        while page >= 0:
            yield page
            page = self._next_page[page]

    def add_page(self, node: int) -> None:
        """Hang a new page on a node."""
        self._next_page.append(-1)
        self._page_before.append(-1)
        self._hang(len(self._next_page) - 1, node)

    def move_page(self, page: int, old: int, new: int) -> None:
        """Hang a page on another node."""
        before, after = self._page_before[page], self._next_page[page]
        if before >= 0:
            self._next_page[before] = after
        else:
            self._first_page[old] = after
        if after >= 0:
            self._page_before[after] = before
        self._hang(page, new)

    def _hang(self, page: int, node: int) -> None:
        after = self._first_page[node]
        self._page_before[page], self._next_page[page] = -1, after
        if after >= 0:
            self._page_before[after] = page
        self._first_page[node] = page


@dataclass(slots=True)
class Sections:
    """The tree of sections of one crawl, and where in it each page belongs.

    Attributes:
        deepest: Most parts of a chain; folders beyond belong to the last. With 0, every page
            stands alone.
        leaf: Deepest node of each page.
        kin: Kin group of each page; -1 where it has none.
        site: Which of the sites each page is on that learn for themselves; those with few pages
            and pages without a host are all on site 0.
        parent: Node above each node; -1 above the crawl.
        is_host: Whether a node is all that is known of a host.
        is_top: Whether a node is a host or the crawl: what is above hardly tells of it.
        site_of_node: Site whose pages are below each node; 0 where several sites' are.
        levels: Nodes by depth, the crawl first.
        path: The nodes from the crawl to each node, one row per node; -1 beyond it.
        parted: New nodes that held all that was below another node until now, and that node.
        groups: Number of kin groups.
        sites: Number of sites.
    """

    deepest: int = 16
    leaf: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    kin: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    site: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    parent: Ints = field(default_factory=lambda: np.array([-1]))
    is_host: Bools = field(default_factory=lambda: np.zeros(1, np.bool_))
    is_top: Bools = field(default_factory=lambda: np.ones(1, np.bool_))
    site_of_node: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    levels: list[Ints] = field(default_factory=lambda: [np.zeros(1, np.int64)])
    path: Ints = field(default_factory=lambda: np.zeros((1, 1), np.int64))
    parted: list[tuple[int, int]] = field(default_factory=list)
    groups: int = 0
    sites: int = 1

    _parts: _Parts = field(default_factory=_Parts)
    _nodes: _Nodes = field(default_factory=_Nodes)
    # One row per page: its node, the hash of its file name and of its kind, its host.
    _leaf: array[int] = field(default_factory=_ints())
    _name: array[int] = field(default_factory=lambda: array("Q"))
    _kind: array[int] = field(default_factory=lambda: array("Q"))
    _host: array[int] = field(default_factory=_ints())
    _host_of: dict[str, int] = field(default_factory=lambda: {"": 0})
    _site_of_host: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    _related: int = 0  # how many pages have been related to kin and sites
    # Addresses of the pages, where the tree was taken up again and has not grown since.
    _unbuilt: Callable[[], Sequence[str]] | None = None
    # Where not all nodes are shown: which are, in the order of their numbers, and the number of the
    # nearest that is shown, of each.
    _shown: Ints | None = None
    _nearest: Ints = field(default_factory=lambda: np.zeros(1, np.int64))
    _parted: list[tuple[int, int]] = field(default_factory=list)  # since the last order, of all

    def __len__(self) -> int:
        """Count the nodes."""
        return len(self.parent)

    def grow(self, addresses: Sequence[str]) -> None:
        """Take in pages, in rows after those known so far, and let new nodes appear."""
        self._build()
        first, nodes = len(self._leaf), len(self._nodes.parent)
        for address in addresses:
            self._add(address)
        if len(self._nodes.parent) > nodes:
            self._show()
            self._number()
        leaf = np.array(self._leaf, np.int64)
        self.leaf = leaf if self._shown is None else self._nearest[leaf]
        more = len(self.leaf) - first
        self.kin = np.append(self.kin, np.full(more, -1))
        host = np.array(self._host[first:], np.int64)
        known = np.minimum(host, len(self._site_of_host) - 1)
        self.site = np.append(self.site, np.where(host == known, self._site_of_host[known], 0))
        if len(self._nodes.parent) > nodes:
            self._order()

    @property
    def kept(self) -> dict[str, Kept]:
        """All that cannot be worked out again from the addresses alone."""
        shown: dict[str, Kept] = {}
        if self._shown is not None:
            shown["shown"] = self._shown.astype(np.int32)
        return shown | {
            "deepest": self.deepest,
            "leaf": self.leaf.astype(np.int32),
            "kin": self.kin.astype(np.int32),
            "site": self.site.astype(np.int32),
            "parent": self.parent.astype(np.int32),
            "is_host": self.is_host,
            "site_of_host": self._site_of_host.astype(np.int32),
            "groups": self.groups,
            "sites": self.sites,
            "related": self._related,
        }

    @classmethod
    def resumed(cls, kept: Mapping[str, Kept], addresses: Callable[[], Sequence[str]]) -> Sections:
        """Tree as it was kept; it is built again from the addresses when it has to grow."""
        tree = cls(
            deepest=int(kept["deepest"]),
            groups=int(kept["groups"]),
            sites=int(kept["sites"]),
            leaf=np.asarray(kept["leaf"]).astype(np.int64),
            kin=np.asarray(kept["kin"]).astype(np.int64),
            site=np.asarray(kept["site"]).astype(np.int64),
            _site_of_host=np.asarray(kept["site_of_host"]).astype(np.int64),
            _related=int(kept["related"]),
            _nodes=_Nodes(_column(kept["parent"]), _column(kept["is_host"])),
            _unbuilt=addresses,
            _shown=None if "shown" not in kept else np.asarray(kept["shown"]).astype(np.int64),
        )
        tree._order()
        return tree

    def _build(self) -> None:
        """Hang all pages on the tree again: nodes get the numbers that they had."""
        if self._unbuilt is None:
            return
        addresses, self._unbuilt = self._unbuilt(), None
        built = Sections(deepest=self.deepest)
        built.grow(addresses)
        for name in _OF_ADDRESSES:
            setattr(self, name, getattr(built, name))
        self._number()

    def relate(self) -> bool:
        """Find kin and sites among all pages; False where there are no new pages."""
        if self._related == len(self.leaf):
            return False
        self._build()
        self._related = len(self.leaf)
        self._find_kin()
        self._find_sites()
        return True

    def upwards(self, leaf: Ints) -> list[Ints]:
        """The nodes on the way from the crawl to some leaves, by depth, the crawl first."""
        _, *below = self.path.take(distinct(leaf), axis=0).T
        levels = (distinct(nodes) for nodes in below)
        return [self.levels[0], *(nodes[nodes >= 0] for nodes in levels)]

    def _add(self, address: str) -> None:
        """Hang a page on the deepest node of its chain; others may move for that."""
        host, chained, name, kind = (
            chain(address, self.deepest) if self.deepest else ("", [], "", "")
        )
        page = len(self._leaf)
        parts = self._parts
        above = node = 0
        parts.pages[0] += 1
        for text in chained:
            key = _hash(text)
            number = parts.find(key)
            if number is None:
                number = parts.add(key, page, is_host=bool(host) and not above)
                parts.parts[above] += 1
                if parts.parts[above] == 1:
                    parts.first_part[above] = number
                elif parts.parts[above] == _FEWEST_PAGES:
                    self._part_off(parts.first_part[above], parts.node[node])
            parts.pages[number] += 1
            if parts.pages[number] == _FEWEST_PAGES < parts.pages[node] and parts.node[number] < 0:
                self._begin(number, parts.node[node])
            if parts.node[number] >= 0:
                node = number
            above = number
        self._nodes.add_page(parts.node[node])
        self._leaf.append(parts.node[node])
        # Names by their hash: most occur once, and a million of them would fill memory.
        self._name.append(xxh3_64_intdigest(name.encode(errors="surrogatepass")))
        self._kind.append(xxh3_64_intdigest(kind.encode(errors="surrogatepass")))
        self._host.append(self._host_of.setdefault(host, len(self._host_of)))

    def _begin(self, part: int, above: int) -> None:
        """Make a node of a part that gets its second page; the first moves there."""
        page, is_host = self._parts.first_page[part], bool(self._parts.is_host[part])
        node = self._parts.node[part] = self._nodes.add(above, is_host=is_host)
        self._nodes.move_page(page, above, node)
        self._leaf[page] = node

    def _part_off(self, part: int, above: int) -> None:
        """Make a node of a part that held all pages of the node above it until now."""
        if self._parts.pages[part] < _FEWEST_PAGES:
            return
        # As long as all pages of a node lay in one part, the part needed no node of its own. Now a
        # second part comes: the first becomes a node between, with all pages and nodes below.
        is_host = bool(self._parts.is_host[part])
        node = self._parts.node[part] = self._nodes.add_between(above, is_host=is_host)
        self._parted.append((node, above))
        for page in self._nodes.pages(node):
            self._leaf[page] = node

    def _show(self) -> None:
        """Show more nodes: all, or where there are very many, those with most pages."""
        count = len(self._nodes.parent)
        most = max(_MOST_SHOWN, len(self._leaf) // _PAGES_A_NODE)
        if self._shown is None:
            if count <= most:
                return
            self._shown = np.arange(len(self))
        parent, pages = np.array(self._nodes.parent, np.int64), self._pages_below()
        pages[self._shown] = 0
        more = np.argsort(-pages, kind="stable")[: max(most - len(self._shown), 0)]
        # A node has fewer pages than the one above it, which is shown before it.
        self._shown = np.append(self._shown, more[(pages[more] > 0) & (parent[more] >= 0)])

    def _pages_below(self) -> Ints:
        """Pages at and below each node, whether it is shown or not."""
        up = np.array(self._leaf, np.int64)
        parent, pages = np.array(self._nodes.parent, np.int64), np.zeros(len(self._nodes.parent))
        while len(up):
            pages += np.bincount(up, minlength=len(pages))
            up = parent[up]
            up = up[up >= 0]
        return pages.astype(np.int64)

    def _number(self) -> None:
        """Find the number of the nearest node that is shown, of all."""
        if self._shown is None or self._unbuilt is not None:
            return
        parent = np.array(self._nodes.parent, np.int64)
        number = np.full(len(parent), -1)
        number[self._shown] = np.arange(len(self._shown))
        at = np.arange(len(parent))
        while len(hidden := np.flatnonzero(number[at] < 0)):
            at[hidden] = parent[at[hidden]]
        self._nearest = number[at]

    def _order(self) -> None:
        """Say in what order nodes stand above each other."""
        self.parent = np.array(self._nodes.parent, np.int64)
        self.is_host = np.array(self._nodes.is_host, np.bool_)
        parted, self._parted = self._parted, []
        if self._shown is not None and self._unbuilt is None:
            above = self.parent[self._shown]
            self.parent = np.where(above >= 0, self._nearest[above], -1)
            self.is_host = self.is_host[self._shown]
            place = np.full(len(self._nearest), -1)
            place[self._shown] = np.arange(len(self._shown))
            parted = [(int(place[new]), int(place[old])) for new, old in parted if place[new] >= 0]
        self.is_top = self.is_host | (self.parent < 0)
        self.parted += parted
        rank = np.zeros(len(self), np.int64)
        up = self.parent
        while (up >= 0).any():
            rank += up >= 0
            up = np.where(up >= 0, self.parent[up], -1)
        self.levels = _by(rank)
        self.path = np.full((len(self), len(self.levels)), -1)
        for depth, nodes in enumerate(self.levels):
            if depth:
                self.path[nodes] = self.path[self.parent[nodes]]
            self.path[nodes, depth] = nodes
        self._place_sites()

    def _find_kin(self) -> None:
        hashes = np.concatenate([np.array(self._name), np.array(self._kind)])
        known, number = np.unique(hashes, return_inverse=True)
        name, kind = np.split(number, 2)
        names, kinds, count = np.bincount(name), np.bincount(kind), len(known)
        most = _NEARLY_ALL * len(name)
        # A name has as many kinds as it has folders.
        folders = np.bincount(np.unique(name * count + kind) // count)
        by_name = folders[name] >= _FEWEST_PAGES
        group = np.where(by_name, name, kind)
        size = np.where(by_name, names[name], kinds[kind])
        related = (size >= _FEWEST_PAGES) & (size < most)
        groups, number = np.unique(group[related], return_inverse=True)
        self.kin = np.full(len(name), -1)
        self.kin[related] = number
        self.groups = len(groups)

    def _find_sites(self) -> None:
        host = np.array(self._host, np.int64)
        large = np.bincount(host, minlength=len(self._host_of)) >= _LARGE_SITE
        large[0] = False
        sites = np.zeros(len(self._host_of), np.int64)
        sites[: len(self._site_of_host)] = self._site_of_host
        new = np.flatnonzero(large & (sites == 0))
        sites[new] = np.arange(len(new)) + self.sites
        self.sites += len(new)
        self._site_of_host = sites
        self.site = sites[host]
        self._place_sites()

    def _place_sites(self) -> None:
        """Say whose site each node is on."""
        self.site_of_node = np.zeros(len(self), np.int64)
        for nodes in self.path[self.leaf].T:
            self.site_of_node[nodes[nodes >= 0]] = self.site[nodes >= 0]
        # Only the crawl's own node can have pages of several sites below it.
        if (self.site != self.site[:1]).any():
            self.site_of_node[0] = 0


# What follows from the addresses and the order in which they came.
_OF_ADDRESSES = ("_parts", "_nodes", "_leaf", "_name", "_kind", "_host", "_host_of")


def _hash(text: str) -> int:
    """Hash of a part's name, in 60 bits: an int of more takes half as much memory again."""
    return xxh3_64_intdigest(text.encode(errors="surrogatepass")) >> 4


def _column(values: Kept) -> array[int]:
    return array("i", np.asarray(values).astype(np.int32).tobytes())


def _by(rank: Ints) -> list[Ints]:
    """Rows of rank 0, rows of rank 1, ..."""
    order = np.argsort(rank, kind="stable")
    return np.split(order, np.searchsorted(rank[order], np.arange(1, int(rank.max()) + 1)))
