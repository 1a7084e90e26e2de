"""Every error recrawl raises, as a tree.

    RecrawlError
      InvalidInput           what came in can never be right
        InvalidDuration      a duration such as 6h
        InvalidInstant       a time
        InvalidHistory       visits, gaps, ages
        InvalidParameter     an estimator's own numbers
        InvalidTable         a file of rows
      CannotWrite            an output cannot be written
      OutputClosed           whoever read our output has stopped reading
      MissingExtra           an optional package is not installed

An error's text is one sentence: where, what must hold, what came. Too little data is never an
error; it is a status of the estimate.

Pure.
"""


class RecrawlError(Exception):
    """Base of everything raised on purpose."""


class InvalidInput(RecrawlError, ValueError):
    """What came in can never be right."""


class InvalidDuration(InvalidInput):
    """A duration that is not like `90s`, `30m`, `6h`, `3d` or `2w`."""


class InvalidInstant(InvalidInput):
    """A time that is neither ISO 8601 nor epoch seconds, or absurdly far away."""


class InvalidHistory(InvalidInput):
    """Visits or gaps that contradict themselves."""


class InvalidParameter(InvalidInput):
    """A number of an estimator or prior outside its range."""


class InvalidTable(InvalidInput):
    """A file that cannot be read as the rows it should hold."""


class CannotWrite(RecrawlError):
    """An output that cannot be written."""


class OutputClosed(RecrawlError):
    """Whoever read our output has stopped reading, as `head` does."""


class MissingExtra(RecrawlError):
    """An optional package that is needed here and not installed."""

    def __init__(self, need: str, extra: str) -> None:
        """Keep both, so that the error survives a pickle."""
        super().__init__(need, extra)

    def __str__(self) -> str:
        """Say what needs which extra and how to install it."""
        need, extra = self.args
        return f"{need} needs an optional package: pip install 'recrawl[{extra}]'"


def reason(error: OSError) -> str:
    """What the system says of a failure, as part of a sentence.

    >>> reason(FileNotFoundError(2, "No such file or directory"))
    'no such file or directory'
    """
    return (error.strerror or str(error)).lower()
