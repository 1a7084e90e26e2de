"""The text of the settings: a new one, and one with a block more."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidSettings
from recrawl.settings.access_keys import ACCESS, AccessRule
from recrawl.settings.keys import BLOCK, TOP
from recrawl.settings.rules import Rule
from recrawl.settings.settings import TABLES, Settings, read_rule, read_settings
from recrawl.settings.text import first_settings, with_site
from recrawl.units import days

AGENT = "bot (me@example.org)"
FIRST = f'agent = "{AGENT}"\n'
KEYS = sorted({*TOP, *BLOCK, *ACCESS, *(key for keys in TABLES.values() for key in keys)})
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "crawl.md"


def test_the_first_settings_are_the_defaults():
    assert read_settings(first_settings(AGENT)) == Settings(AGENT)


def test_the_first_settings_without_an_agent_ask_for_one():
    text = first_settings()
    with pytest.raises(InvalidSettings) as raised:
        read_settings(text)

    line = text.splitlines().index('agent = ""') + 1
    assert str(raised.value).startswith(f"recrawl.toml, line {line}: agent must be ")


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_explained_above_it(key):
    lines = first_settings().splitlines()
    places = [row for row, line in enumerate(lines) if re.match(rf"(# )?{key} = ", line)]

    assert places
    if key != "address":  # explained by what stands above its block
        assert lines[places[0] - 1].lstrip().startswith("# ")


@pytest.mark.parametrize("key", KEYS)
def test_every_key_is_documented(key):
    assert f"`{key}`" in PAGE.read_text()


def test_the_examples_can_be_used_as_they_are():
    """Those who take the `# ` away from a block get settings that can be read."""
    above, mark, blocks = first_settings(AGENT).partition("# [[site]]")
    text = above + re.sub(r"^# ", "", mark + blocks, flags=re.MULTILINE)

    site, intranet, api, page, details = read_settings(text).rules

    assert site == Rule(
        "https://example.org/",
        budget=site.budget,
        minimum=days("10m"),
        maximum=30.0,
        hours=(22, 6),
        watch=("main",),
        ignore=(".advert",),
        least_change=0.3,
        target=0.95,
    )
    assert intranet.access == AccessRule(
        headers=(("Accept-Language", "de"), ("X-Api-Key", "file:key.txt")),
        cookies="cookies.txt",
        user="crawler",
        password="env:INTRANET_PASSWORD",
        proxy="socks5://127.0.0.1:1080",
        ca="company.pem",
        delay=days("5s"),
        timeout=days("60s"),
        page_size=20 << 20,
    )
    assert api.access == AccessRule(token="env:API_TOKEN")
    assert page == Rule("https://example.org/prices", exact=True, interval=1.0)
    assert (details.label, details.watch) == ("listing jobs", ("main",))


def test_the_first_settings_fit_on_a_screen_of_a_hundred_letters():
    assert max(map(len, first_settings(AGENT).splitlines())) <= 100


def test_a_block_is_added_at_the_end():
    text = with_site(FIRST + "# mine", "HTTPS://a.org", budget="5/1d", local=True)

    assert text == (
        FIRST + '# mine\n\n[[site]]\naddress = "https://a.org/"\nbudget = "5/1d"\nlocal = true\n'
    )


def test_a_page_is_added_beside_its_site():
    text = with_site(with_site(FIRST, "https://a.org/"), "https://a.org/", page=True)

    assert read_settings(text).rules == (
        Rule("https://a.org/"),
        Rule("https://a.org/", exact=True),
    )


@pytest.mark.parametrize(
    ("text", "kind", "line"),
    [
        ('[[site]]\naddress = "https://a.org"', "site", 3),
        ('[[page]]\naddress = "https://b.org"\n[[page]]\naddress = "https://a.org"', "page", 5),
        ('site = [{address = "https://a.org"}]', "site", 2),
    ],
)
def test_what_is_there_is_not_added_again(text, kind, line):
    with pytest.raises(InvalidSettings) as raised:
        with_site(FIRST + text, "https://A.org:443/", page=kind == "page")

    assert str(raised.value) == (
        f"recrawl.toml, line {line}: https://a.org/ is already a [[{kind}]]"
    )


def test_nothing_is_added_to_settings_that_cannot_be_read():
    with pytest.raises(InvalidSettings, match=r"^x\.toml: agent must be"):
        with_site("", "https://a.org/", name="x.toml")


def test_nothing_is_added_to_a_list_in_one_line():
    """TOML has no way to say it."""
    with pytest.raises(InvalidSettings) as raised:
        with_site(FIRST + 'site = [{address = "https://b.org"}]', "https://a.org/")

    assert str(raised.value) == (
        "recrawl.toml, line 2: site must be written as [[site]] for another to be added "
        "(got site = [...])"
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"weight": -1}, "weight must be a number above 0 (got -1)"),
        (
            {"weights": 1},
            (
                'unknown key "weights" in [[site]]; it belongs to the top of the file, '
                'or did you mean "weight"?'
            ),
        ),
        (
            {"interval": "1d", "minimum": "1h"},
            "interval excludes minimum and maximum (got minimum, too)",
        ),
    ],
)
def test_a_wrong_value_is_refused_by_its_address(values, message):
    with pytest.raises(InvalidSettings) as raised:
        with_site(FIRST, "https://a.org/", **values)

    assert str(raised.value) == f"https://a.org/: {message}"


texts = st.text(st.characters(codec="utf-8"), max_size=8)
blocks = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.sampled_from(["5/1d", "0.1/page/6h"]),
        "weight": st.floats(1e-300, 1e300) | st.integers(1, 10**20),
        "interval": st.sampled_from(["90s", "2w"]),
        "hours": st.sampled_from(["1-2", "23-0"]),
        "links": st.integers(0, 2**62),
        "watch": st.lists(st.sampled_from(["main", 'a[href="x\\"y"]', "ü > .b", "[x='\x7f']"])),
        "local": st.booleans(),
    },
)


@given(st.lists(st.tuples(blocks, st.booleans()), max_size=4), texts)
def test_what_is_added_is_read_back(added, comment):
    """And the text before it stays as it was, whatever its comments hold."""
    kept = "".join(letter for letter in comment if letter.isprintable())
    text = f"{FIRST}# {kept}"
    wanted = []
    for number, (values, page) in enumerate(added):
        address = f"https://a.org/{number}/"
        longer = with_site(text, address, page=page, **values)
        assert longer.startswith(text)
        text = longer
        wanted.append(read_rule(address, values, page=page))

    assert list(read_settings(text).rules) == sorted(wanted, key=lambda rule: rule.exact)
