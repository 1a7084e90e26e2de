"""The system's Chromium for tests, with no more rights than a visitor's.

Tests may run as root, as whom a browser neither should run nor uses its own sandbox. So it is
started through a script that becomes `nobody` first, with a home of its own.

Touches: files, processes.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
NO_BROWSER = "no Chromium is installed; scripts/test installs it where it can"
_AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", "--no-new-privs"]
# Playwright asks for no sandbox unless told otherwise; the last folder of a profile counts.
_SCRIPT = """#!/bin/sh
for word; do shift; [ "$word" = --no-sandbox ] || set -- "$@" "$word"; done
exec {command} "$@" {more}
"""


@contextmanager
def unprivileged_chromium() -> Iterator[Path]:
    """A folder with an executable `chromium` that runs as an unprivileged user."""
    assert CHROMIUM is not None, NO_BROWSER
    become = _AS_NOBODY if os.getuid() == 0 else []
    with tempfile.TemporaryDirectory(prefix="recrawl-browser-") as made:
        folder, home = Path(made), Path(made) / "home"
        folder.chmod(0o755)
        home.mkdir()
        if become:
            shutil.chown(home, "nobody", "nogroup")
        own = ["env", "-i", f"PATH={os.environ['PATH']}", f"HOME={home}", f"TMPDIR={home}"]
        more = [f"--user-data-dir={home / 'profile'}", *_without_sandbox(become)]
        command = shlex.join([*become, *own, CHROMIUM])
        script = folder / "chromium"
        script.write_text(_SCRIPT.format(command=command, more=shlex.join(more)))
        script.chmod(0o755)
        yield folder


def _without_sandbox(become: list[str]) -> list[str]:
    """What Chromium is told where the kernel does not give it what its sandbox is made of."""
    words = [*become, "unshare", "--user", "true"]
    if subprocess.run(words, capture_output=True, check=False).returncode == 0:
        return []
    why = "this kernel gives unprivileged users no namespaces of their own"
    print(f"Chromium runs without its sandbox: {why}", file=sys.stderr)  # noqa: T201
    return ["--no-sandbox"]
