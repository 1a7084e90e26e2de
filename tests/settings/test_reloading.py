"""Settings that are read again: what applies at once, and what waits for a restart."""

from dataclasses import replace

import pytest

from recrawl.plan.budget import Budget
from recrawl.settings.filters import Filters
from recrawl.settings.pools import fingerprint
from recrawl.settings.reloading import reload_settings
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings

A, B, PAGE = Rule("https://a.org/"), Rule("https://b.org/"), Rule("https://a.org/", exact=True)
OLD = Settings("bot (me@example.org)", rules=(A, B, PAGE))


def with_rules(*rules):
    return replace(OLD, rules=rules)


@pytest.mark.parametrize(
    ("new", "applied", "restart"),
    [
        (OLD, (), ()),
        (replace(OLD, budget=Budget(9.0), feed_keep=1.0), ("budget", "keep in [feed]"), ()),
        (replace(OLD, policy="uniform", delay=1.0), ("delay",), ("policy",)),
        (replace(OLD, store="other.db"), (), ("store",)),
        (with_rules(replace(A, links=3), B, PAGE), ("https://a.org/",), ()),
        (with_rules(A, PAGE), (), ("https://b.org/ (removed)",)),
        (with_rules(Rule("https://c.org/"), A, B, PAGE), ("https://c.org/ (new)",), ()),
        (with_rules(B, A, PAGE), (), ()),
        (
            with_rules(replace(A, weight=2.0, links=1), replace(B, budget=Budget(1.0)), PAGE),
            ("https://a.org/",),
            ("weight of https://a.org/", "budget of https://b.org/"),
        ),
    ],
)
def test_what_changed_is_said(new, applied, restart):
    found = reload_settings(OLD, new)

    assert (found.applied, found.restart) == (applied, restart)
    if not restart:
        assert found.settings == new


def test_what_waits_is_as_it_was():
    """So what was learned fits, but for the numbers of rules."""
    new = replace(OLD, policy="uniform", rules=(replace(A, weight=2.0, budget=Budget(1.0)), PAGE))

    found = reload_settings(OLD, new)

    assert sorted(fingerprint(found.settings)) == sorted(fingerprint(OLD))


def test_filters_may_have_to_wait():
    """Where they leave out pages that were visited."""
    filtered = replace(A, links=3, filters=Filters(exclude=("/b/",)))

    found = reload_settings(OLD, with_rules(filtered, B, PAGE), regroups=False)

    assert found.settings == with_rules(replace(A, links=3), B, PAGE)
    assert (found.applied, found.restart) == (("https://a.org/",), ("filters of https://a.org/",))


def test_new_blocks_may_have_to_wait():
    found = reload_settings(OLD, with_rules(A, B, Rule("https://c.org/"), PAGE), regroups=False)

    assert found.settings == OLD
    assert found.restart == ("https://c.org/ (new)",)
