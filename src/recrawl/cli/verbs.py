"""Verbs: how they are registered, how their help reads, and the options that all of them have.

Touches: the standard streams, once a verb runs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer._click.exceptions import MissingParameter, UsageError
from typer.core import TyperCommand, TyperGroup

from recrawl.cli import screen
from recrawl.errors import InvalidParameter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Verb = Callable[..., None] | typer.Typer | str

LIMIT = typer.Option(metavar="N", min=1, help="Maximum number of rows.", show_default=False)
_QUIET = typer.Option("--quiet", "-q", help="Print results, warnings and errors only.")
_VERBOSE = typer.Option("--verbose", "-v", help="Print more details.")
_OF_TABLES = "as_csv"  # parameter of the verbs that write tables
_OUR_RULE = "must be "  # how the parser of an option begins to say what is wrong
_PERCENT = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?%")
_NUMBER = re.compile(r"valid (?:integer|number)|(?:greater|less) than")  # what must be one
_REQUIRED = re.compile(r" *\[required\]$|; required(?=\]$)")  # the usage line says it


class _VerbHelp(TyperCommand):
    """A verb whose help names arguments as people write them: FILE..., [STORE].

    A value that cannot be read is an error in one sentence, as it is in a file. Wrong usage is what
    makes no command: a word too few or too many, an option that there is not.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 - Typer's own
        words = list(args)  # which are taken off
        try:
            return super().parse_args(ctx, args)
        except MissingParameter:
            raise
        except typer.BadParameter as error:
            if _NUMBER.search(error.message):
                raise InvalidParameter(_wrong_value(error, words)) from None
            if error.message.startswith(_OUR_RULE):
                raise InvalidParameter(f"{_called(error.param)} {error.message}") from None
            raise

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own
        return _read_plainly(super().get_params(ctx))

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        return ["[OPTIONS]", *(_usage(each) for each in self.get_params(ctx) if _is_argument(each))]

    def format_options(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        arguments: list[tuple[str, str]] = []
        options: list[tuple[str, str]] = []
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is None:
                continue
            name, text = record[0], _REQUIRED.sub("", record[1])
            if _is_argument(each):
                arguments.append((_name(each), text))
            elif len(texts := text.split(" / ")) > 1:  # two names that are no opposites
                options += zip(name.split(" / "), texts, strict=True)
            else:
                options.append((name, text))
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


class _GroupHelp(TyperGroup):
    """Verbs by what they are for, each with its whole summary, in the order they were given in."""

    order: tuple[str, ...] = ()
    file_verb = ""
    places: Mapping[str, tuple[str, str]] = {}

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - Typer's own
        super().__init__(**settings)
        if self.places:
            self.commands = _Commands(self.places)  # type: ignore[assignment] # none is added

    def get_params(self, ctx: Any) -> list[Any]:  # noqa: ANN401 - Typer's own
        return _read_plainly(super().get_params(ctx))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - Typer's own
        name = args[0]
        if self.file_verb and name not in self.commands and _looks_like_file(name):
            meant = f"{ctx.command_path} {self.file_verb} {name}"
            ctx.fail(f"No such command {name!r}. Did you mean `{meant}`?")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401 - Typer's own
        # Typer lists groups after all commands, wherever they belong.
        return sorted(super().list_commands(ctx), key=self.order.index)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401 - Typer's own
        sections: dict[str, list[tuple[str, str]]] = {}
        widest = max(map(len, self.commands))
        for name in self.list_commands(ctx):
            verb = self.commands[name]
            title = getattr(verb, "rich_help_panel", None) or "Commands"
            summary = (verb.help or "").strip().partition("\n")[0]
            sections.setdefault(title, []).append((f"{name:{widest}}", summary))
        for title, rows in sections.items():
            with formatter.section(title):
                formatter.write_dl(rows)


class _PlainReader:
    """What reads the value of a parameter: a text is what it is, or what its parser makes of it.

    All else is left to Typer, which loads Pydantic for whatever it reads, and that takes longer
    than loading numpy. Versions of Typer that do without it ask no reader.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:  # noqa: ANN401 - Typer's own
        """Return the value that a verb is given."""
        parser = param.type_descriptor.parameter_info.parser
        if not param.multiple and param.nargs == 1:
            if value is None:
                return None
            if parser is not None:
                with suppress(ValueError):  # which Typer says in its own words
                    return parser(value)
            elif param.type_descriptor.annotation is str and isinstance(value, str):
                return value
        param._runtime_param = None  # noqa: SLF001 - Typer makes its own
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _read_plainly(parameters: list[Any]) -> list[Any]:
    for each in parameters:
        each._runtime_param = _PlainReader()  # noqa: SLF001 - there is no other place for it
    return parameters


class _Commands(Mapping[str, TyperCommand | TyperGroup]):
    """Verbs by name, each loaded when it is first asked for: one verb costs one, not all of them.

    Args:
        places: Title of the section of each, and where it is.
    """

    def __init__(self, places: Mapping[str, tuple[str, str]]) -> None:
        self._places = places
        self._loaded: dict[str, TyperCommand | TyperGroup] = {}

    def __getitem__(self, name: str) -> TyperCommand | TyperGroup:
        if name not in self._loaded:
            title, place = self._places[name]
            module, _, attribute = place.partition(":")
            alone = _new_typer()
            _register(alone, title, name, getattr(import_module(module), attribute))
            self._loaded[name] = typer.main.get_group(alone).commands[name]  # type: ignore[assignment]
        return self._loaded[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


def verb_group(
    name: str,
    about: str,
    verbs: Mapping[str, Mapping[str, Verb]],
    *,
    file_verb: str = "",
    completion: bool = False,
) -> typer.Typer:
    """Verbs under one name.

    Args:
        name: What stands before them.
        about: Help of the group.
        verbs: Functions and groups by their names, by the title of their section; all of them,
            or where each is (`recrawl.cli.why:why`), to be loaded when it is asked for.
        file_verb: The verb to suggest to somebody who gives a file in place of a verb.
        completion: Whether it has the options that set up completion in a shell.
    """
    named = {
        called: (title, verb) for title, each in verbs.items() for called, verb in each.items()
    }
    places = {
        called: (title, verb) for called, (title, verb) in named.items() if isinstance(verb, str)
    }
    app = _new_typer(
        name=name,
        help=about,
        cls=type(
            "_OrderedHelp",
            (_GroupHelp,),
            {"order": tuple(named), "file_verb": file_verb, "places": places},
        ),
        add_completion=completion,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    for called, (title, verb) in named.items():
        if not isinstance(verb, str):
            _register(app, title, called, verb)
    return app


def _new_typer(**settings: Any) -> typer.Typer:  # noqa: ANN401 - Typer's own
    return typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False, **settings)


def _register(
    app: typer.Typer, title: str, name: str, verb: Callable[..., None] | typer.Typer
) -> None:
    if isinstance(verb, typer.Typer):
        app.add_typer(verb, name=name, rich_help_panel=title)
    else:
        app.command(name, cls=_VerbHelp, rich_help_panel=title)(_with_common(verb))


def _with_common(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb --quiet and --verbose, and --limit if it writes tables; it does not see them."""
    own = list(inspect.signature(verb, eval_str=True).parameters.values())
    common = list(inspect.signature(_set_screen, eval_str=True).parameters.values())
    if not any(each.name == _OF_TABLES for each in own):
        common = [each for each in common if each.name != "limit"]

    @wraps(verb)
    def run(**values: Any) -> None:  # noqa: ANN401 - what the signature below says
        try:
            _set_screen(**{each.name: values.pop(each.name) for each in common})
            verb(**values)
        except typer.BadParameter as error:  # options that exclude or need each other
            raise UsageError(error.message, error.ctx) from None

    run.__signature__ = inspect.Signature(  # type: ignore[attr-defined] # what Typer reads
        [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *common)]
    )
    run.__annotations__ = {each.name: each.annotation for each in (*own, *common)}
    return run


def _set_screen(
    *,
    limit: Annotated[int | None, LIMIT] = None,
    quiet: Annotated[bool, _QUIET] = False,
    verbose: Annotated[bool, _VERBOSE] = False,
) -> None:
    if quiet and verbose:
        raise typer.BadParameter("--quiet and --verbose exclude each other")
    screen.limit = limit
    screen.loudness = screen.REMARKS + verbose - quiet


def _wrong_value(error: Any, words: list[str]) -> str:  # noqa: ANN401 - Typer's own
    """What the value of an option or an argument must be."""
    parameter = error.param
    low, high = parameter.min, parameter.max
    whole = "integer" in error.message or isinstance(high if low is None else low, int)
    rule = "a whole number" if whole else "a number"
    bounds = [f"at least {low:g}"] if low is not None else []
    bounds += [f"at most {high:g}"] if high is not None else []
    got = _given(parameter, words)
    share = _PERCENT.fullmatch(got)
    hint = f"; write {float(share[1]) / 100:g}" if share else ""
    said = f" (got {got!r})" if got else ""
    return f"{_called(parameter)} must be {', '.join([rule, *bounds])}{said}{hint}"


def _called(parameter: Any) -> str:  # noqa: ANN401 - Typer's own
    return _name(parameter) if _is_argument(parameter) else str(max(parameter.opts, key=len))


def _given(parameter: Any, words: list[str]) -> str:  # noqa: ANN401 - Typer's own
    """What was given for an option; empty where that is not clear."""
    for place, word in enumerate(words):
        name, equals, value = word.partition("=")
        if name in parameter.opts:
            return value if equals else "".join(words[place + 1 : place + 2])
    return ""


def _looks_like_file(word: str) -> bool:
    """Whether a word that is no verb may be a file: there is one, or the name has an ending."""
    return not word.startswith("-") and ("." in word or "/" in word or Path(word).exists())


def _is_argument(parameter: Any) -> bool:  # noqa: ANN401 - Typer's own
    return bool(parameter.param_type_name == "argument")


def _name(argument: Any) -> str:  # noqa: ANN401 - Typer's own
    name = argument.metavar or argument.name.upper()
    return name if argument.nargs == 1 or name.endswith("...") else f"{name}..."


def _usage(argument: Any) -> str:  # noqa: ANN401 - Typer's own
    return _name(argument) if argument.required else f"[{_name(argument)}]"
