"""A test that leaves something behind fails, and nothing of it stays."""

import os
import socket
import subprocess
import threading

import pytest

from tests.leftovers import nothing_left

HASTE = 0.05


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def forget(opened):
    """Drop the last hold on something that only a collection of garbage will find."""
    cycle = [opened]
    cycle.append(cycle)


def test_whoever_cleans_up_passes():
    with nothing_left(), socket.socket():
        subprocess.run(["true"], check=True)
        thread = threading.Thread(target=bool)
        thread.start()
        thread.join()


def test_an_open_socket_is_found():
    with (
        pytest.raises(AssertionError, match=r"left behind: file \d+: socket:"),
        nothing_left(HASTE),
    ):
        opened = socket.socket()
    opened.close()


def test_a_socket_that_nobody_holds_is_warned_of_then_and_there():
    with pytest.warns(ResourceWarning, match="unclosed <socket"), nothing_left(HASTE):
        forget(socket.socket())


def test_a_thread_at_work_is_found():
    over = threading.Event()
    thread = threading.Thread(target=over.wait, name="idler")
    with pytest.raises(AssertionError, match="left behind: thread idler"), nothing_left(HASTE):
        thread.start()
    over.set()
    thread.join()


def test_a_thread_that_is_about_to_end_is_waited_for():
    with nothing_left():
        threading.Timer(0.1, bool).start()


def test_a_process_is_found_and_ended():
    with (
        pytest.raises(AssertionError, match=r"left behind: process \d+: sleep 600"),
        nothing_left(HASTE),
    ):
        process = subprocess.Popen(["sleep", "600"])

    assert not is_alive(process.pid)
    process.wait()


def test_the_orphan_of_a_command_is_found_and_ended():
    script = "sleep 600 > /dev/null & echo $!"
    with (
        pytest.raises(AssertionError, match=r"left behind: process \d+: sleep 600"),
        nothing_left(HASTE),
    ):
        ended = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, check=True)

    assert not is_alive(int(ended.stdout))
