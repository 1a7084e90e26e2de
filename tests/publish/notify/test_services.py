"""The real apprise against real servers: what arrives, what fails, and what nobody gets to see."""

import asyncio
import json
import subprocess
import sys
from typing import Any

import pytest

from recrawl.entries.deliveries import DestinationsNamed
from recrawl.errors import InvalidSettings, MissingExtra
from recrawl.publish.notify import services
from recrawl.publish.notify.messages import Message, MessageRoom
from recrawl.publish.notify.sender import _Reasons
from recrawl.publish.notify.services import Service, notify_targets, send
from recrawl.settings.settings import read_settings
from recrawl.store import open_for_writing
from recrawl.visits.status import FeedKind
from tests.publish import fed
from tests.publish.notify.notifying import notifying
from tests.publish.notify.people import HIDDEN, chatting, mailing
from tests.waiting import wait_until

EVIL = "<b>[Bank](https://evil.example/)</b> @everyone\r\nBcc: all@example.org"


def targets(tmp_path, monkeypatch, *addresses):
    blocks = ""
    for number, address in enumerate(addresses):
        monkeypatch.setenv(f"SERVICE_{number}", address)
        blocks += f'[[notify]]\naddress = "env:SERVICE_{number}"\n'
    return notify_targets(read_settings(fed.SETTINGS + blocks), tmp_path)


def test_changes_arrive_in_a_chat_and_by_mail_whatever_pages_say(tmp_path, monkeypatch):
    path = fed.make(tmp_path)
    mails: list[Any] = []
    with chatting() as chat, mailing(mails) as mailbox:
        both = targets(tmp_path, monkeypatch, chat.address, mailbox)
        with open_for_writing(path) as store:
            store.write([DestinationsNamed([each.recipient.key for each in both])])
        fed.tell(path, (FeedKind.NEW, 1, fed.page("Tea")), (FeedKind.CHANGED, 1, _titled(EVIL)))

        async def work():
            async with notifying(path, send, *both) as crawl:
                crawl.clock.hours = 3.0

        asyncio.run(work())

    assert [each.service.room.markup for each in both] == ["text", "html"]
    (message,) = chat.messages
    inert = "< b>[Bank] (https://evil.example/)< /b> \uff20everyone Bcc: all@example.org"
    assert message["title"] == f"changed at a.org: {inert}"
    assert "likely 2026-01-01 12:30:00, seen 2026-01-01 13:00:00 UTC" in message["message"]
    assert "https://a.org/tea\n" in message["message"]
    (mail,) = mails
    assert mail["subject"] == message["title"]
    assert mail["bcc"] is None
    page = mail.get_body(("html",)).get_content()
    assert '<a href="https://a.org/tea">https://a.org/tea</a>' in page
    assert "&lt;b&gt;[Bank](https://evil.example/)&lt;/b&gt; \uff20everyone" in page
    assert page.count("href=") == 1


def _titled(title):
    quoted = title.replace("<", "&lt;")
    return f"<title>{quoted}</title><main><p>It costs 6 euros a bag.</main>".encode()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (500, "answered 500"),
        (302, "answered 302"),  # what is sent on as a mere question is lost
        (0, "took more than 2 s"),
        (None, "no connection"),
    ],
)
def test_what_fails_is_told_in_our_own_words(answer, problem):
    """apprise's own may hold a part of the address."""
    with chatting(lambda _: answer) as chat:
        address = chat.address
        if answer is not None:
            attempt = asyncio.run(_send(address, 2.0 if not answer else 60.0))
    if answer is None:  # nobody listens there any more
        attempt = asyncio.run(_send(address))

    assert attempt.problem == problem
    assert chat.paths == []


async def _send(address, most_seconds=60.0):
    room = MessageRoom()
    return await send(Service(address, room), Message("title", "body"), most_seconds)


def test_an_address_that_apprise_does_not_know_is_refused_and_not_shown(tmp_path, monkeypatch):
    for address in (f"nonsense://{HIDDEN}", HIDDEN, f"discord://{HIDDEN}", " "):
        with pytest.raises(InvalidSettings) as raised:
            targets(tmp_path, monkeypatch, address)
        rule = "it must be one that apprise knows, such as mailto://... or json://..."
        assert str(raised.value) == f"address env:SERVICE_0: {rule}"


def test_what_services_take_is_asked_of_apprise(tmp_path, monkeypatch):
    """Discord reads text as Markdown; Telegram has no titles."""
    found = targets(
        tmp_path,
        monkeypatch,
        "discord://4174216298/JHMHI8qBe7bk2ZwO5U711o3dV_js",
        "tgram://123456789:abcdefg_hijklmnop/12345/",
        "form://127.0.0.1/?format=markdown",
    )

    assert [each.service.room for each in found] == [
        MessageRoom("markdown", 2000, 250),
        MessageRoom("html", 4096, 0),
        MessageRoom("markdown", 32768, 250),
    ]
    assert "JHMHI8" not in repr(found)


def test_a_missing_extra_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(services, "find_spec", lambda name: None)

    with pytest.raises(MissingExtra) as raised:
        targets(tmp_path, monkeypatch, "json://127.0.0.1")

    said = "[[notify]] needs an optional package: pip install '.[notify]' in the clone of recrawl"
    assert str(raised.value) == said


def test_apprise_is_not_loaded_into_the_crawl(tmp_path, monkeypatch):
    targets(tmp_path, monkeypatch, "json://127.0.0.1")

    assert "apprise" not in sys.modules


def test_who_sends_ends_when_nobody_waits_any_more():
    """As after a crawl was killed: a message must not come late, after newer ones."""
    with chatting(lambda _: 0) as chat:
        asked = {"address": chat.address, "markup": "text", "title": "t", "body": "b"}
        with subprocess.Popen(
            services._COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdin is not None
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
            wait_until(lambda: chat.tried)
            process.stdin.close()
            assert process.wait() == 1


def test_what_apprise_says_gives_nothing_away():
    reasons = _Reasons()
    for said in (f"Could not load URL {HIDDEN}", "Failed: Internal Server Error, error=503."):
        reasons.emit(_record(said))

    assert reasons.reason == "answered 503"


def _record(said):
    import logging

    return logging.LogRecord("apprise", logging.WARNING, "", 0, said, (), None)


def test_a_process_that_cannot_be_started_is_our_own_fault(monkeypatch):
    monkeypatch.setattr(services, "_COMMAND", ("/no/such/program",))

    attempt = asyncio.run(_send("json://127.0.0.1"))

    assert (attempt.problem, attempt.ours) == ("no process could be started", True)


@pytest.mark.parametrize("program", ["pass", "print('nonsense')", "print('[]')"])
def test_a_program_that_breaks_is_a_failed_attempt(monkeypatch, program):
    monkeypatch.setattr(services, "_COMMAND", (sys.executable, "-c", program))

    assert asyncio.run(_send("json://127.0.0.1")).problem == "apprise has failed"
