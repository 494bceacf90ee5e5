"""How every command reads its line: each option once unless it is a list, and every mistake with its remedy."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from .._aliases import OPTIONS, did_you_mean, meant_option, near_matches
from .._options import OPTIONS as OPTION_TABLE
from .._queries import FORMS
from ..errors import BadInput, Refusal

# Translate Python's spelling of options to the command line's.
#
# Messages of the library name an option as a Python caller writes it, `epsilon=1` or `select_groups=True`. On the
# command line these are `--epsilon 1` and `--select-groups`.

_KEYWORD = re.compile(r"""(?<!--limit )\b(?P<name>[a-z][a-z_]*)=(?P<value>'[^']*'|"[^"]*"|\[[^\]]*\]|[^\s,;()]*)""")
_PLAIN = re.compile(r"[\w,.=/+…-]*")
"""What no shell reads in a way of its own."""
_NO_OPTION = {"privacy=…": "--epsilon E or --ratio R"}
"""Arguments that the command line spells as several options."""
_QUESTION = re.compile(r"""publish\(data(?P<words>(?:, (?:"(?:[^"\\]|\\.)*"|\d+))*)\)""")
_WORD = re.compile(r"""(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>\d+)""")
_IN_A_SHELL = {
    "Ledger(path).accept_restore()": "irisdp ledger FILE --accept-restore",
    "Ledger(path).accept_restore(data)": "irisdp ledger FILE --accept-restore --beside DATA",
    "Ledger(path).change_columns(data)": "irisdp ledger FILE --columns DATA",
    "revoke(ledger, role)": "irisdp ledger ADDRESS --revoke ROLE",
    "examine(ledger)": "irisdp ledger ADDRESS --doctor",
    "rotate_secret()": "irisdp ledger FILE --rotate-secret",
    "grant(ledger, role, may)": "irisdp ledger ADDRESS --grant publish=ROLE, or read=ROLE",
    "write a whole condition, such as": "quote the condition:",  # unquoted, the shell takes > and < for its own
    "Ledger(path).limit_period(PERIOD, LIMIT)": "irisdp ledger FILE --limit-per PERIOD=E,D",
    "Ledger(path).set_limit(E, D)": "irisdp ledger FILE --limit E,D",
    "Ledger(path).set_limit(mu=M)": "irisdp ledger FILE --limit mu=M",
    "Ledger(path).set_limit(rho=R)": "irisdp ledger FILE --limit rho=R",
    "give a list of tuples, or a CSV file": (
        "list the values of each of them: --groups COL=V1,V2 --groups COL2=V3,V4; or name a file: --groups FILE.csv"
    ),
    "Ledger(path).set_limit(E, D, audience=NAME)": "irisdp ledger FILE --limit E,D --audience NAME",
    "Ledger(path).set_limit(mu=M, audience=NAME)": "irisdp ledger FILE --limit mu=M --audience NAME",
    "Ledger(path).set_limit(rho=R, audience=NAME)": "irisdp ledger FILE --limit rho=R --audience NAME",
    "design it first, with irisdp.design.from_spec": ("run irisdp design first: irisdp design SPEC.json -o MECH.json"),
}
"""What is done by other means in a shell than in Python."""


def in_options(text: str, options: Mapping[str, str]) -> str:
    """Rewrite the keywords of a message as options, and what Python calls as commands.

    Parameters
    ----------
    text : str
        Such as ``"add epsilon=1"``.
    options : mapping
        From the Python names of the command's options to the placeholders of their values; other words stay
        as they are.

    Examples
    --------
    >>> in_options("add select_groups=True, or groups=['n', 's']", {"groups": "FILE", "select_groups": ""})
    'add --select-groups, or --groups n,s'
    >>> in_options('write publish(data, "at-least", 100, "age > 64")', {})
    'write irisdp publish DATA at-least 100 "age > 64"'
    """
    for python, shell in _IN_A_SHELL.items():
        text = text.replace(python, shell)
    text = _QUESTION.sub(_command, text)

    def option(match: re.Match[str]) -> str:
        name, value = match["name"], match["value"]
        if name not in options:
            return _NO_OPTION.get(match[0], match[0])
        if value in ("True", "…"):
            return f"{_option(name)} {options[name] if value == '…' else ''}".rstrip()
        shown = ",".join(part.strip(" '\"") for part in value.strip("[]").split(",")) if value[:1] == "[" else value
        shown = shown[1:-1] if shown[:1] in ("'", '"') else shown
        return f"{_option(name)} {shown if _PLAIN.fullmatch(shown) else _quoted(shown)}".rstrip()

    return _KEYWORD.sub(option, text)


def _command(match: re.Match[str]) -> str:
    """Write a question as the command that asks it: the query's name plain, a condition in quotes."""
    name, *words = (
        json.loads(word["text"]) if word["text"] else word["number"] for word in _WORD.finditer(match["words"])
    )
    shown = (word if word.isdecimal() else _quoted(word) for word in words)
    return " ".join(["irisdp publish DATA", name, *shown])


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _quoted(value: str) -> str:
    return f"'{value}'" if '"' in value else f'"{value}"'


def error_in_options(document: Mapping[str, Any], options: Mapping[str, str]) -> dict[str, Any]:
    """Return a JSON-ready document with every message under "error" rewritten, at whatever depth."""
    return {
        key: in_options(value, options)
        if key == "error" and isinstance(value, str)
        else error_in_options(value, options)
        if isinstance(value, Mapping)
        else value
        for key, value in document.items()
    }


GROUPS: dict[str, tuple[str, ...]] = {}
for _found in OPTION_TABLE:
    GROUPS[_found.group] = (*GROUPS.get(_found.group, ()), _found.name)
GROUPS["Output"] += ("dry_run", "verbose", "as_json", "help")
"""The headings of a long help page, each with the names of its options."""
COMMAND_GROUPS = {
    "Publish": ("publish", "batch", "run", "check", "init", "ledger"),
    "Read": ("interpret", "report", "plot"),
    "Design": ("design", "audit", "sample", "compare", "reproduce"),
    "Explore": ("explore",),
}
"""The headings of the list of commands."""
_GROUPED_FROM = 15
"""A command with fewer arguments and options lists them under one heading."""


class Command(TyperCommand):
    """A command that refuses a single option given twice: the last would win silently. Lists accumulate."""

    reads_fields = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                _without_type(parameter)

    def get_params(self, ctx: Any) -> Any:
        """Return the command's arguments and options."""
        return [_taken_as_typed(parameter) for parameter in super().get_params(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """List arguments and options under the headings of `GROUPS`, where a command has options of several."""
        by_name = {parameter.name: parameter for parameter in self.get_params(ctx)}
        rows = {name: row for name, parameter in by_name.items() if (row := parameter.get_help_record(ctx)) is not None}
        sections = {"Arguments": [name for name in rows if by_name[name].param_type_name == "argument"]}
        rest = [name for name in rows if name not in sections["Arguments"]]
        if len(rows) >= _GROUPED_FROM:
            sections |= {heading: [name for name in names if name in rows] for heading, names in GROUPS.items()}
            rest = [name for name in rest if not any(name in names for names in sections.values())]
        for heading, names in (sections | {"Options": rest}).items():
            if names:
                with formatter.section(heading):
                    formatter.write_dl([rows[name] for name in names])
            if heading == "Arguments" and "query" in names and self.name == "publish":
                with formatter.section("Queries, each with an example"):
                    formatter.write_dl([(form.usage, f"{form.answer}: {form.example}") for form in FORMS])

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser of the command's line."""
        return _reading_once(super().make_parser(ctx), ctx)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; errors name options and arguments as the user typed them."""
        options = {
            parameter.name: parameter.metavar or ""
            for parameter in self.params
            if parameter.param_type_name == "option"
        }
        try:
            return super().invoke(ctx)
        except BadInput as error:
            rule, remedy = (in_options(text, options) for text in (error.rule, error.remedy))
            field, file = self.as_typed(error.field, ctx), self._file_meant(error, ctx)
            if file is not None:
                field, rule = str(file), _said_of(file, rule)
            raise error.said(field, rule, remedy) from None
        except Refusal as refusal:
            raise refusal.said(in_options(str(refusal), options)) from None

    def as_typed(self, field: str, context: Any) -> str:
        """Return a field as it stands on the command line, if that is where its value came from, or would come from."""
        parameter = self._parameter(field, context)
        if parameter is None:
            return field if self.reads_fields else _WORDS.get((context.info_name, field), field)
        if parameter.param_type_name == "argument":
            return str((parameter.metavar or field).split()[0])
        return _longest(parameter.opts)

    def _parameter(self, field: str, context: Any) -> Any:
        name = field.replace("-", "_")
        source = context.get_parameter_source(name)
        typed = not self.reads_fields or (source and source.name == "COMMANDLINE")
        # Such as --csv, whose value Python knows by another name.
        named = (
            parameter
            for parameter in self.params
            if parameter.name == name or f"--{field.replace('_', '-')}" in parameter.opts
        )
        return next(named, None) if typed else None

    def _file_meant(self, error: BadInput, context: Any) -> Path | None:
        """Return the file that is wrong where the help calls it by what looks like a file's name, such as MECH.json.

        Of several files it is the one that the rule speaks of, if it says which.
        """
        parameter = self._parameter(error.field, context)
        if parameter is None or parameter.param_type_name != "argument" or "." not in (parameter.metavar or ""):
            return None
        given = context.params.get(parameter.name)
        files = [file for file in (given if isinstance(given, list | tuple) else [given]) if isinstance(file, Path)]
        if len(files) == 1:
            return files[0]
        return next((file for file in files if _said_of(file, error.rule) != error.rule), None)


def _said_of(file: Path, rule: str) -> str:
    """Leave out of a rule the name of the file that stands before it."""
    if rule in (f"there is no file {file}", f"finds no file at {str(file)!r}"):
        return "there is no such file"
    return next((rule.removeprefix(f"{name} ") for name in (str(file), file.name) if rule.startswith(f"{name} ")), rule)


_WORDS = {
    ("compare", "quantile"): "P",
    ("ledger", "ledger"): "FILE",
    ("publish", "expression"): "EXPR",
    ("publish", "mechanism"): "MECH.json",
    ("publish", "quantile"): "P",
    ("publish", "thresholds"): "T1,T2,…",
}
"""What usage lines call what is no argument of its own, or is named by what it holds."""


class CommandOnDocuments(Command):
    """A command whose files have fields of their own: a field named like an option is the option's if that is given."""

    reads_fields = True


class Commands(TyperGroup):
    """All commands, in the order in which they are listed."""

    def get_params(self, ctx: Any) -> Any:
        """Return the options that stand before the command."""
        return [_taken_as_typed(parameter) for parameter in super().get_params(ctx)]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands under the headings of `COMMAND_GROUPS`."""
        for heading, names in COMMAND_GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, self.commands[name].get_short_help_str(limit=100)) for name in names])

    def make_parser(self, ctx: Any) -> Any:
        """Return the parser of what stands before the command."""
        return _reading_once(super().make_parser(ctx), ctx)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find a command, or say which there are."""
        if args and args[0] not in self.commands and not ctx.resilient_parsing:
            remedy = did_you_mean(args[0], self.commands, most=3) or f"choose from {', '.join(self.commands)}"
            if args[0] in {form.usage.split()[0] for form in FORMS}:
                raise BadInput(args[0], "is a query and no command", f"write irisdp publish DATA {args[0]}")
            raise BadInput(args[0], "is no command", remedy)
        return super().resolve_command(ctx, args)


def _reading_once(parser: Any, context: Any) -> Any:
    """Let a parser count what it meets, however it is written (``-o a``, ``-oa``, ``--out a``, ``--out=a``)."""
    parse = parser.parse_args

    def parse_once(args: list[str]) -> Any:
        args, synonyms = _own_spellings(args, context.command)
        try:
            values, rest, order = parse(args=args)
        except typer.TyperException as error:
            vars(error).setdefault("ctx", None)
            vars(error)["ctx"] = vars(error)["ctx"] or context
            raise
        if not context.resilient_parsing:  # completion looks at half a line
            for parameter, times in Counter(order).items():
                # Eager ones, such as --help, act at once.
                if times > 1 and not getattr(parameter, "multiple", False) and not parameter.is_eager:
                    name = _longest(parameter.opts)
                    remedy = "keep one of them"
                    if name in synonyms:
                        raise BadInput(synonyms[name], f"is another name of {name}, and both are given", remedy)
                    if "|" in str(parameter.metavar) and "=" in str(parameter.metavar):  # each is an act of its own
                        remedy += ", and run the command again for the other"
                    raise BadInput(name, f"is given {times} times, and can have one value", remedy)
        return values, rest, order

    # The one place that sees the order of options; Typer calls it and uses its result only.
    parser.parse_args = parse_once
    return parser


def _own_spellings(args: list[str], command: Any) -> tuple[list[str], dict[str, str]]:
    """Return a line with each synonym of an option as the option, and the synonyms that were used, by option."""
    known = {spelling for parameter in command.params for spelling in parameter.opts}
    synonyms = {_spelled(name): _spelled(own) for name, own in OPTIONS.items() if _spelled(own) in known}
    end = args.index("--") if "--" in args else len(args)
    used, line = {}, []
    for word in args[:end]:
        name, separator, value = word.partition("=")
        if name in synonyms:
            used[synonyms[name]] = name
        line.append(f"{synonyms.get(name, name)}{separator}{value}")
    return [*line, *args[end:]], used


def _spelled(name: str) -> str:
    return f"--{name.replace('_', '-')}"


class _AsTyped:
    """Takes text and paths as they are typed, and what was not typed as nothing.

    Typer would load a library that validates, which takes a tenth of the time of a small release. What is wrong with a
    path is better said by what uses it.
    """

    def __init__(self, otherwise: Any) -> None:
        self.otherwise = otherwise

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of an option or an argument."""
        several = param.multiple or param.nargs == -1
        kind = _KINDS.get(param.type_descriptor.annotation)
        if value is None:
            return () if several else None
        if kind is None:
            return self.otherwise().coerce(value, param, ctx)
        return [kind(part) for part in value] if several else kind(value)


_KINDS: dict[Any, Any] = {str: str, list[str]: str, Path: Path, list[Path]: Path}


def _taken_as_typed(parameter: Any) -> Any:
    if "get_runtime_param" not in vars(parameter) and hasattr(parameter, "type_descriptor"):
        reader = _AsTyped(getattr(parameter, "get_runtime_param", None))
        parameter.get_runtime_param = lambda: reader
    return parameter


def _without_type(argument: Any) -> None:
    """Leave out of the help that an argument is `<str>`: its name says what it is."""
    argument.display_type_rich = lambda ctx: None


_ELSEWHERE = {
    f"irisdp {name} --limit": "irisdp ledger survey.ledger --limit 3,1e-6" for name in ("batch", "publish", "run")
}
"""Options that are looked for at one command, and are another's."""


def explain(error: typer.TyperException) -> str:
    """Say in one line what is wrong with a command line, and what to write instead."""
    context: Any = getattr(error, "ctx", None)
    message = error.format_message()
    if context is None:
        return message
    path, command = context.command_path, context.command
    name: Any = getattr(error, "option_name", None)
    options = {spelling: found for found in command.params for spelling in getattr(found, "opts", ())}
    if name in options:  # it is known, and lacks its value or has one too many
        if getattr(options[name], "is_flag", False):
            return str(BadInput(name, "takes no value", f"write {name} alone"))
        return str(BadInput(name, "needs a value", f"write for example {name} {_value(command, options[name])}"))
    if name is not None and f"{path} {name}" in _ELSEWHERE:
        return str(BadInput(name, f"is no option of {path}", f"write for example {_ELSEWHERE[f'{path} {name}']}"))
    if name is not None:
        meant = _spelled(meant_option(name) or "")
        near = [meant] if meant in options else _resembling(name, [found for found in options if found[:2] == "--"])
        remedy = f"did you mean {' or '.join(near)}? " if near else ""
        return str(BadInput(name, f"is no option of {path}", f"{remedy}{path} -h lists them"))
    parameter = getattr(error, "param", None)
    if parameter is not None and hasattr(error, "param_type"):  # it is missing
        missing = parameter.metavar or parameter.name
        field = _longest(parameter.opts) if parameter.param_type_name == "option" else missing
        return str(BadInput(field, "is missing", _example(command) or f"see {path} -h"))
    return f"{path}: {message.rstrip('.')}; put what has spaces in quotes, or see {path} -h"


def _resembling(wrong: str, right: list[str]) -> list[str]:
    """Return the options that begin like a wrong one, else the one that looks most like it."""
    text = "--" + wrong.lower().replace("_", "-").lstrip("-")
    return [candidate for candidate in right if candidate.startswith(text)] or near_matches(text, right)


def _longest(spellings: list[str]) -> str:
    return max(spellings, key=len)


def _value(command: Any, option: Any) -> str:
    """Return a value of an option as the examples of the help have it, else how the help calls it."""
    words = (command.epilog or "").split()
    given = next((after for word, after in pairwise(words) if word in option.opts), None)
    return given or option.metavar or "VALUE"


def _example(command: Any) -> str:
    """Return the first example of a command's help as a remedy."""
    lines = [line.strip() for line in (command.epilog or "").splitlines()]
    return next((f"write for example: {line}" for line in lines if line.startswith("irisdp ")), "")
