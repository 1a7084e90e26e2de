"""Which addresses of a site are taken in, and under which name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidSettings
from recrawl.parse.address_cleaning import TRACKING_PARAMETERS
from recrawl.settings.filters import DEFAULT_FILTERS, Filters, Refused
from recrawl.settings.pools import fingerprint
from recrawl.settings.rules import NO_RULE, Rule
from recrawl.settings.settings import Settings, plain_settings, read_settings
from recrawl.visits.status import Refusal

AGENT = 'agent = "bot (me@example.org)"\n'
SITE = "https://a.org/"


def site(**filters):
    rules = (Rule(SITE, filters=Filters(**filters)),)
    return Settings("bot (me@example.org)", rules=rules)


def read(text):
    return read_settings(AGENT + text)


def test_what_is_excluded_or_not_included_has_no_rule():
    settings = site(include=("/news/", "/about"), exclude=("*/print",))

    paths = ["news/1", "about", "news/1/print", "shop", ""]
    assert [settings.rule_of(SITE + path) for path in paths] == [0, 0, NO_RULE, NO_RULE, 0]


def test_the_address_of_the_block_is_always_in():
    assert site(exclude=("/",)).rule_of(SITE) == 0
    assert site(include=("/x/",)).rule_of(SITE) == 0


def test_why_an_address_is_left_out():
    settings = site(include=("/news/",), exclude=("*/print",))

    assert settings.admit(f"{SITE}news/1/print").refused == Refused(Refusal.EXCLUDED, "*/print")
    assert settings.admit(f"{SITE}shop").refused == Refused(Refusal.NOT_INCLUDED)
    assert settings.admit("https://b.org/").refused is None


def test_a_page_is_known_without_what_is_dropped():
    settings = site(drop_parameters=("utm_*",), exclude=("*sort=*",))
    address = f"{SITE}x?utm_id=1&id=7"

    assert settings.admit(address).address == f"{SITE}x?id=7"
    assert settings.admit(address).dropped == ("utm_id",)
    assert settings.rule_of(address) == NO_RULE
    assert settings.rule_of(f"{SITE}x?id=7") == 0
    assert settings.admit(f"{SITE}x?sort=1&utm_id=1").refused == Refused(
        Refusal.EXCLUDED, "*sort=*"
    )


def test_the_block_that_covers_an_address_covers_it_left_out_or_not():
    """Whether a host may be local, say, does not depend on filters."""
    settings = site(exclude=("/x/",))

    assert settings.rule_for(f"{SITE}x/") is settings.rules[0]


def test_a_page_block_is_taken_as_it_is_written():
    text = f'[[site]]\naddress = "{SITE}"\nexclude = ["*"]\n'
    settings = read(f'{text}[[page]]\naddress = "{SITE}x?utm_source=mine"')

    assert settings.rule_of(f"{SITE}x?utm_source=mine") == 1
    assert settings.rule_of(f"{SITE}x") == NO_RULE


def test_blocks_have_the_filters_of_the_file_but_for_their_own():
    settings = read(
        '[filters]\nexclude = ["*.pdf"]\ntraps = false\n'
        f'[[site]]\naddress = "{SITE}"\nexclude = ["/calendar/"]\n'
        '[[site]]\naddress = "https://b.org/"\ndrop_parameters = []\n'
    )

    first, second = (rule.filters for rule in settings.rules)
    assert first == Filters(
        exclude=("/calendar/",), drop_parameters=TRACKING_PARAMETERS, duplicates=True
    )
    assert second == Filters(exclude=("*.pdf",), duplicates=True)


def test_by_default_tracking_parameters_are_dropped():
    (rule,) = read(f'[[site]]\naddress = "{SITE}"').rules

    assert rule.filters == DEFAULT_FILTERS
    assert DEFAULT_FILTERS.drop_parameters == TRACKING_PARAMETERS


def test_somebody_elses_crawler_is_left_its_addresses():
    settings = plain_settings({}, name="plain")

    assert settings.rule_of(f"{SITE}x?utm_source=a") == 0


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('exclude = "/x/"', 'exclude must be a list of patterns such as ["/calendar/", "*.pdf"]'),
        ("exclude = [1]", "exclude must be a list of patterns"),
        ('include = ["re:(a"]', "line 4: pattern 're:(a' cannot be used: a ( is not closed"),
        ('drop_parameters = ["a=b"]', 'must be a list of names such as ["utm_*", "ref"]'),
        ("traps = 1", "traps must be true or false"),
        ('excludes = ["/x/"]', 'did you mean "exclude"?'),
    ],
)
def test_what_is_wrong_is_said_with_its_line(line, said):
    with pytest.raises(InvalidSettings, match=r"recrawl\.toml, line 4: ") as caught:
        read(f'[[site]]\naddress = "{SITE}"\n{line}')

    assert said in str(caught.value)


def test_a_page_has_no_filters():
    with pytest.raises(InvalidSettings, match="exclude is for a \\[\\[site\\]\\]"):
        read(f'[[page]]\naddress = "{SITE}"\nexclude = []')


def test_other_filters_put_pages_under_other_rules():
    """So a checkpoint of the old ones does not fit."""
    plain, excluding, dropping = site(), site(exclude=("/x/",)), site(drop_parameters=("ref",))

    assert len({fingerprint(each) for each in (plain, excluding, dropping, site(traps=True))}) == 4
    assert fingerprint(site(duplicates=True)) == fingerprint(plain)


patterns = st.lists(st.sampled_from(["/a/", "/b", "*b", "re:b$", "/a/**/c", "*x=*"]), max_size=3)
paths = st.text("ab/cx=?", max_size=8).map(lambda text: SITE + text.lstrip("/"))


@given(patterns.map(tuple), patterns.map(tuple), paths)
def test_laws_of_include_and_exclude(include, exclude, address):
    """In is what is included and not excluded; more of one lets in more, of the other less."""
    filters = Filters(include=include, exclude=exclude)
    is_in = filters.refused(address) is None
    excluded = Filters(exclude=exclude).refused(address) is not None
    included = Filters(include=include).refused(address) is None

    assert is_in is (included and not excluded)
    assert Filters(include=exclude, exclude=exclude).refused(address) is not None or not exclude
    if include and is_in:
        assert Filters(include=(*include, "/more/"), exclude=exclude).refused(address) is None
    if not is_in:
        assert Filters(include=include, exclude=(*exclude, "/more/")).refused(address) is not None


@given(st.sampled_from(["", "x?utm_source=1", "x;sid=1", "a/", "a/b?ref=1&c", "b"]), patterns)
def test_an_admitted_address_is_admitted_as_it_is(path, exclude):
    settings = site(exclude=tuple(exclude), drop_parameters=("utm_*", "ref"))
    once = settings.admit(SITE + path)

    assert settings.admit(once.address).address == once.address
    assert settings.admit(once.address).rule == once.rule
    assert settings.rule_of(once.address) == once.rule
