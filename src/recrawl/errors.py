"""Every error recrawl raises, as a tree.

    RecrawlError
      InvalidInput           what came in can never be right
        InvalidDuration      a duration such as 6h
        InvalidInstant       a time
        InvalidHistory       visits, gaps, ages
        InvalidParameter     an estimator's own numbers
        InvalidTable         a file of rows
        InvalidAddress       an address that is not in its one spelling
        InvalidSettings      a file of settings
        UnknownPage          an address that a crawl does not know
      Busy                   more is asked at once than is answered
      CannotConnect          a cluster does not answer
      CannotListen           a port cannot be listened on
      CannotWrite            an output cannot be written
      Conflict               what is asked cannot be done now
      CursorExpired          what comes after a position in the change feed is not kept
      DeliveryFailed         events could not be delivered
      NoVersion              no version of a page is kept that was asked for
      NothingAnswered        no site of a crawl could be visited
      NothingToCompare       versions of a page that are not kept, or are no text
      FetchFailed            a request brought no answer that can be used
      OutputClosed           whoever read our output has stopped reading
      PartitionsFailed       some partitions of a bulk run have no result
      StoreError             a store cannot be used
        StoreMissing         there is no such file
        NotAStore            the file is something else
        StoreCorrupt         the file is damaged
        StoreTooNew          a newer recrawl wrote it
        StoreTooOld          it must be brought up to date before it is read
        StoreLocked          another crawl holds it
        StoreFull            there is no room to write
        StoreUnwritable      the system refuses to write
      WorkersFailed          workers of a crawl have failed
      MissingExtra           an optional package is not installed
      MissingProgram         a program that is needed is not installed
      MissingPackage         a package of somebody else's is not installed

An error's text is one sentence: where, what must hold, what came. Too little data is never an
error; it is a status of the estimate.

Pure.
"""

import re

_LONGEST = 800  # letters of a sentence, whatever it quotes
_CUT = 500, 200  # of a longer one: what is left of its beginning and of its end
_LONGEST_ADDRESS = 2500
# What stands in an address before its host: a user, and a password, which may hold a slash that
# should have been escaped. What a port is followed by is no password.
_LOGIN = re.compile(
    r"""(?<![\w+.-]) (?P<scheme>[a-z][a-z0-9+.-]{0,20}:[/\\]*)
        (?: [^\s/\\?#"'<>]{1,1000}@
          | [^\s/\\?#@:"'<>]{0,200}:(?![0-9]{1,5}[/\\?#]) [^\s"'<>]{0,1000}@ )""",
    re.VERBOSE | re.IGNORECASE,
)


def without_logins(text: str) -> str:
    """Text in which no address shows who somebody is and with which password.

    >>> without_logins("no page https://me:secret@example.org/ (nor https://a.org/@me)")
    'no page https://...@example.org/ (nor https://a.org/@me)'
    """
    return _LOGIN.sub(r"\g<scheme>...@", text) if "@" in text else text


class RecrawlError(Exception):
    """Base of everything raised on purpose.

    >>> len(str(RecrawlError("got " + 5000 * "x")))
    705
    """

    def __str__(self) -> str:
        """Say what is wrong, without passwords; a long sentence is cut in its middle."""
        text = super().__str__()
        if len(text) <= _LONGEST:
            return without_logins(text)
        first, last = (without_logins(part) for part in _ends(text))
        return f"{first[: _CUT[0]]} ... {last[-_CUT[1] :]}"


def _ends(text: str) -> tuple[str, str]:
    """Beginning and end of a text, with more than is shown of them."""
    return text[:_LONGEST_ADDRESS], text[-_LONGEST_ADDRESS:]


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


class InvalidAddress(InvalidInput):
    """An address that is not in its one spelling, or that nobody could fetch."""


class InvalidSettings(InvalidInput):
    """A file of settings with a key or a value that means nothing, or that contradicts itself."""


class UnknownPage(InvalidInput):
    """An address that a crawl does not know."""


class Busy(RecrawlError):
    """More is asked at once than is answered."""


class Conflict(RecrawlError):
    """What is asked cannot be done now."""


class CannotConnect(RecrawlError):
    """A cluster does not answer."""


class CannotListen(RecrawlError):
    """A port cannot be listened on."""


class CannotWrite(RecrawlError):
    """An output that cannot be written."""


class CursorExpired(RecrawlError):
    """A position in the change feed after which something is not kept: take a snapshot."""


class DeliveryFailed(RecrawlError):
    """Events that no receiver took."""


class NoVersion(RecrawlError):
    """A version of a page that is not kept."""


class NothingAnswered(RecrawlError):
    """No site of a crawl could be visited, as without a network."""


class NothingToCompare(RecrawlError):
    """Versions of a page that are not kept, are one and the same, or are no text."""


class FetchFailed(RecrawlError):
    """A request that brought no answer to be used; a fetcher turns it into the answer's problem.

    Attributes:
        stale: Whether a kept connection had ended before the request came through.
        by_proxy: Whether a proxy of ours has failed, and not the host behind it.
    """

    stale = False
    by_proxy = False

    def __init__(self, problem: str, detail: str) -> None:
        """Keep both, so that the error survives a pickle."""
        super().__init__(problem, detail)

    @property
    def problem(self) -> str:
        """One of the kinds that `recrawl.fetch.fetcher` lists."""
        return str(self.args[0])

    def __str__(self) -> str:
        """Say what went wrong."""
        return str(self.args[1])


class OutputClosed(RecrawlError):
    """Whoever read our output has stopped reading, as `head` does."""


class StoreError(RecrawlError):
    """A store that cannot be used as asked."""


class StoreMissing(StoreError):
    """There is no such store."""


class NotAStore(StoreError):
    """A file that is something else than a store."""


class StoreCorrupt(StoreError):
    """A store that is damaged."""


class StoreTooNew(StoreError):
    """A store that a newer recrawl wrote."""


class StoreTooOld(StoreError):
    """A store that must be brought up to date before it can be read."""


class StoreLocked(StoreError):
    """A store that another crawl holds."""


class StoreFull(StoreError):
    """A store without room to write: what was acknowledged is kept, nothing more is taken."""


class StoreUnwritable(StoreError):
    """A store that the system refuses to write or to read."""


def install_command(extra: str) -> str:
    """How to install an extra. No package index has recrawl: the name there may be anybody's.

    >>> install_command("parquet")
    "pip install '.[parquet]' in the clone of recrawl"
    """
    return f"pip install '.[{extra}]' in the clone of recrawl"


class PartitionsFailed(RecrawlError):
    """Some partitions of a bulk run have no result; the others are finished."""


class WorkersFailed(RecrawlError):
    """Workers of a crawl have failed."""


class MissingExtra(RecrawlError):
    """An optional package that is needed here and not installed."""

    def __init__(self, need: str, extra: str) -> None:
        """Keep both, so that the error survives a pickle."""
        super().__init__(need, extra)

    def __str__(self) -> str:
        """Say what needs which extra and how to install it."""
        need, extra = self.args
        return f"{need} needs an optional package: {install_command(extra)}"


class MissingPackage(RecrawlError):
    """A package that no extra installs, such as pandas, and that is needed here."""

    def __init__(self, need: str, package: str) -> None:
        """Keep both, so that the error survives a pickle."""
        super().__init__(need, package)

    def __str__(self) -> str:
        """Say what needs which package and how to install it."""
        need, package = self.args
        return f"{need} needs {package}: pip install {package}"


def reason(error: OSError) -> str:
    """What the system says of a failure, as part of a sentence.

    >>> reason(FileNotFoundError(2, "No such file or directory"))
    'no such file or directory'
    """
    return (error.strerror or str(error)).lower()


class MissingProgram(RecrawlError):
    """A program that is needed is not installed."""
