"""Values of the settings, changed in their text."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidSettings
from recrawl.settings.edits import in_force, with_values
from recrawl.settings.settings import read_settings
from recrawl.settings.text import first_settings

TEXT = """agent = "bot (me@example.org)"  # mine
# weights = "views.csv"
budget = "500/1d"  # for now

[politeness]  # be kind
delay = "1s"

# The first.
[[site]]
address = "https://a.org/"
exclude = ["/x/",
  # prices
  "/y/"]
[site.headers]
Accept-Language = "de"

[[page]]
address = "https://a.org/"
weight = 2.0

[[listing]]
name = "jobs"
address = ["https://a.org/jobs"]
items = "li"
key = "a@href"
"""
SITE = "https://A.org"


def changed(values, *, blocks=(), text=TEXT, page=False):
    typed = {key: None if each is None else [each] for key, each in values.items()}
    return with_values(text, typed, blocks=blocks, page=page)


@pytest.mark.parametrize(
    ("key", "typed", "old", "new"),
    [
        ("budget", "900/1d", '"500/1d"  # for now', '"900/1d"  # for now'),
        ("politeness.delay", "2s", 'delay = "1s"', 'delay = "2s"'),
        ("delay", '"2s"', 'delay = "1s"', 'delay = "2s"'),
        ("together", "3", 'delay = "1s"\n', 'delay = "1s"\ntogether = 3\n'),
        ("weights", "a.csv", '"views.csv"\n', '"views.csv"\nweights = "a.csv"\n'),
        ("feed.chunks", "true", 'key = "a@href"\n', 'key = "a@href"\n\n[feed]\nchunks = true\n'),
    ],
)
def test_a_setting_of_the_crawl_is_changed_where_it_stands(key, typed, old, new):
    """A key that is not there yet comes below the comment that shows it, or below its part."""
    assert changed({key: typed})[0] == TEXT.replace(old, new)


@pytest.mark.parametrize(
    ("block", "key", "typed", "old", "new"),
    [
        (SITE, "exclude", "/z/", '["/x/",\n  # prices\n  "/y/"]', '["/z/"]'),
        (SITE, "links", "3", '"/y/"]\n', '"/y/"]\nlinks = 3\n'),
        ("jobs", "precision", "0.5", 'key = "a@href"\n', 'key = "a@href"\nprecision = 0.5\n'),
        ("https://a.org/jobs", "items", "li.b", 'items = "li"', 'items = "li.b"'),
    ],
)
def test_a_setting_of_a_block_is_changed(block, key, typed, old, new):
    assert changed({key: typed}, blocks=[block])[0] == TEXT.replace(old, new)


def test_the_page_at_the_address_of_a_site_is_meant_only_if_one_says_so():
    assert changed({"weight": "3"}, blocks=[SITE], page=True)[0] == TEXT.replace("2.0", "3")
    assert "weight = 3\n[site.headers]" in changed({"weight": "3"}, blocks=[SITE])[0]


def test_several_values_make_a_list():
    text, _ = with_values(TEXT, {"exclude": ["/a/", "*.pdf"]}, blocks=[SITE])

    assert read_settings(text).rules[0].filters.exclude == ("/a/", "*.pdf")


def test_a_key_is_unset_with_its_comment():
    text, (change,) = changed({"budget": None})

    assert text == TEXT.replace('budget = "500/1d"  # for now\n', "")
    assert change.sentence() == 'budget removed (was "500/1d")'


def test_what_is_so_already_changes_nothing():
    text, changes = changed({"budget": "500/1d", "policy": None})

    assert text == TEXT
    assert [change.sentence() for change in changes] == [
        'budget was "500/1d" already',
        "policy was not set",
    ]


@pytest.mark.parametrize(
    ("values", "blocks", "said"),
    [
        ({"links": "3"}, [], "links is a key of [[site]] or [[page]]; write the address or the "),
        ({"links": "many"}, [SITE], 'links must be a whole number, at least 0 (got "many")'),
        ({"linkz": "1"}, [SITE], 'unknown key "linkz" in [[site]]; did you mean "links"?'),
        ({"keep": "1d"}, [], "keep is a key of a table; write storage.keep or feed.keep"),
        ({"listen": "x"}, [], "listen is a key of a table; write push.listen"),
        ({"a.b": "1"}, [], '"a" is no table; there are filters, politeness, '),
        ({"agent": None}, [], "recrawl.toml as changed: agent must be the name of your crawler"),
        ({"interval": "1d", "minimum": "1h"}, [SITE], "recrawl.toml as changed, line 14: interval"),
        ({"exclude": "re:["}, [SITE], "pattern 're:[' cannot be used: a [ is not closed"),
        ({"headers": "{}"}, [SITE], "recrawl.toml, line 14: headers cannot be changed as it is "),
        ({"links": "1"}, ["https://b.org"], "recrawl.toml has no block https://b.org; `recrawl ad"),
        ({"links": "1"}, ["https://a.org/b"], "recrawl.toml has no block https://a.org/b, but a ["),
        ({"links": "1"}, ["budget"], "recrawl.toml has no block budget; write budget=VALUE"),
        ({"links": "1"}, ["x"], "recrawl.toml has no block x; settings are written KEY=VALUE"),
    ],
)
def test_what_cannot_be_is_refused(values, blocks, said):
    with pytest.raises(InvalidSettings) as raised:
        changed(values, blocks=blocks)

    assert str(raised.value).startswith(said)


@pytest.mark.parametrize(
    ("key", "typed"),
    [
        ("password", "hunter2"),
        ("token", "hunter2"),
        ("headers", '{ Authorization = "hunter2" }'),
        ("cookies", "session=hunter2"),
        ("proxy", "http://me:hunter2@proxy.example.org:3128"),
        ("address", "https://me:hunter2@example.org/"),
    ],
)
def test_a_secret_is_refused_and_not_repeated(key, typed):
    with pytest.raises(InvalidSettings) as raised:
        changed({key: typed}, blocks=["https://a.org/"], page=True)

    assert "hunter2" not in str(raised.value)


def test_inline_tables_are_changed_in_place_but_not_shortened():
    text = 'agent = "bot (me@example.org)"\npoliteness = { delay = "1s", together = 2 }\n'

    assert changed({"delay": "5s"}, text=text)[0] == text.replace("1s", "5s")
    with pytest.raises(InvalidSettings, match=r"^recrawl\.toml, line 2: delay cannot be changed"):
        changed({"delay": None}, text=text)


values = st.fixed_dictionaries(
    {},
    optional={
        "budget": st.sampled_from(["5/1d", "0.1/page/6h"]),
        "weight": st.floats(1e-300, 1e300).map(str),
        "links": st.integers(0, 2**62).map(str),
        "watch": st.sampled_from(["main", 'a[href="x\\"y"]', "ü > .b", "[x='\x7f']", '["a", "b"]']),
        "local": st.sampled_from(["true", "false"]),
        "user": st.none(),
    },
)


@given(values)
def test_what_is_set_is_read_back_and_can_be_unset(typed):
    """And every comment stays."""
    text, changes = changed(typed, blocks=[SITE])
    block = tomllib.loads(text)["site"][0]

    assert [line for line in TEXT.splitlines() if line not in text.splitlines()] == []
    assert {change.key for change in changes} == set(typed)
    for key, value in typed.items():
        assert (key in block) == (value is not None)
    assert changed(dict.fromkeys(typed), text=text, blocks=[SITE])[0] == TEXT


def test_what_is_in_force_comes_with_its_line():
    found = {(each.part, each.key): (each.value, each.line) for each in in_force(TEXT)}

    assert found["", "budget"] == ("500/1d", 3)
    assert found["", "policy"] == ("recrawl", 0)
    assert found["[politeness]", "together"] == ("1", 0)
    assert found["[[site]] https://a.org/", "exclude"] == ('["/x/", "/y/"]', 11)
    assert found["[[listing]] jobs", "address"] == ('["https://a.org/jobs"]', 23)
    assert [each.key for each in in_force(TEXT, [SITE], page=True)] == ["address", "weight"]


def test_every_setting_of_a_new_crawl_is_shown():
    text = first_settings("bot (me@example.org)")
    document = tomllib.loads(text)
    leaves = [
        (f"[{key}]", each) if isinstance(value, dict) else ("", key)
        for key, value in document.items()
        for each in (value if isinstance(value, dict) else [key])
    ]

    assert sorted((each.part, each.key) for each in in_force(text)) == sorted(leaves)
