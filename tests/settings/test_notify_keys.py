import pytest

from recrawl.errors import InvalidSettings
from recrawl.settings.notify_keys import Recipient
from recrawl.settings.settings import read_settings

TOP = 'agent = "bot (me@example.org)"\n'
HIDDEN = "hunter2SeCrEt"
ADDRESS = 'address = "env:MAIL"'


def read(*lines, top=TOP):
    return read_settings("\n".join([top, "[[notify]]", *lines])).recipients


def refused(*lines, top=TOP):
    with pytest.raises(InvalidSettings) as raised:
        read(*lines, top=top)
    return str(raised.value)


def test_a_block_with_every_key():
    found = read(
        'address = "file:mail.txt"',
        'name = "me"',
        'every = "6h"',
        'kinds = ["changed", "removed"]',
        'hosts = ["A.org"]',
        'sections = ["https://a.org/news", "https://A.org/news"]',
        "least_change = 0.1",
        'watch = [".price"]',
        'words = ["price", " closing date "]',
    )

    assert found == (
        Recipient(
            "file:mail.txt",
            "me",
            every=0.25,
            kinds=("changed", "removed"),
            hosts=("a.org",),
            sections=("https://a.org/news",),
            least_change=0.1,
            watch=(".price",),
            words=("price", "closing date"),
        ),
    )


def test_a_short_block_means_everything_once_an_hour():
    (found,) = read(ADDRESS)

    assert found == Recipient("env:MAIL", every=1 / 24)
    assert found.key == found.label == "env:MAIL"


@pytest.mark.parametrize(("time", "days"), [("1m", 1 / 1440), ("30d", 30.0), ("90s", 90 / 86_400)])
def test_messages_come_from_once_a_minute_to_once_a_month(time, days):
    (found,) = read(ADDRESS, f'every = "{time}"')

    assert found.every == pytest.approx(days)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('name = "me"', "[[notify]] must have address (got none)"),
        (
            "name = 1",
            "name must be a text of up to 100 letters in one line, and no address (got 1)",
        ),
        ('every = "59s"', 'every must be a time from 1m to 30d such as 1h (got "59s")'),
        ('every = "31d"', 'every must be a time from 1m to 30d such as 1h (got "31d")'),
        ("every = 60", "every must be a time from 1m to 30d such as 1h (got 60)"),
        ('kinds = ["snapshot"]', "kinds must be a list of new, changed, removed, moved, back"),
        ('hosts = "a.org"', 'hosts must be a list of hosts such as ["example.org"]'),
        ('sections = ["news"]', "sections must be a list of addresses without a query"),
        ('sections = ["https://a.org/?a=1"]', "sections must be a list of addresses without a"),
        ("least_change = 2", "least_change must be a share of words between 0 and 1"),
        ('watch = ["li >"]', "watch must be a list of CSS selectors"),
        ('words = "price"', 'words must be a list of words or phrases such as ["price"'),
        ('words = [" "]', "words must be a list of words or phrases"),
        ('words = ["a\\nb"]', "words must be a list of words or phrases"),
        (f"words = {['x'] * 101}", "words must be a list of words or phrases"),
        ('word = ["price"]', 'unknown key "word" in [[notify]]; did you mean "words"?'),
    ],
)
def test_what_is_wrong_is_told(line, said):
    assert said in refused(line)


@pytest.mark.parametrize(
    "line",
    [
        f'address = "mailto://me:{HIDDEN}@example.org"',
        f'address = ["mailto://me:{HIDDEN}@example.org"]',
        f"address = mailto://me:{HIDDEN}@example.org",
        f"mailto://me:{HIDDEN}@example.org",
        f'address = "file://{HIDDEN}"',
        f'name = "mailto://me:{HIDDEN}@example.org"',
        f'sections = ["mailto://me:{HIDDEN}@example.org"]',
        f'every = "mailto://me:{HIDDEN}@example.org"',
    ],
)
def test_an_address_in_the_settings_is_refused_and_not_repeated(line):
    assert HIDDEN not in refused(line)


def test_each_has_a_name_of_its_own():
    said = refused(ADDRESS, "[[notify]]", ADDRESS)

    assert said.endswith('line 6: "env:MAIL" is already a [[notify]]; give each its own name')
    assert len(read(ADDRESS, "[[notify]]", ADDRESS, 'name = "b"')) == 2
    hook = '[[webhook]]\naddress = "https://example.org/in"\nsecret = "env:KEY"\nname = "me"\n'
    assert '"me" is already a [[notify]]; give each its own name' in refused(
        ADDRESS, 'name = "me"', top=TOP + hook
    )


def test_what_a_message_is_made_of_must_be_kept_until_it_is_sent():
    feed = TOP + '[feed]\nkeep = "1d"\n'
    versions = TOP + "[storage]\nversions = 1\n"

    assert "every must be shorter than keep in [feed]" in refused(ADDRESS, 'every = "1d"', top=feed)
    said = refused(ADDRESS, 'watch = ["main"]', top=versions)
    assert said.endswith("watch needs two versions of a page, but versions in [storage] is 1")
    assert "words needs two" in refused(ADDRESS, 'words = ["price"]', top=versions)
    assert read(ADDRESS, top=versions)
