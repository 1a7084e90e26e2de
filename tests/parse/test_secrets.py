"""A secret shows itself to nobody who does not ask for it by name."""

import copy
import json
import logging
import pickle
import traceback
from dataclasses import asdict, dataclass

import pytest

from recrawl.parse.secrets import Secret

HIDDEN = "correct horse battery staple"


@dataclass
class Holder:
    secret: Secret


def test_it_is_what_it_was_made_of():
    assert Secret(HIDDEN).reveal() == HIDDEN


@pytest.mark.parametrize(
    "show",
    [repr, str, "{}".format, "{!r:>20}".format, lambda it: f"{it}", Holder, ascii],
)
def test_no_text_shows_it(show):
    assert HIDDEN not in str(show(Secret(HIDDEN)))


@pytest.mark.parametrize(
    "write",
    [
        pickle.dumps,
        json.dumps,
        copy.copy,
        copy.deepcopy,
        lambda it: asdict(Holder(it)),
        lambda it: json.dumps({"it": it}),
        vars,
    ],
)
def test_nothing_writes_it_down(write):
    with pytest.raises(TypeError) as raised:
        write(Secret(HIDDEN))

    assert HIDDEN not in "".join(traceback.format_exception(raised.value))


def test_no_log_and_no_traceback_with_values_shows_it(caplog):
    secret = Secret(HIDDEN)
    try:
        raise ValueError(secret, Holder(secret))  # noqa: TRY301 - as our own code may
    except ValueError as error:
        logging.getLogger("test").exception("failed with %s", secret)
        told = traceback.TracebackException.from_exception(error, capture_locals=True)

    assert HIDDEN not in caplog.text + "".join(told.format())
