"""Blocks of the settings: added at the end, and taken out again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidSettings
from recrawl.settings.blocks import NewBlock, with_block, with_blocks, without_blocks
from recrawl.settings.filters import DEFAULT_FILTERS
from recrawl.settings.rules import Rule
from recrawl.settings.settings import FILE_NAME, read_rule, read_settings

FIRST = 'agent = "bot (me@example.org)"\n'


def with_site(text, address, *, page=False, name=FILE_NAME, **values):
    return with_block(text, NewBlock(address, page, values), name=name)


def test_a_block_is_added_at_the_end():
    text = with_site(FIRST + "# mine", "HTTPS://a.org", budget="5/1d", local=True)

    assert text == (
        FIRST + '# mine\n\n[[site]]\naddress = "https://a.org/"\nbudget = "5/1d"\nlocal = true\n'
    )


def test_a_page_is_added_beside_its_site():
    text = with_site(with_site(FIRST, "https://a.org/"), "https://a.org/", page=True)

    assert read_settings(text).rules == (
        Rule("https://a.org/", filters=DEFAULT_FILTERS),
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
        f"recrawl.toml, line {line}: https://a.org/ is already a [[{kind}]]; `recrawl add "
        "--again` discovers its pages again"
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
        ({"weightless": 1}, 'unknown key "weightless" in [[site]]; did you mean "weight"?'),
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


def test_many_blocks_are_added_and_those_that_are_there_are_named():
    text = with_site(FIRST, "https://a.org/")
    blocks = [
        NewBlock("https://b.org"),
        NewBlock("https://a.org"),
        NewBlock("https://a.org", page=True),
    ]

    longer, known = with_blocks(text, [*blocks, NewBlock("https://b.org/")])

    assert known == ["https://a.org/", "https://b.org/"]
    assert [rule.address for rule in read_settings(longer).rules] == [
        *("https://a.org/", "https://b.org/", "https://a.org/")
    ]


TEXT = """agent = "bot (me@example.org)"  # mine

# The first.
[[site]]
address = "https://a.org/"
watch = ["main",
  # prices
  ".price"]

# The second, with what stands above it.
[[page]]
address = "https://a.org/p"
# Nothing else.

[feed]
chunks = true
"""


def test_a_block_is_taken_out_and_comments_stay():
    assert without_blocks(TEXT, ["https://A.org"]) == TEXT.replace(
        """[[site]]
address = "https://a.org/"
watch = ["main",
  # prices
  ".price"]
""",
        "",
    )


def test_a_site_and_the_page_at_its_address_go_together():
    text = with_site(with_site(FIRST, "https://a.org/"), "https://a.org/", page=True)

    assert without_blocks(text, ["https://a.org/"]) == FIRST


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (FIRST, "recrawl.toml has no [[site]] or [[page]] https://a.org/"),
        (
            FIRST + 'site = [{address = "https://a.org"}, {address = "https://b.org"}]',
            "recrawl.toml: [[site]] https://a.org/ is not written as a block; remove it by hand",
        ),
    ],
)
def test_what_is_no_block_stays(text, said):
    with pytest.raises(InvalidSettings) as raised:
        without_blocks(text, ["https://a.org"])

    assert str(raised.value) == said


@given(st.lists(st.booleans(), min_size=1, max_size=5), st.data())
def test_what_was_added_can_be_taken_out(kinds, data):
    """Whichever blocks go, the others are as they were."""
    blocks = [
        NewBlock(f"https://a.org/{row}/", page, {"watch": ["a"]}) for row, page in enumerate(kinds)
    ]
    text, _ = with_blocks(TEXT, blocks)
    gone = data.draw(st.sets(st.sampled_from([block.address for block in blocks])))

    left = without_blocks(text, gone)

    assert left == with_blocks(TEXT, [each for each in blocks if each.address not in gone])[0]
