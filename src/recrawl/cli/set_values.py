"""`recrawl set`: change settings, or show them.

Touches: files, a store, signals, the standard streams.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import screen, shared

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recrawl.report.rates import Column
    from recrawl.settings.edits import Setting
    from recrawl.settings.settings import Settings

_WORDS = typer.Argument(
    metavar="BLOCK|KEY=VALUE",
    help="Addresses or names of blocks, and what to change in them; without a block, in the "
    "settings of the whole crawl.",
    show_default=False,
)
_UNSET = typer.Option(
    "--unset",
    metavar="KEY",
    help="Remove a key, so that its default applies; may be repeated.",
    show_default=False,
)
_PAGE = typer.Option("--page-only", help="Only this page, not everything under it.")
_HEADER = ("part", "key", "value", "line")
_WIDEST = 60  # letters of a value on a terminal


def set_values(
    words: Annotated[list[str] | None, _WORDS] = None,
    *,
    unset: Annotated[list[str] | None, _UNSET] = None,
    page: Annotated[bool, _PAGE] = False,
    settings: Annotated[Path, shared.SETTINGS] = Path("recrawl.toml"),
    as_csv: Annotated[bool | None, shared.CSV] = None,
    as_json: Annotated[bool, shared.JSON] = False,
    output: Annotated[Path | None, shared.OUTPUT] = None,
) -> None:
    """Change settings, or show them.

    Writes to recrawl.toml; comments and everything else in it stay. Nothing is
    written unless the whole file is valid afterwards. Texts need no quotes; a key
    that is repeated makes a list. Keys of tables are written TABLE.KEY, or KEY if no
    other table has it. Secrets are never written: env:NAME or file:PATH says where
    one is. A running crawl reloads the settings; what needs a restart is named.
    Without KEY=VALUE the settings are shown, with the lines they are in.

    \b
    Examples:
        recrawl set
        recrawl set budget=2000/1d politeness.delay=2s
        recrawl set https://example.org/ links=3 exclude=/calendar/ exclude=*.pdf
        recrawl set https://example.org/ user=me password=env:PASSWORD
        recrawl set https://example.org/ --unset budget
    """  # noqa: D301 - \b tells click to leave the paragraph alone
    from recrawl.settings.edits import in_force, read_assignment
    from recrawl.store.settings_file import load_text

    blocks: list[str] = []
    values: dict[str, list[str] | None] = {}
    for word in words or ():
        pair = read_assignment(word)
        if pair is None:
            blocks.append(word)
        else:
            values[pair[0]] = [*(values.get(pair[0]) or ()), pair[1]]
    for key in unset or ():
        if values.get(key) is not None:
            raise typer.BadParameter(f"{key} cannot be set and unset at once")
        values[key] = None
    out = shared.Output.of(settings, as_csv=as_csv, as_json=as_json, file=output)
    if values:
        if out.kind or out.file:
            raise typer.BadParameter("--csv, --json and -o show settings; leave out KEY=VALUE")
        _change(settings, values, blocks, page=page)
        return
    _show(in_force(load_text(settings), blocks, page=page, name=str(settings)), out)


def _change(
    settings: Path, values: dict[str, list[str] | None], blocks: Sequence[str], *, page: bool
) -> None:
    """Write other values, and tell a crawl that runs."""
    from recrawl.errors import InvalidSettings
    from recrawl.settings.edits import with_values
    from recrawl.store.scratch import whole_file
    from recrawl.store.settings_file import load_text, settings_of

    text, name = load_text(settings), str(settings)
    try:
        before = settings_of(text, settings)
    except InvalidSettings:  # what is wrong may be what is set now
        before = None
    changed, changes = with_values(text, values, blocks=blocks, page=page, name=name)
    if changed != text:
        after = settings_of(changed, settings)
        with whole_file(settings) as file:
            file.write(changed.encode())
    for change in changes:
        screen.remark(f"{change.sentence()}.")
    if changed == text:
        screen.remark(f"{name} stays as it is.")
        return
    _check_references(settings)
    _tell(before or after, after, settings)


def _check_references(settings: Path) -> None:
    """Warn where a secret or a file is not where the settings say, as seen from here."""
    from recrawl.errors import RecrawlError
    from recrawl.fetch.access import AccessTable
    from recrawl.publish.tasks import Hooks
    from recrawl.state.weights import check_weights
    from recrawl.store.settings_file import load_settings

    asked = load_settings(settings)
    try:
        AccessTable(asked, settings.parent)
        Hooks.of(asked, settings.parent, ())
        check_weights(asked)
    except RecrawlError as error:
        screen.warn(f"{error}; a crawl needs it")


def _tell(before: Settings, after: Settings, settings: Path) -> None:
    """Say what of the change a running crawl takes on."""
    from recrawl.cli.running_crawl import reloaded, tell_crawl
    from recrawl.store.settings_file import store_of

    store = store_of(settings, before)
    if not tell_crawl(store, "to apply the change"):
        screen.remark("The next `recrawl crawl` applies it.")
        return
    if waits := reloaded(before, after, store).restart:
        screen.remark(f"Restart it for: {', '.join(waits)}.")


def _show(found: Sequence[Setting], out: shared.Output) -> None:
    """Show settings as a table."""
    import numpy as np

    if out.interactive:
        rows = [
            [each.part, each.key, _cut(each.value), str(each.line) if each.line else "default"]
            for each in found[: screen.most_rows()]
        ]
        shared.show(_HEADER, rows, total=len(found), unit="settings", left=(0, 1, 2))
        return
    from recrawl.report.listings.sheets import texts

    lines = np.array([each.line or np.nan for each in found], np.float64)
    columns: dict[str, Column] = {
        "key": texts([each.key for each in found]),
        "value": texts([each.value for each in found]),
        "line": lines,
    }
    out.write([each.part for each in found], columns, first="part")


def _cut(value: str) -> str:
    return value if len(value) <= _WIDEST else f"{value[: _WIDEST - 3]}..."
