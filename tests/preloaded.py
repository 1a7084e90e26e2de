"""`recrawl` as a process of its own that need not load the program first.

A process that has loaded the whole program waits, and forks for each command. What it forks is
what a shell would start: a child of this process, with its own streams, folder, environment,
signals and end. It begins within milliseconds, where loading takes most of a second.

Another has loaded libraries and the command line, and no module of ours that a verb loads when it
runs: what it forks finds out whether the verb does. What loading all of it does is seen only by who
loads: `tests.cli.running.run_afresh`.

Touches: processes.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
import warnings
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

RECRAWL = str(Path(sys.executable).with_name("recrawl"))

# What verbs load when they run, beyond the modules of the program.
_LIBRARIES = (
    "aiohttp",
    "lxml.etree",
    "numpy.random",
    "pydantic",
    "rich.console",
    "rich.live",
    "rich.progress",
    "scipy.special",
    "typer._adapters",
)
_NUMBER_BYTES = 8
_FORKED = {"bufsize", "cwd", "encoding", "stderr", "stdin", "stdout", "text"}  # and no limits
# Variables that count when Python or a library is loaded; later nobody looks at them.
_EARLY = ("COVERAGE", "LANG", "LC_", "LD_", "MALLOC", "OMP_", "OPENBLAS_", "PYTHON")


def environment(**more: str) -> dict[str, str]:
    """Environment of a command that depends on no terminal."""
    return os.environ | {"COLUMNS": "100", "TERM": "dumb", "PYTHONUNBUFFERED": ""} | more


class SharedServer(Protocol):
    """A process that serves all tests."""

    def held(self) -> tuple[int | None, int | None]:
        """The process, and the file that leads to it."""

    def close(self) -> None:
        """End it."""


class Preloaded:
    """A process that has loaded the program, and waits.

    Args:
        verbs: Whether it has loaded our modules that verbs load.
    """

    def __init__(self, *, verbs: bool = True) -> None:
        self._words = ["verbs"] if verbs else []
        self._environment = environment()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None

    def fits(self, environment: Mapping[str, str]) -> bool:
        """Whether a command with that environment would load what is loaded, in the same way."""
        early = {name for name in {*environment, *self._environment} if name.startswith(_EARLY)}
        return (
            sys.platform == "linux"
            and not any(name.startswith("COVERAGE") for name in early)
            and all(environment.get(name, "") == self._environment.get(name, "") for name in early)
        )

    def held(self) -> tuple[int | None, int | None]:
        """The process, and the file that leads to it."""
        if self._process is None or self._channel is None:
            return None, None
        return self._process.pid, self._channel.fileno()

    def fork(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Start a command, and say which process it is."""
        text = json.dumps(request).encode()
        with self._lock:
            channel = self._open()
            size = len(text).to_bytes(_NUMBER_BYTES, "big")
            socket.send_fds(channel, [size], list(streams))
            channel.sendall(text)
            return int.from_bytes(_received(channel, _NUMBER_BYTES), "big")

    def close(self) -> None:
        """End it, if it has begun."""
        if self._process is not None and self._channel is not None:
            self._channel.close()  # which is what ends it
            self._process.wait()
        self._process = self._channel = None

    def _open(self) -> socket.socket:
        if self._channel is None:
            self._channel, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, __file__, str(theirs.fileno()), *self._words],
                    env=self._environment,
                    pass_fds=[theirs.fileno()],
                    stdin=subprocess.DEVNULL,
                )
        return self._channel


PRELOADED = Preloaded()
BEFORE_VERBS = Preloaded(verbs=False)
# What serves all tests of this process, whichever starts it.
SERVERS: list[SharedServer] = [PRELOADED, BEFORE_VERBS]


class Forked(subprocess.Popen[Any]):
    """`subprocess.Popen` of a `recrawl` that is forked; all but its beginning is the same."""

    def __init__(
        self, *args: Any, server: Preloaded = PRELOADED, gives_way: bool = True, **more: Any
    ) -> None:
        self._server = server
        self._gives_way = gives_way
        super().__init__(*args, **more)

    def _execute_child(self, args: Sequence[str], *others: Any) -> None:
        _, _, _, _, cwd, env, *_ = others
        pipes = others[9:15]
        stdin, _, _, stdout, _, stderr = pipes
        request = {
            "words": args,
            "folder": os.fspath(cwd or Path.cwd()),
            "environment": dict(env),
            "gives_way": self._gives_way,
        }
        given = enumerate((stdin, stdout, stderr))
        streams = [number if number >= 0 else usual for usual, number in given]
        self.pid = self._server.fork(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined] # private to `subprocess`


def popen(
    words: Sequence[object],
    *,
    env: Mapping[str, str],
    server: Preloaded = PRELOADED,
    gives_way: bool = True,
    **more: Any,
) -> subprocess.Popen[Any]:
    """Start `recrawl` with these words; forked, where that is the same.

    Args:
        words: What comes after its name.
        env: Its environment.
        server: Who forks.
        gives_way: Whether it may lower its priority. What does gets a tenth of a processor beside
            tests that want one, and those who wait for it take ten times as long.
        more: As `subprocess.Popen` takes it.
    """
    line = [RECRAWL, *map(str, words)]
    if server.fits(env) and more.keys() <= _FORKED:
        return Forked(line, env=env, server=server, gives_way=gives_way, **more)
    return subprocess.Popen(line, env=env, **more)


def _received(channel: socket.socket, count: int) -> bytes:
    parts = b""
    while len(parts) < count:
        part = channel.recv(count - len(parts))
        if not part:
            raise EOFError
        parts += part
    return parts


# In the process that waits.


def _load() -> None:
    import typer.main

    import recrawl

    for module in pkgutil.walk_packages(recrawl.__path__, "recrawl."):
        import_module(module.name)
    # Typer reads all verbs and their options off their functions, for each command anew.
    typer.main.get_command = cache(typer.main.get_command)
    typer.main.get_command(import_module("recrawl.cli.main").app)


def _next_command(channel: socket.socket) -> bool:
    """Fork for each command until there are no more: whether this process is one of them."""
    while True:
        size, streams, _, _ = socket.recv_fds(channel, _NUMBER_BYTES, 3)
        if not size:
            return False
        request = json.loads(_received(channel, int.from_bytes(size, "big")))
        reading, writing = os.pipe()
        between = _fork()
        if not between:
            command = _fork()
            if not command:
                for number in (reading, writing):
                    os.close(number)
                channel.close()
                _become(request, streams)
                return True
            os.write(writing, command.to_bytes(_NUMBER_BYTES, "big"))
            os._exit(0)
        os.waitpid(between, 0)  # now who adopts orphans has the command: the tests
        channel.sendall(os.read(reading, _NUMBER_BYTES))
        for number in (reading, writing, *streams):
            os.close(number)


def _fork() -> int:
    with warnings.catch_warnings():  # the only threads are of libraries that are ready for it
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _become(request: Mapping[str, Any], streams: Sequence[int]) -> None:
    """Take over what a command is given: streams, folder, environment and words."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for stream in streams:
        os.close(stream)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    sys.argv = request["words"]
    if not request["gives_way"]:
        os.nice = lambda _: 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, (name, mode) in enumerate([("stdin", "r"), ("stdout", "w"), ("stderr", "w")]):
        stream = _stream(getattr(sys, name), number, mode)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


def _stream(like: Any, number: int, mode: str) -> Any:
    """A standard stream as Python opens it."""
    return open(
        number,
        mode,
        encoding=like.encoding,
        errors=like.errors,
        closefd=False,
        buffering=1 if number == 2 or os.isatty(number) else -1,
    )


def _run() -> NoReturn:
    """Run the command and end as Python does, but for taking the whole program apart."""
    from recrawl.cli.main import main

    code: object = 0
    try:
        main()
    except SystemExit as error:
        code = error.code
    except BaseException:  # noqa: BLE001 - this is the end of it
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads that are still at work
    atexit._run_exitfuncs()
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)  # noqa: T201 - as Python does
        code = 1
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError:
            code = 120
    os._exit(code or 0)


if __name__ == "__main__":
    # Whoever interrupts the tests means them: this process ends with them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[0] = str(Path(RECRAWL).parent)
    gc.disable()
    for library in _LIBRARIES:
        import_module(library)
    if sys.argv[2:]:
        _load()
    else:
        import_module("recrawl.cli.main")
    gc.freeze()  # nothing of it becomes garbage in a command
    gc.enable()
    if _next_command(socket.socket(fileno=int(sys.argv[1]))):
        _run()
