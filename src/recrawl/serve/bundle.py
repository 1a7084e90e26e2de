"""The script that draws charts in a browser: Vega, Vega-Lite and Vega-Embed in one file.

It is put together in a process of its own: that takes some seconds, in which no other thread of a
process could go on.

Touches: processes.
"""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress

from recrawl.errors import RecrawlError
from recrawl.report.charts.vega import VEGA_LITE

_GLOBALS = "window.vegaEmbed = vegaEmbed; window.vega = vega;"


class Bundle:
    """The script, made once for all who ask; used by one event loop."""

    def __init__(self) -> None:
        self._made: asyncio.Task[bytes] | None = None

    def begin(self) -> None:
        """Have it made, unless it is, or is about to be."""
        failed = self._made is not None and self._made.done() and self._made.exception()
        if self._made is None or failed:
            self._made = asyncio.create_task(_made())

    async def text(self) -> bytes:
        """The script."""
        self.begin()
        assert self._made is not None  # noqa: S101 - begun
        return await asyncio.shield(self._made)

    async def close(self) -> None:
        """End what is at work."""
        if self._made is not None:
            self._made.cancel()
            await asyncio.wait([self._made])


async def _made() -> bytes:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "recrawl.serve.bundle"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        script, _ = await process.communicate()
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    if process.returncode:
        raise RecrawlError("the script that draws charts cannot be made; see `pip check`")
    return script


def _print() -> None:
    import vl_convert

    script = vl_convert.javascript_bundle(_GLOBALS, vl_version=VEGA_LITE)
    sys.stdout.buffer.write(script.encode())


if __name__ == "__main__":
    _print()
