"""Which rule an address falls under."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.settings.rules import NO_RULE, Rule, RuleFinder


def site(address):
    return Rule(address)


def page(address):
    return Rule(address, exact=True)


@pytest.mark.parametrize(
    ("rule", "held"),
    [
        (
            "https://a.org/",
            ["https://a.org/", "https://a.org/x", "https://a.org/?q", "https://a.org/x/y"],
        ),
        ("https://a.org/x/", ["https://a.org/x/", "https://a.org/x/y", "https://a.org/x/?q=/z"]),
        (
            "https://a.org/x",
            ["https://a.org/x", "https://a.org/x?q", "https://a.org/x/", "https://a.org/x/y"],
        ),
        ("https://a.org:8443/", ["https://a.org:8443/y"]),
        ("http://a/", ["http://a/x"]),
    ],
)
def test_a_site_holds_what_is_under_its_address(rule, held):
    assert RuleFinder([site(rule)]).rules_of(held) == [0] * len(held)


@pytest.mark.parametrize(
    ("rule", "free"),
    [
        (
            "https://a.org/",
            ["http://a.org/", "https://b.a.org/", "https://a.org:8443/", "https://a.organ/"],
        ),
        ("https://a.org/x/", ["https://a.org/xy", "https://a.org/x", "https://a.org/"]),
        ("https://a.org/x/", ["https://a.org/X/", "https://a.org/?/x/"]),
        ("https://a.org/x", ["https://a.org/xy", "https://a.org/", "https://a.org/y/x"]),
    ],
)
def test_a_site_holds_nothing_else(rule, free):
    assert RuleFinder([site(rule)]).rules_of(free) == [NO_RULE] * len(free)


def test_the_longest_address_decides_and_a_page_goes_before_all():
    rules = [
        site("https://a.org/"),
        site("https://a.org/x/y/"),
        site("https://a.org/x/"),
        page("https://a.org/x/"),
        page("https://a.org/x/y/z?q"),
    ]
    find = RuleFinder(rules)

    assert find.rule_of("https://a.org/w") == 0
    assert find.rule_of("https://a.org/x/y/z") == 1
    assert find.rule_of("https://a.org/x/z") == 2
    assert find.rule_of("https://a.org/x/") == 3
    assert find.rule_of("https://a.org/x/y/z?q") == 4


def test_no_rules_hold_nothing():
    assert RuleFinder([]).rules_of(["https://a.org/"]) == [NO_RULE]


def by_hand(rules, address):
    """Each rule in turn, as the words have it."""
    best, length = NO_RULE, -1.0
    for row, rule in enumerate(rules):
        folder = address.partition("?")[0]
        stem = rule.address.removesuffix("/")
        within = folder == rule.address or folder.startswith(stem + "/")
        if rule.exact and address == rule.address:
            size = math.inf
        elif not rule.exact and within:
            size = float(len(rule.address))
        else:
            continue
        if size > length:
            best, length = row, size
    return best


paths = st.lists(st.sampled_from(["x", "y", "xy", ""]), max_size=4).map("/".join)
addresses = st.builds(
    "{}/{}{}".format,
    st.sampled_from(["https://a.org", "https://b.org", "http://a.org"]),
    paths,
    st.sampled_from(["", "", "?q", "?/x/"]),
)
rules = st.lists(
    st.builds(Rule, addresses, exact=st.booleans()).filter(
        lambda rule: rule.exact or "?" not in rule.address
    ),
    unique_by=lambda rule: (rule.address, rule.exact),
    max_size=8,
)


@given(rules, st.lists(addresses))
def test_the_rule_is_the_one_found_by_trying_all(some, asked):
    assert RuleFinder(some).rules_of(asked) == [by_hand(some, address) for address in asked]
