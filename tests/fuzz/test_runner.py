"""The fuzz itself: faults that are planted are found, and runs can be repeated."""

import subprocess
import sys
import time
from pathlib import Path

from recrawl.errors import InvalidInput
from tests.fuzz.parser import Parser, attempt
from tests.fuzz.runner import fuzz, smallest, super_linear

SEEDS = (b"a=1;b=2", b"c=3")


def parser(read, **options):
    return Parser("planted", read, SEEDS, (), tokens=(b"token", b"x"), **options)


def inputs_of(seed):
    seen: list[bytes] = []
    fuzz(parser(seen.append), 300, seed)
    return seen


def test_a_seed_gives_the_same_inputs_again():
    assert inputs_of(1) == inputs_of(1)
    assert inputs_of(1) != inputs_of(2)


def test_inputs_are_of_many_kinds():
    seen = inputs_of(1)

    assert len(set(seen)) > 200
    assert any(b"token" in data for data in seen)
    assert any(len(data) > 1_000 for data in seen)
    assert all(len(data) <= 4096 for data in seen[3:])


def test_an_error_that_is_not_ours_is_found_and_made_small():
    def read(data):
        if b"token" in data and b"=" in data:
            raise KeyError(data)

    broken = parser(read)
    found = fuzz(broken, 2_000, seed=1)

    (failure,) = found.failures
    assert failure.startswith("KeyError at test_runner.py")
    assert sorted(smallest(broken, failure, found.failures[failure])) == sorted(b"token=")


def test_what_must_hold_is_checked():
    def read(data):
        assert b";;" not in data

    found = fuzz(parser(read), 2_000, seed=1)

    assert list(found.failures) != []
    assert "assert" in next(iter(found.failures))


def test_errors_of_ours_are_one_printable_line():
    def read(data):
        raise InvalidInput(data.decode("latin-1"))

    def shouted(data):
        raise ValueError(1001 * "x")

    allowed = parser(read, raises=(InvalidInput,))

    assert attempt(allowed, b"where: what").failure == ""
    assert "printable line" in attempt(allowed, b"two\nlines").failure
    assert "printable line" in attempt(allowed, b"\x1b[2J").failure
    assert "at most 1000 letters" in attempt(parser(shouted, raises=(ValueError,)), b"").failure
    assert attempt(parser(read), b"where: what").failure.startswith("InvalidInput at")


def test_an_input_that_never_ends_is_ended():
    def read(data):
        while data == b"c=3":
            pass

    found = fuzz(parser(read, cpu_seconds=0.02), 10, seed=1)

    (failure,) = found.failures
    assert failure.startswith("_HangError")


def test_an_input_that_takes_long_is_found():
    def work(data):
        end = time.process_time() + 0.02
        while time.process_time() < end:
            pass

    assert "CPU time" in attempt(parser(work, cpu_seconds=0.01), b"x").failure


def test_an_input_that_takes_much_memory_is_found():
    """In a process of its own: this one may have been so large before that nothing adds to it."""
    planted = """
from tests.fuzz.parser import Parser, attempt, peak_bytes

def hoard(data):
    assert len(b"x" * (peak_bytes() + (8 << 20)))

print(attempt(Parser("planted", hoard, (), (), memory_bytes=1 << 20), b"x").failure)
"""
    root = Path(__file__).parents[2]

    done = subprocess.run(
        [sys.executable, "-c", planted], cwd=root, capture_output=True, text=True, check=True
    )

    assert done.stdout == "took more than 1 MB of memory\n"


def test_quadratic_cost_is_told_from_linear_cost():
    def quadratic(data):
        for end in range(0, len(data), 4):
            data[:end].count(b"q")

    def linear(data):
        for _ in range(40):
            sum(data)

    assert super_linear(parser(quadratic), 2, seed=1, size=1 << 13)
    assert not super_linear(parser(linear), 2, seed=1, size=1 << 13)
