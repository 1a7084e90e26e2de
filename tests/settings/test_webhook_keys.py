import pytest

from recrawl.errors import InvalidSettings
from recrawl.settings.settings import read_settings
from recrawl.settings.webhook_keys import Webhook

TOP = 'agent = "bot (me@example.org)"\n'
HIDDEN = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def read(*lines):
    return read_settings("\n".join([TOP, "[[webhook]]", *lines])).webhooks


def test_a_block_with_every_key():
    found = read(
        'address = "https://example.org/in"',
        'secret = "env:KEY"',
        'name = "index"',
        'kinds = ["new", "removed"]',
        'hosts = ["A.org", "a.org", "b.org:8080"]',
        'with = ["diff"]',
        "local = true",
    )

    assert found == (
        Webhook(
            "https://example.org/in",
            "env:KEY",
            "index",
            ("new", "removed"),
            ("a.org", "b.org:8080"),
            ("diff",),
            local=True,
        ),
    )


def test_a_short_block_means_everything():
    (found,) = read('address = "https://example.org/in"', 'secret = "file:key.txt"')

    assert (found.key, found.kinds, found.hosts, found.parts, found.local) == (
        *("https://example.org/in", (), (), ()),
        False,
    )


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (['secret = "env:KEY"'], "[[webhook]] must have address (got none)"),
        (['address = "https://example.org/"'], "[[webhook]] must have secret (got none)"),
        (['kinds = ["snapshot"]'], "kinds must be a list of new, changed, removed, moved, back"),
        (['with = "diff"'], "with must be a list of text, markdown, diff, chunks"),
        (['hosts = ["https://a.org/"]'], 'hosts must be a list of hosts such as ["example.org"]'),
        (['names = ""'], 'unknown key "names" in [[webhook]]; did you mean "name"?'),
    ],
)
def test_what_is_wrong_is_told(lines, said):
    with pytest.raises(InvalidSettings) as raised:
        read(*lines)

    assert said in str(raised.value)


@pytest.mark.parametrize(
    "line",
    [
        f'secret = "{HIDDEN}"',
        f'secret = ["{HIDDEN}"]',
        f"secret = {HIDDEN}",
        f'secret = "env:{HIDDEN} {HIDDEN}"',
    ],
)
def test_a_secret_in_the_settings_is_refused_and_not_repeated(line):
    with pytest.raises(InvalidSettings) as raised:
        read(line)

    assert "secret" in str(raised.value)
    assert HIDDEN[6:12] not in str(raised.value)


def test_two_of_one_address_need_names():
    block = ['address = "https://example.org/in?key=1"', 'secret = "env:KEY"']
    with pytest.raises(InvalidSettings) as raised:
        read(*block, "[[webhook]]", *block)

    assert "is already a [[webhook]]; give each a name" in str(raised.value)
    assert "key=1" not in str(raised.value)
    assert len(read(*block, "[[webhook]]", *block, 'name = "b"')) == 2
