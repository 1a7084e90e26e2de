"""The text of new settings."""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.errors import InvalidSettings
from recrawl.settings.access_keys import ACCESS, AccessRule
from recrawl.settings.filters import DEFAULT_FILTERS
from recrawl.settings.keys import BLOCK, TOP
from recrawl.settings.rules import Rule
from recrawl.settings.sections import TABLES
from recrawl.settings.settings import Settings, read_settings
from recrawl.settings.text import first_settings
from recrawl.units import days

AGENT = "bot (me@example.org)"
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
        discover=days("10m"),
        changed=("https://example.org/changed.txt",),
        watch=("main",),
        ignore=(".advert",),
        least_change=0.3,
        target=0.95,
        filters=replace(DEFAULT_FILTERS, exclude=("/calendar/", "*.pdf")),
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
