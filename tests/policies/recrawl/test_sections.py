"""Which pages belong together: the tree that grows is the tree of its definition."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recrawl.policies.recrawl.sections import Sections, chain
from tests.policies.recrawl.trees import Place, pages_below, places, told, tree_of

ODD = [
    "",
    "/",
    "////",
    "?",
    "#",
    "?q=a/b",
    "#a/b",
    "https://",
    "https:///",
    "https://a.org",
    "https://a.org/",
    "https://a.org?x=/y/z",
    "https://a.org:8080/a",
    "a.org/a",
    "//a.org/a",
    "https://a.org/web/https://b.org/c",
    "mailto:me",
    "ünï/cödé/ÅÄÖ.html",
    "İstanbul/İx.json",
    "日本/日本語.html",
    "a\nb/c\n.d",
    "a/\n",
    "a/\nb",
    "a/b",
    "\n.v1",
    "x.v1",
    "a\0b/c",
    "a b/ c",
    "\ud800/x",
    "x" * 100_000,
    "a/" * 200 + "x",
]


def grown(addresses, *, deepest=16, batch=10**9):
    """Sections of pages that come a batch at a time, with kin and sites."""
    sections = Sections(deepest=deepest)
    for first in range(0, len(addresses), batch):
        sections.grow(addresses[first : first + batch])
    sections.relate()
    return sections


def leaves(*addresses):
    return grown(addresses).leaf.tolist()


def test_a_chain_runs_from_the_host_over_folders_to_the_family():
    host, parts, name, kind = chain("https://a.org/b/_Compute.v1.json#top")

    assert (host, name) == ("a.org", "_Compute.v1.json")
    assert parts == ["a.org/", "a.org/b/", "a.org/b/\ncompute"]
    assert kind == "a.org/b/\n.v1.json"


def test_a_folder_of_two_among_others_is_a_node():
    """Pages 0 and 1 share a folder; page 2 stands alone under the crawl."""
    assert leaves("a/x", "a/y", "b/z") == [1, 1, 0]


def test_a_folder_of_all_pages_is_no_node():
    """It would say nothing that the crawl does not."""
    assert leaves("a/x", "a/y", "a/z") == [0, 0, 0]


def test_a_family_is_a_node_in_a_flat_folder():
    """`compute.v1.json` and `_compute.beta.json` belong together, `drive` stands alone."""
    assert leaves("compute.v1.json", "_Compute.beta.json", "drive.v1.json") == [1, 1, 0]


def test_a_node_keeps_its_number_and_what_it_held_moves_below():
    """The folder that held everything becomes a node when the first page outside it comes."""
    sections = grown(["a/b/x", "a/b/y"])
    assert sections.leaf.tolist() == [0, 0]

    sections.grow(["a/c/z"])
    assert sections.leaf.tolist() == [1, 1, 0]

    sections.grow(["d/z"])
    assert sections.leaf.tolist() == [1, 1, 2, 0]
    assert sections.parent.tolist() == [-1, 2, 0]
    assert [nodes.tolist() for nodes in sections.levels] == [[0], [2], [1]]
    assert sections.path.tolist() == [[0, -1, -1], [0, 2, 1], [0, 2, -1]]


def test_namesakes_in_several_folders_are_kin():
    """Otherwise pages of one folder that share the rest of their names are."""
    kin = grown(["en/about", "fr/about", "api/a.v1", "api/b.v1", "api/c.v2"]).kin

    assert kin[0] == kin[1] >= 0
    assert kin[2] == kin[3] >= 0
    assert kin[0] != kin[2]
    assert kin[4] == -1


@pytest.mark.parametrize(("others", "related"), [(1, False), (2, True)])
def test_kin_of_nine_tenths_of_the_crawl_tell_nothing(others, related):
    """9 of 10 pages are 90 %, 9 of 11 are fewer."""
    kin = grown([f"{n}/x" for n in range(9)] + [f"o/{n}.{n}" for n in range(others)]).kin

    assert (kin[:9] >= 0).all() == related


@given(st.lists(places, min_size=1, max_size=25, unique=True), st.integers(1, 30), st.data())
def test_a_tree_that_grows_is_that_of_its_definition(pages, batch, data):
    """Pages in any order, any number at a time."""
    pages = data.draw(st.permutations(pages))
    sections = grown([place.address for place in pages], batch=batch)

    assert told(sections) == tree_of(pages)


@given(st.lists(places, min_size=1, max_size=25, unique=True), st.integers(1, 5))
def test_folders_beyond_the_deepest_belong_to_the_last(pages, deepest):
    sections = grown([place.address for place in pages], deepest=deepest, batch=3)
    expected = tree_of(pages, deepest)

    assert told(sections).nodes == expected.nodes
    assert told(sections).leaf == expected.leaf


@given(st.lists(places, min_size=1, max_size=15, unique=True))
def test_a_depth_of_nothing_leaves_pages_alone(pages):
    sections = grown([place.address for place in pages], deepest=0)

    assert len(sections) == 1
    assert not sections.leaf.any()
    assert (sections.kin == -1).all()


def check_shape(sections, pages):
    """What every tree obeys, whatever the addresses."""
    below = pages_below(sections)
    assert sections.leaf.shape == sections.kin.shape == sections.site.shape == (pages,)
    assert sections.leaf.dtype == np.int64
    assert sorted(np.concatenate(sections.levels).tolist()) == list(range(len(sections)))
    for node, above in enumerate(sections.parent.tolist()):
        way = sections.path[node][sections.path[node] >= 0].tolist()
        assert way[0] == 0
        assert way[-1] == node
        assert way[:-1] == (
            sections.path[above][sections.path[above] >= 0].tolist() if node else []
        )
        assert not node or 2 <= len(below[node]) < len(below[above])
    assert (sections.kin < sections.groups).all()
    assert (sections.site < sections.sites).all()
    assert sections.site_of_node.shape == sections.is_host.shape == (len(sections),)


@given(st.lists(st.sampled_from(ODD), min_size=1, max_size=20), st.integers(1, 20))
def test_odd_addresses_have_a_place_too(addresses, batch):
    check_shape(grown(addresses, batch=batch), len(addresses))


@given(st.lists(st.text(st.sampled_from("ab/:?#.\n_é"), max_size=12), min_size=1, max_size=20))
def test_any_text_is_an_address(addresses):
    check_shape(grown(addresses, batch=4), len(addresses))


@given(st.lists(places, min_size=1, max_size=15, unique=True), st.text("abx/.", max_size=5))
def test_queries_and_fragments_do_not_matter(pages, query):
    """They are dropped before anything else, whatever stands in them."""
    plain = grown([place.address for place in pages])
    asked = grown([f"{place.address}?{query}#{query}" for place in pages])

    assert told(plain) == told(asked)


def test_a_large_host_is_a_site_of_its_own():
    """Hosts of fewer than 20 pages and pages without a host share site 0."""
    hosts = ["large.org"] * 20 + ["small.org"] * 19 + [""] * 25
    sections = grown([Place(host, ("f",), f"p{n}").address for n, host in enumerate(hosts)])

    assert sections.sites == 2
    assert sections.site.tolist() == [1] * 20 + [0] * 44


def test_a_host_that_grows_becomes_a_site_when_pages_are_next_related():
    """And keeps its number when others follow; its pages found in between are on it."""
    sections = grown([f"https://a.org/{n}" for n in range(19)] + ["https://b.org/"])
    assert sections.sites == 1

    sections.grow([f"https://b.org/{n}" for n in range(30)] + ["https://a.org/x"])
    assert not sections.site.any()
    assert sections.relate()
    assert not sections.relate()
    assert sections.sites == 3
    first = sections.site.copy()
    assert len(set(first[:19])) == 1
    sections.grow(["https://b.org/y", "https://c.org/"])

    assert sections.site.tolist() == [*first.tolist(), first[20], 0]


def test_leaves_of_a_site_trust_as_the_site_does():
    """`site_of_node` is what the clock of a page is mixed by."""
    sections = grown([f"https://{h}.org/{n % 3}/{n}" for h in "ab" for n in range(30)])

    np.testing.assert_array_equal(sections.site_of_node[sections.leaf], sections.site)
    assert np.count_nonzero(sections.is_host) == 2
    assert (sections.parent[sections.is_host] == 0).all()


def test_where_several_sites_meet_none_is_trusted_alone():
    """With families only, pages of all hosts hang on the crawl itself."""
    sections = grown([f"https://{h}.org/{h}{n}" for h in "ab" for n in range(30)], deepest=1)

    assert sections.sites == 3
    assert sections.site_of_node.tolist() == [0]


def test_the_way_up_is_told_by_depth():
    sections = grown(["a/b/x", "a/b/y", "a/c/x", "a/c/y", "d/x", "d/y", "e"])
    way = sections.upwards(sections.leaf[[0, 4]])

    below = pages_below(sections)
    assert [{below[node] for node in nodes.tolist()} for nodes in way] == [
        {frozenset(range(7))},
        {frozenset(range(4)), frozenset({4, 5})},
        {frozenset({0, 1})},
    ]


def test_no_more_pages_change_nothing():
    """A tick in which nothing was found; leaves are used as rows afterwards."""
    sections = grown(["a/x", "a/y", "b"])
    sections.grow([])

    check_shape(sections, 3)


def test_a_deep_address_takes_no_more_room_than_its_length():
    """10,000 folders are 20 kB; all their prefixes together are 100 MB."""
    tracemalloc.start()
    grown(["a/" * 10_000 + "x"])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert peak < 5e6


def test_parts_that_have_settled_are_found_again():
    """Of the first 100,000 parts the oldest lie in columns; a second page makes each a node."""
    first = [f"{page}/x" for page in range(70_000)]
    sections = grown(first)
    sections.grow(["0/y", "1/y", "69999/y", "70000/y"])

    leaf = sections.leaf
    assert leaf[[0, 1, 69_999]].tolist() == leaf[-4:-1].tolist() == [1, 2, 3]
    assert leaf[-1] == 0


def test_a_name_is_kin_across_folders_only():
    """`/search?q=1` and `/search?q=2` are one name in one folder: the rest of the name decides."""
    kin = grown(["a/s.x?1", "a/s.x?2", "a/t.x", "b/u", "c/v"]).kin

    assert kin[0] == kin[1] == kin[2] >= 0


def test_a_page_on_a_node_that_had_none_of_its_own_is_on_its_site():
    """All pages of the host stood in folders; the next one hangs on the host itself."""
    sections = grown([f"https://{h}.org/{n % 2}/{n}" for h in "ab" for n in range(30)])
    sections.grow(["https://a.org/z"])

    assert sections.site_of_node[sections.leaf[-1]] == sections.site[-1] > 0


def test_an_address_within_a_path_is_no_host():
    assert chain("archive.org/2020/https://b.org/c")[0] == ""


@pytest.fixture
def six_shown(monkeypatch):
    """As in a crawl of more than a hundred thousand nodes."""
    monkeypatch.setattr("recrawl.policies.recrawl.sections._MOST_SHOWN", 6)
    monkeypatch.setattr("recrawl.policies.recrawl.sections._PAGES_A_NODE", 10**9)


many_places = st.lists(places, min_size=20, max_size=60, unique_by=lambda place: place.address)


@given(many_places)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_of_too_many_nodes_the_largest_are_shown(six_shown, some):
    whole = tree_of(some)
    shown = told(grown([place.address for place in some]))
    sets = [pages for pages, _ in shown.nodes]

    sizes = sorted((len(pages) for pages, _ in whole.nodes), reverse=True)
    assert set(sets) <= {pages for pages, _ in whole.nodes}
    assert sorted(map(len, sets), reverse=True) == sizes[:6]
    for row, leaf in enumerate(shown.leaf):
        assert leaf == min((pages for pages in sets if row in pages), key=len)
    for pages, above in shown.nodes:
        larger = [each for each in sets if pages < each]
        assert above == min(larger, key=len, default=frozenset())


@given(many_places, st.integers(1, 20))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_shown_stays_and_grows_the_same_after_it_was_kept(six_shown, some, batch):
    addresses = [place.address for place in some]
    straight, again = Sections(), Sections()
    before: list[frozenset[int]] = []
    for first in range(0, len(addresses), batch):
        straight.grow(addresses[first : first + batch])
        again = Sections.resumed(again.kept, partial(list, addresses[:first]))
        again.grow(addresses[first : first + batch])
        pages = pages_below(straight)
        assert len(pages) <= 6
        # A node keeps its number: whoever was below it is below it still.
        assert all(old <= new for old, new in zip(before, pages, strict=False))
        before = pages

    for name in ("leaf", "parent", "is_host", "site"):
        np.testing.assert_array_equal(getattr(again, name), getattr(straight, name))
    assert again.parted == [] or again.parted == straight.parted[-len(again.parted) :]
    np.testing.assert_array_equal(again.path, straight.path)
