"""Temporary files and folders: nothing of them stays, whenever an interrupt comes."""

import sys
from itertools import count

import pytest

from recrawl.store import scratch


def in_the_room(frame, event):
    """Whether something happens in the room, or it calls somebody else."""
    return frame.f_code.co_filename == scratch.__file__ or (
        event == "call" and frame.f_back.f_code.co_filename == scratch.__file__
    )


def interrupted_at(step, work):
    """Whether the work came so far: an interrupt meets it at the `step`-th moment.

    Moments are where Python looks for signals: where functions begin, and around calls of C.
    """
    steps = count(1)

    def watch(frame, event, _):
        if event != "return" and in_the_room(frame, event) and next(steps) == step:
            raise KeyboardInterrupt

    sys.setprofile(watch)
    try:
        work()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False


def in_a_folder(parent):
    with scratch.scratch_folder(parent, ".made-") as folder:
        (folder / "file").write_text("kept for a while")


def in_a_file(parent):
    with scratch.scratch_file(parent / "file") as (raw, _):
        raw.write(b"kept for a while")


# A file that was just opened is closed when it is collected, which Python remarks on.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("work", [in_a_folder, in_a_file])
def test_an_interrupt_at_any_moment_leaves_nothing(tmp_path, work):
    for step in count(1):
        met = interrupted_at(step, lambda: work(tmp_path))

        assert list(tmp_path.iterdir()) == []
        if not met:
            break

    assert step > 5
