"""The tree of sections as its definition has it: all pages at once, sets and no counters."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.policies.recrawl.sections import Sections

Rows = frozenset[int]


class Place(NamedTuple):
    """Where a page stands; `host` is empty for a path without one."""

    host: str
    folders: tuple[str, ...]
    name: str

    @property
    def address(self) -> str:
        path = "/".join([*self.folders, self.name])
        return f"https://{self.host}/{path}" if self.host else path

    def chain(self, deepest: int = 16) -> list[tuple[str, ...]]:
        """Parts from the host or first folder to the family; the crawl itself left out."""
        folders = (f"//{self.host}", *self.folders) if self.host else self.folders
        parts = [folders[: depth + 1] for depth in range(len(folders))]
        return [*parts[: deepest - 1], (*folders, "family", first_word(self.name)[0])]


class Tree(NamedTuple):
    """A tree told by page sets, so that it does not matter how nodes are numbered."""

    nodes: set[tuple[Rows, Rows]]  # each with the node above; the crawl with none
    leaf: list[Rows]
    kin: list[Rows]  # empty where a page has none


def first_word(name: str) -> tuple[str, str]:
    """First alphanumeric token of a file name, lower case, and what comes after it."""
    match = re.match(r"[^A-Za-z0-9]*([A-Za-z0-9]+)(.*)", name)
    return (match[1].lower(), match[2]) if match else ("", name)


def tree_of(places: Sequence[Place], deepest: int = 16) -> Tree:
    """Nodes have two pages or more, and fewer than the nearest node above."""
    below: dict[tuple[str, ...], set[int]] = defaultdict(set)
    for row, place in enumerate(places):
        for part in place.chain(deepest):
            below[part].add(row)
    everything = frozenset(range(len(places)))
    nodes, leaf = {(everything, Rows())}, []
    for place in places:
        here = everything
        for part in place.chain(deepest):
            pages = frozenset(below[part])
            if 2 <= len(pages) < len(here):
                nodes.add((pages, here))
                here = pages
        leaf.append(here)
    return Tree(nodes, leaf, _kin_of(places))


def _kin_of(places: Sequence[Place]) -> list[Rows]:
    """Pages of one file name in several folders, or of one folder and one rest of a name."""
    folders, sharing = defaultdict(set), defaultdict(set)
    for row, place in enumerate(places):
        folders[place.name].add((place.host, place.folders))
        sharing[place.host, place.folders, first_word(place.name)[1]].add(row)
    groups, sizes = defaultdict(set), {}
    for row, (host, where, name) in enumerate(places):
        key = (name,) if len(folders[name]) >= 2 else (host, where, first_word(name)[1])
        groups[key].add(row)
        sizes[row] = (key, len(folders[name]) if len(key) == 1 else len(sharing[key]))
    return [
        frozenset(groups[key]) if 2 <= size < 0.9 * len(places) else Rows()
        for key, size in sizes.values()
    ]


def told(sections: Sections) -> Tree:
    """The same of the tree that grew."""
    pages = pages_below(sections)
    kin = defaultdict(set)
    for row, group in enumerate(sections.kin.tolist()):
        kin[group].add(row)
    return Tree(
        {
            (pages[node], pages[above] if above >= 0 else Rows())
            for node, above in enumerate(sections.parent.tolist())
        },
        [pages[node] for node in sections.leaf.tolist()],
        [frozenset(kin[group]) if group >= 0 else Rows() for group in sections.kin.tolist()],
    )


def pages_below(sections: Sections) -> list[Rows]:
    """Pages of each node and of the nodes below it."""
    below: list[set[int]] = [set() for _ in range(len(sections))]
    for row, leaf in enumerate(sections.leaf.tolist()):
        node = leaf
        while node >= 0:
            below[node].add(row)
            node = int(sections.parent[node])
    return [frozenset(pages) for pages in below]


_names = st.builds(
    "{}{}{}".format,
    st.sampled_from(["", "_", "."]),
    st.sampled_from(["x", "y", "Y", "z1", ""]),
    st.sampled_from(["", ".v1", ".v2.json", "-b", "_c"]),
)
# Few letters, so that pages meet. Each page once: two addresses differ in folder or name.
places = st.builds(
    Place,
    st.sampled_from(["", "", "a.org", "b.org:80"]),
    st.lists(st.sampled_from("ab"), max_size=4).map(tuple),
    _names,
).filter(lambda place: bool(place.host or place.folders or place.name))
