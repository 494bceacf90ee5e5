"""The command reference and the manual pages of `man`, both made of the command line itself and its list of queries.

    python docs/site/commands.py [FOLDER]

writes irisdp.1, irisdp-publish.1 and so on into FOLDER, by default build/man.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import irisdp
from irisdp._cli import run as program
from irisdp._cli.main import app
from irisdp._queries import FORMS

__all__ = ["main", "manual_pages", "pages"]

ROOT = Path(__file__).resolve().parents[2]
STATUS = " ".join((program.__doc__ or "").split("\n\n")[1].split())
EACH_QUERY = "The queries, and what each answers per group:"


def _commands() -> tuple[Any, dict[str, Any]]:
    import typer

    whole: Any = typer.main.get_command(app)
    return whole, whole.commands


def _usage(name: str, command: Any) -> str:
    arguments = [part.metavar or part.name.upper() for part in command.params if part.param_type_name == "argument"]
    return " ".join(["irisdp", *([name] if name else ["COMMAND"]), *arguments, "[OPTIONS]"])


def _parameters(command: Any) -> Iterator[tuple[str, str]]:
    """Yield how each argument and option is written, and what it does."""
    for part in command.params:
        if part.param_type_name == "argument":
            yield part.metavar or part.name.upper(), part.help or ""
            continue
        value = "" if part.is_flag else f" {part.metavar or part.name.upper()}"
        repeated = " May be repeated." if part.multiple and "adds up" not in part.help else ""
        told = (part.help or "") + repeated
        given = "" if part.default in (None, False, ()) or "[default" in told else f" [default: {part.default}]"
        yield ", ".join(part.opts) + value, told + given


def _examples(command: Any) -> list[str]:
    return [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("irisdp ")]


def pages() -> dict[str, str]:
    """Return the pages of the command reference by file name, `index.md` first."""
    whole, commands = _commands()
    listed = [f"- [irisdp {name}]({name}.md): {command.short_help}" for name, command in commands.items()]
    index = f"# Commands\n\n{whole.help}\n\n" + "\n".join(listed) + "\n\n## Options of all\n\n" + _defined(whole)
    index += (
        f"\n## Exit status\n\n{STATUS}\n\nAny command takes `-h`. The same as pages of `man`: `make site` writes them"
        " into `build/man`, and so does `python docs/site/commands.py`, which the source distribution holds. Completion"
        " of commands and options in a shell: `irisdp --show-completion bash`."
    )
    made = {"index.md": index + "\n"}
    for name, command in commands.items():
        text = f"# irisdp {name}\n\n{command.help}\n\n```text\n{_usage(name, command)}\n```\n\n"
        if name == "publish":
            rows = [f"| `{form.usage}` | {form.answer} | {_within(form.within)} |" for form in FORMS]
            text += f"## Queries\n\n{EACH_QUERY}\n\n| query | answer | what `--within K` promises |\n|---|---|---|\n"
            text += "\n".join(rows) + "\n\n"
        text += f"## Arguments and options\n\n{_defined(command)}"
        if examples := _examples(command):
            text += "\n## Examples\n\n```text\n" + "\n".join(examples) + "\n```\n"
        made[f"{name}.md"] = text
    return made


def _within(promise: str | None) -> str:
    return "nothing; it is refused" if promise is None else promise.format(K="K", records="K records").rstrip(",")


def _defined(command: Any) -> str:
    return "\n".join(f"`{written}`\n: {_marked(told)}\n" for written, told in _parameters(command))


def _marked(told: str) -> str:
    """Keep Markdown from reading what help says as its own."""
    return told.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_").replace("[", "\\[").replace("{", "\\{")


def manual_pages() -> dict[str, str]:
    """Return the pages of `man` by file name, in the language of man(7)."""
    whole, commands = _commands()
    made = {"irisdp.1": _manual_page("", whole, [f"irisdp-{name}(1)" for name in commands])}
    for name, command in commands.items():
        made[f"irisdp-{name}.1"] = _manual_page(name, command, ["irisdp(1)"])
    return made


def _manual_page(name: str, command: Any, others: list[str]) -> str:
    title = f"irisdp-{name}" if name else "irisdp"
    brief = (command.short_help or command.help or "").rstrip(".")
    lines = [
        f'.TH "{title.upper()}" "1" "" "irisdp {irisdp.__version__}" "Iris"',
        ".SH NAME",
        f"{title} \\- {_roff(brief)}",
    ]
    lines += [".SH SYNOPSIS", _roff(_usage(name, command)), ".SH DESCRIPTION", _roff(command.help or "")]
    if not name:
        for other, found in _commands()[1].items():
            lines += [".TP", f"\\fBirisdp {other}\\fR", _roff(found.short_help or "")]
    if name == "publish":
        lines += [".SH QUERIES", EACH_QUERY]
        for form in FORMS:
            lines += [".TP", f"\\fB{_roff(form.usage)}\\fR", _roff(form.answer)]
    lines.append(".SH OPTIONS")
    for written, told in _parameters(command):
        lines += [".TP", f"\\fB{_roff(written)}\\fR", _roff(told)]
    if examples := _examples(command):
        lines += [".SH EXAMPLES", ".nf", *map(_roff, examples), ".fi"]
    return "\n".join([*lines, ".SH EXIT STATUS", _roff(STATUS), ".SH SEE ALSO", ", ".join(map(_roff, others))]) + "\n"


def _roff(text: str) -> str:
    """Keep roff from reading what help says as its own."""
    plain = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + plain if plain.startswith((".", "'")) else plain


def main(arguments: list[str]) -> None:
    """Write the pages of `man`."""
    folder = Path(arguments[0]) if arguments else ROOT / "build" / "man"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in manual_pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
