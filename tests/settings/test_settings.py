"""Settings in, values out; what is wrong is refused with its line."""

import json
import math
import re
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.errors import InvalidSettings
from recrawl.plan.budget import Budget
from recrawl.plan.objectives import OBJECTIVES
from recrawl.settings.filters import DEFAULT_FILTERS
from recrawl.settings.keys import BLOCK, TABLES, TOP
from recrawl.settings.rules import Rule
from recrawl.settings.settings import Settings, read_rule, read_settings

AGENT = "bot (me@example.org)"
FIRST = f'agent = "{AGENT}"\n'


def refusal(text):
    with pytest.raises(InvalidSettings) as raised:
        read_settings(text)
    return str(raised.value)


def test_an_agent_is_enough():
    assert read_settings(FIRST) == Settings(
        agent=AGENT,
        budget=Budget(500.0),
        objective="harmonic",
        delay=1 / 86_400,
        together=1,
        store="recrawl.db",
        versions=10,
        keep=90.0,
        size=10 * 1024**3,
        rules=(),
    )


def test_every_key_is_read():
    settings = read_settings(
        FIRST
        + """
        budget = "0.1/page/12h"
        objective = "age"
        [politeness]
        delay = "3h"
        together = 4
        [storage]
        store = "news.db"
        versions = 0
        keep = "2w"
        size = "1.5M"
        [[page]]
        address = "https://example.org/prices?all#top"
        interval = "6h"
        [[site]]
        address = "HTTPS://Example.org"
        budget = "24/1d"
        weight = 2
        minimum = "12h"
        maximum = "30d"
        hours = "22 - 6"
        links = 3
        watch = ["main", "p > b"]
        ignore = [".advert"]
        local = true
        """
    )

    assert settings == Settings(
        agent=AGENT,
        budget=Budget(0.2, "page"),
        objective="age",
        delay=0.125,
        together=4,
        store="news.db",
        versions=0,
        keep=14.0,
        size=1_572_864,
        rules=(
            Rule(
                "https://example.org/",
                budget=Budget(24.0),
                weight=2.0,
                minimum=0.5,
                maximum=30.0,
                hours=(22, 6),
                links=3,
                watch=("main", "p > b"),
                ignore=(".advert",),
                local=True,
                filters=DEFAULT_FILTERS,
            ),
            Rule("https://example.org/prices?all", exact=True, interval=0.25),
        ),
    )


def test_there_are_few_keys():
    assert len({*TOP, *BLOCK, *(key for keys in TABLES.values() for key in keys)}) <= 34


def test_the_rule_names_every_objective():
    assert TOP["objective"].rule == f"one of {', '.join(OBJECTIVES)}"


def test_a_rule_is_found_by_address():
    settings = read_settings(FIRST + '[[site]]\naddress = "https://a.org"\nlinks = 2')

    assert settings.rule_of("https://a.org/x") == 0
    assert settings.rules_of(["https://b.org/", "https://a.org/"]) == [-1, 0]


@pytest.mark.parametrize(
    "agent",
    [
        "my-crawler (+https://example.org/about; me@example.org)",
        "my-crawler/1.0 (+http://example.org)",
        "Bot; me@example.org",
        "a.b_c-d https://example.org/bot.html",
    ],
)
def test_an_agent_has_a_name_and_a_contact(agent):
    assert read_settings(f'agent = "{agent}"').agent == agent


@pytest.mark.parametrize(
    "agent",
    [
        "",
        "my-crawler",
        "Mozilla/5.0 (X11; Linux x86_64)",
        "https://example.org/bot",
        "me@example.org",
        "bot (https://)",
        "bot @home",
        "bot (me@example.org)\\r\\nCookie: a=b",
        "bot\\u0000 me@example.org",
        "böt (me@example.org)",
        "bot (me@example.org)" + "x" * 300,
        " bot (me@example.org)",
    ],
)
def test_an_agent_that_nobody_can_write_to_is_refused(agent):
    said = refusal(f'# mine\nagent = "{agent}"')

    assert said.startswith("recrawl.toml, line 2: agent must be the name of your crawler with a ")


def test_a_missing_agent_is_refused():
    said = refusal("")

    assert said.startswith("recrawl.toml: agent must be the name of your crawler with a contact")
    assert said.endswith(" (got none)")


SITE = '[[site]]\naddress = "https://example.org/"\n'

WRONG = {
    'budget = "lots"': 'line 2: budget must be visits over a time such as 500/1d (got "lots")',
    'budget = "4/change"': "line 2: budget must be visits over a time such as 500/1d "
    '(got "4/change")',
    "budget = 500": "line 2: budget must be visits over a time such as 500/1d (got 500)",
    'budget = "5/mon"': 'line 2: budget must be visits over a time such as 500/1d (got "5/mon")',
    'objective = "fame"': "line 2: objective must be one of freshness, harmonic, age, missed, "
    'detected (got "fame")',
    "objective = []": "line 2: objective must be one of freshness, harmonic, age, missed, "
    "detected (got [])",
    "[politeness]\ndelay = 1": "line 3: delay must be a time such as 1s (got 1)",
    '[politeness]\ndelay = "-1s"': 'line 3: delay must be a time such as 1s (got "-1s")',
    "politeness.together = 0": "line 2: together must be a whole number of requests, at least 1 "
    "(got 0)",
    "politeness = {together = true}": "line 2: together must be a whole number of requests, "
    "at least 1 (got true)",
    '[storage]\nstore = ""': "line 3: store must be the name of a file, or "
    'postgresql://host/database (got "")',
    "[storage]\nversions = -1": "line 3: versions must be a whole number, at least 0 (got -1)",
    "[storage]\nversions = 1.5": "line 3: versions must be a whole number, at least 0 (got 1.5)",
    '[storage]\nkeep = "forever"': 'line 3: keep must be a time such as 90d (got "forever")',
    '[storage]\nsize = "2 PB"': 'line 3: size must be a size such as 500MB or 2GB (got "2 PB")',
    '[storage]\nsize = "2\u212a"': "line 3: size must be a size such as 500MB or 2GB "
    '(got "2\u212a")',
    '[storage]\nsize = "\u202e\u2028"': "line 3: size must be a size such as 500MB or 2GB "
    '(got "\\u202e\\u2028")',
    '[storage]\nsize = "0"': 'line 3: size must be a size such as 500MB or 2GB (got "0")',
    SITE + "weight = 0": "line 4: weight must be a number above 0 (got 0)",
    SITE + "weight = nan": "line 4: weight must be a number above 0 (got NaN)",
    SITE + "weight = 1" + "0" * 400: "line 4: weight must be a number above 0 "
    f"(got 1{'0' * 59}...)",
    SITE + "weight = true": "line 4: weight must be a number above 0 (got true)",
    SITE + 'hours = "5-5"': "line 4: hours must be two different hours of the day in UTC such "
    'as 22-6 (got "5-5")',
    SITE + 'hours = "24-5"': "line 4: hours must be two different hours of the day in UTC such "
    'as 22-6 (got "24-5")',
    SITE + 'hours = "night"': "line 4: hours must be two different hours of the day in UTC such "
    'as 22-6 (got "night")',
    SITE + "links = -1": "line 4: links must be a whole number, at least 0 (got -1)",
    SITE + 'local = "yes"': 'line 4: local must be true or false (got "yes")',
    SITE + 'watch = "main"': "line 4: watch must be a list of CSS selectors such as "
    '["main", ".price"] (got "main")',
    SITE + 'ignore = ["div["]': "line 4: ignore must be a list of CSS selectors such as "
    '["main", ".price"] (got ["div["])',
    SITE + 'ignore = [":has("]': "line 4: ignore must be a list of CSS selectors such as "
    '["main", ".price"] (got [":has("])',
    SITE + "ignore = [1979-05-27]": "line 4: ignore must be a list of CSS selectors such as "
    '["main", ".price"] (got ["1979-05-27"])',
    '[[page]]\naddress = "example.org"': "line 3: address must be an address that begins with "
    'http:// or https:// (got "example.org")',
    '[[page]]\naddress = "ftp://example.org"': "line 3: address must be an address that begins "
    'with http:// or https:// (got "ftp://example.org")',
    "[[page]]\nweight = 1": "line 2: [[page]] must have an address (got none)",
    '[[site]]\naddress = "https://a.org/?q"': "line 3: address of a [[site]] must "
    'not have a query; use a [[page]] (got "https://a.org/?q")',
}


@pytest.mark.parametrize("text", WRONG)
def test_a_wrong_value_is_refused_with_its_line(text):
    assert refusal(FIRST + text) == f"recrawl.toml, {WRONG[text]}"


UNKNOWN = {
    SITE + "weights = 2": 'line 4: unknown key "weights" in [[site]]; it belongs to the top of the '
    'file, or did you mean "weight"?',
    "bugdet = 1": 'line 2: unknown key "bugdet" in the top of the file; did you mean "budget"?',
    "Budget = 1": 'line 2: unknown key "Budget" in the top of the file; did you mean "budget"?',
    "[[sites]]": 'line 2: unknown key "sites" in the top of the file; did you mean [[site]]?',
    "[polite]": 'line 2: unknown key "polite" in the top of the file; did you mean [politeness]?',
    "delay = 1": 'line 2: unknown key "delay" in the top of the file; it belongs to [politeness] '
    "or [[site]] or [[page]]",
    '[storage]\nbudget = "1/1d"': 'line 3: unknown key "budget" in [storage]; it belongs to '
    "the top of the file or [[site]] or [[page]]",
    SITE + "[site.storage]": 'line 4: unknown key "storage" in [[site]]; [storage] is a table of '
    "its own",
    "[politeness]\nxyz = 1": 'line 3: unknown key "xyz" in [politeness]; expected one of '
    "delay, together",
    '"\u202e" = 1': 'line 2: unknown key "\\u202e" in the top of the file; expected one of '
    "agent, budget, objective, policy, weights, discover",
    '"a\\nb" = 1': 'line 2: unknown key "a\\nb" in the top of the file; expected one of '
    "agent, budget, objective, policy, weights, discover",
}


@pytest.mark.parametrize("text", UNKNOWN)
def test_an_unknown_key_is_refused_with_the_one_that_may_be_meant(text):
    assert refusal(FIRST + text) == f"recrawl.toml, {UNKNOWN[text]}"


CONTRADICTIONS = {
    SITE + 'minimum = "1h"\ninterval = "1d"': "line 5: interval excludes minimum and "
    "maximum (got minimum, too)",
    SITE + 'interval = "1d"\nmaximum = "2d"': "line 4: interval excludes minimum and "
    "maximum (got maximum, too)",
    SITE + 'maximum = "1d"\nminimum = "2d"': "line 5: minimum must be at most maximum (got "
    '"2d" above "1d")',
    SITE + '[[site]]\nweight = 2\naddress = "https://EXAMPLE.org"': "line 6: "
    "https://example.org/ is already a [[site]], in line 3",
}


@pytest.mark.parametrize("text", CONTRADICTIONS)
def test_wishes_that_exclude_each_other_are_refused(text):
    assert refusal(FIRST + text) == f"recrawl.toml, {CONTRADICTIONS[text]}"


def test_a_page_may_have_the_address_of_its_site():
    rules = read_settings(FIRST + SITE + SITE.replace("site", "page")).rules

    assert [rule.exact for rule in rules] == [False, True]


def test_equal_bounds_are_no_contradiction():
    (rule,) = read_settings(FIRST + SITE + 'minimum = "24h"\nmaximum = "1d"').rules

    assert (rule.minimum, rule.maximum) == (1.0, 1.0)


SHAPES = {
    '[site]\naddress = "https://a.org"': "site must be written as [[site]] (got [site])",
    "site = 3": "site must be written as [[site]] (got 3)",
    "page = [3]": "page must be written as [[page]] (got 3)",
    "[[storage]]": "storage must be written as [storage] (got [{}])",
    "politeness = 1": "politeness must be written as [politeness] (got 1)",
}


@pytest.mark.parametrize("text", SHAPES)
def test_a_table_in_the_wrong_brackets_is_refused(text):
    assert refusal(FIRST + text) == f"recrawl.toml, line 2: {SHAPES[text]}"


SYNTAX = {
    "budget = 500/1d": 'line 2: invalid TOML .*: .* \\(got "budget = 500/1d"\\)',
    "budget 5\n": 'line 2: invalid TOML .*: expected .=. after a key .* \\(got "budget 5"\\)',
    'agent = "x"': "line 2: invalid TOML .*: cannot overwrite a value .*",
    "a = '''\n\n": "line 4: invalid TOML .* \\(got the end of the file\\)",
}


@pytest.mark.parametrize("text", SYNTAX)
def test_what_is_no_toml_is_refused_with_its_line(text):
    assert re.fullmatch(f"recrawl.toml, {SYNTAX[text]}", refusal(FIRST + text))


def test_brackets_without_end_are_refused():
    assert "too deep" in refusal(FIRST + "a = " + "[" * 100_000)


@pytest.mark.parametrize(
    "key",
    [
        ".".join(["a"] * 100_000),
        " . ".join(["a"] * 100_000),
        ".".join(['"a"'] * 100_000),
        ".".join(["'a\"#'", "b"] * 50_000),
        ".".join(["a"] * 17),
    ],
    ids=["plain", "spaced", "quoted", "mixed", "short"],
)
@pytest.mark.parametrize("written", ["{} = 1\n", "[{}]\n", "[[{}]]\n", "a = {{ {} = 1 }}\n"])
def test_a_key_of_many_parts_is_refused_at_once(key, written):
    """The standard library's reader takes a minute for 100,000 parts, by their square."""
    begun = process_time()
    said = refusal(FIRST + "# a comment\n" + written.format(key))

    assert said == "recrawl.toml, line 3: a key must have at most 16 parts"
    assert process_time() - begun < 5


@pytest.mark.parametrize("value", ['"{}"', "'{}'", '"""\n{}\n"""', "'''{}'''", '"\\"{}"'])
def test_dots_in_texts_and_comments_are_no_keys(value):
    text = f"{FIRST}a = {value.format('a.' * 50)}  # {'a.' * 50}\n"

    assert "unknown key" in refusal(text)


def test_settings_without_end_are_refused():
    assert refusal(FIRST + "#" * 20_000_000) == (
        "recrawl.toml: settings must have at most 20,000,000 characters (got more)"
    )


def test_a_number_without_end_is_refused():
    """Python reads no whole number of more than some thousand digits."""
    assert refusal(FIRST + "a = " + "1" * 10_000).startswith("recrawl.toml, line 2: ")


def test_a_mark_that_some_editors_put_first_does_no_harm():
    assert read_settings("\ufeff" + FIRST).agent == AGENT


def test_the_name_of_the_file_is_the_one_given():
    with pytest.raises(InvalidSettings, match=r"^x/y\.toml: agent must be"):
        read_settings("", name="x/y.toml")


def test_a_rule_may_be_read_without_a_file():
    rule = read_rule("https://example.org", {"links": 1, "watch": ["main"]}, page=True)

    assert rule == Rule("https://example.org/", exact=True, links=1, watch=("main",))
    assert (rule.minimum, rule.maximum) == (0.0, math.inf)


def test_a_rule_without_a_file_is_refused_by_its_address():
    with pytest.raises(InvalidSettings) as raised:
        read_rule("https://example.org", {"links": "all"})

    assert str(raised.value) == (
        'https://example.org: links must be a whole number, at least 0 (got "all")'
    )


pieces = st.sampled_from(
    [
        *(FIRST, SITE, "[storage]\n", "[[page]]", " = ", '"1d"', '"""', "\r\n"),
        *("keep", "budget", "interval", "address"),
        *"\n{}[],x'#1.\x00",
    ]
)


@given(
    st.text() | st.lists(pieces).map("".join) | st.lists(pieces).map(lambda p: FIRST + "".join(p))
)
def test_any_text_is_read_or_refused_in_one_sentence(text):
    """The line lies within the text."""
    try:
        read_settings(text)
    except InvalidSettings as error:
        said = str(error)
        line = re.match(r"recrawl\.toml(?:, line (\d+))?: ", said)
        assert line is not None
        assert 1 <= int(line[1] or 1) <= text.count("\n") + 1
        assert "\n" not in said


values = {
    "budget": st.sampled_from(["5/1d", "0.1/page/6h"]),
    "weight": st.floats(0.01, 100),
    "minimum": st.sampled_from(["1m", "1h"]),
    "maximum": st.sampled_from(["1d", "5w"]),
    "hours": st.sampled_from(["1-2", "23-0"]),
    "links": st.integers(0, 9),
    "local": st.booleans(),
}


@given(st.lists(st.fixed_dictionaries({}, optional=values), max_size=5), st.data())
def test_a_spoilt_key_is_refused_on_its_own_line(blocks, data):
    """Whichever of all keys is misspelt."""
    lines = FIRST.splitlines()
    for number, block in enumerate(blocks):
        lines += ["[[site]]", f'address = "https://a.org/{number}/"']
        lines += [f"{key} = {json.dumps(value)}" for key, value in block.items()]
    assert len(read_settings("\n".join(lines)).rules) == len(blocks)

    keyed = [row for row, line in enumerate(lines) if " = " in line]
    spoilt = data.draw(st.sampled_from(keyed))
    lines[spoilt] = "x" + lines[spoilt]

    assert refusal("\n".join(lines)).startswith(f"recrawl.toml, line {spoilt + 1}: ")


def test_a_policy_is_named_with_its_parameters():
    top = 'agent = "bot (me@example.org)"\n'

    assert read_settings(top).policy == "recrawl"
    assert read_settings(f'{top}policy = "nutch:longest=90d"').policy == "nutch:longest=90d"


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ('"nutch:speed=1"', "line 2: nutch has no parameter 'speed'; it has more, less, shortest,"),
        ('"clairvoyant"', "line 2: policy must be one of recrawl, bank, uniform,"),
        ("3", "line 2: policy must be the name of a policy such as recrawl or nutch:longest=90d"),
    ],
)
def test_what_is_no_policy_is_refused(value, told):
    with pytest.raises(InvalidSettings) as raised:
        read_settings(f'agent = "bot (me@example.org)"\npolicy = {value}')

    assert told in str(raised.value)


@pytest.mark.parametrize(
    "block",
    [
        '[[site]]\naddress = "http://example.org:6667/"',
        '[[page]]\naddress = "https://example.org:25/a"',
        '[[listing]]\nname = "a"\naddress = "http://example.org:22/"\nitems = "li"\nkey = "a@href"',
    ],
)
def test_a_port_of_another_service_is_refused_with_its_reason(block):
    with pytest.raises(InvalidSettings, match=r"port \d+ is not one that web servers use"):
        read_settings(f'agent = "bot (me@example.org)"\nbudget = "10/1d"\n{block}\n')
