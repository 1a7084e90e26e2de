"""The process that reads documents: what it may do, and what becomes of it."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from recrawl.adapters.documents import converter as converters
from recrawl.adapters.documents.converter import DocumentConverter
from tests.adapters.documents import made
from tests.waiting import wait_until

TEA = made.one_of_each()["pdf"]
SAID = "<p>Tea</p>\n<p>Only black tea today</p>\n"


def worker_of(converter):
    """Its process, which must be there."""
    assert converter._worker is not None
    return converter._worker


def other(number):
    return made.pdf([made.page_of([f"tea {number}"])])


def test_nothing_is_started_before_the_first_document():
    with DocumentConverter() as converter:
        assert converter._worker is None
    converter.close()

    assert converter(TEA) is None


def test_a_worker_can_do_nothing_but_read(monkeypatch):
    """It may open no file and no connection, write nothing, and knows no secret."""
    monkeypatch.setenv("SECRET", "whsec_c2VjcmV0")
    with DocumentConverter() as converter:
        assert converter(TEA) == SAID
        process = Path("/proc") / str(worker_of(converter).pid)
        limits = {
            line[:26].strip(): line[26:].split()[:2]
            for line in (process / "limits").read_text().splitlines()
        }

        assert limits["Max open files"] == ["3", "3"]
        assert limits["Max file size"] == limits["Max core file size"] == ["0", "0"]
        assert limits["Max processes"] == ["0", "0"]
        assert limits["Max address space"] == [str(1 << 30)] * 2
        assert len(list((process / "fd").iterdir())) == 3
        assert b"SECRET" not in (process / "environ").read_bytes()


def test_what_was_converted_lately_is_not_converted_again():
    with DocumentConverter() as converter:
        assert converter(TEA) == SAID
        first = worker_of(converter)
        os.kill(first.pid, signal.SIGKILL)

        assert converter(TEA) == SAID
        assert converter._worker is first


def test_a_worker_that_was_killed_is_followed_by_another():
    with DocumentConverter() as converter:
        assert converter(other(1))
        worker_of(converter).kill()
        worker_of(converter).wait()

        assert converter(other(2)) == "<p>tea 2</p>\n"


def test_a_worker_that_is_killed_at_work_costs_one_document():
    with DocumentConverter() as converter:
        assert converter(other(1))
        worker = worker_of(converter)
        worker.send_signal(signal.SIGSTOP)
        killer = threading.Timer(0.2, worker.kill)
        killer.start()

        assert converter.convert(other(2)).problem == "its reader crashed"
        killer.join()
        assert converter(other(3)) == "<p>tea 3</p>\n"


def test_a_worker_that_hangs_is_killed():
    with DocumentConverter(wall_seconds=0.2) as converter:
        converter._running_worker().send_signal(signal.SIGSTOP)

        assert converter.convert(TEA).problem == "it takes too long to read"
    with DocumentConverter() as converter:
        assert converter(TEA) == SAID


def test_closing_ends_a_worker_at_work():
    converter = DocumentConverter()
    converter._running_worker().send_signal(signal.SIGSTOP)
    found = []
    reader = threading.Thread(target=lambda: found.append(converter.convert(TEA)))
    reader.start()
    wait_until(converter._turn.locked)

    converter.close()

    reader.join()
    assert found[0].html is None


def test_a_worker_ends_with_its_owner_however_that_ends():
    script = (
        "import sys\n"
        "from recrawl.adapters.documents.converter import DocumentConverter\n"
        "converter = DocumentConverter()\n"
        "converter(sys.stdin.buffer.read())\n"
        "print(converter._worker.pid, flush=True)\n"
        "import time; time.sleep(600)"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert owner.stdin is not None
    assert owner.stdout is not None
    with owner:
        owner.stdin.write(TEA)
        owner.stdin.close()
        worker = int(owner.stdout.readline())
        owner.kill()

    def has_ended():
        stat = Path(f"/proc/{worker}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"

    wait_until(has_ended)


def test_threads_take_turns():
    with DocumentConverter() as converter:
        found = {}
        threads = [
            threading.Thread(
                target=lambda number=number: found.update({number: converter(other(number))})
            )
            for number in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert found == {number: f"<p>tea {number}</p>\n" for number in range(8)}


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(converters, "_NEEDED", ("pypdfium2", "no_such_library"))
    told: list = []
    with DocumentConverter(told.append) as converter:
        assert converter(TEA) is None

        assert converter._worker is None
    command = "pip install '.[documents]' in the clone of recrawl"
    assert told == [f"reading documents needs an optional package: {command}"]


@pytest.mark.parametrize("reply", [b"", b"\xff" * 17, b"\x01" + bytes(8) + b"\xff" * 8])
def test_a_worker_that_says_what_none_would_is_not_believed(reply):
    from io import BytesIO

    from recrawl.adapters.documents.messages import receive_reply

    assert receive_reply(BytesIO(reply)) is None
