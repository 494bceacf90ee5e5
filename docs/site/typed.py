"""Type what the pages of the manual tell readers to type, and hold what comes to what is shown.

    python docs/site/typed.py PAGE …        writes what comes below each command into the page

An indented block with lines that begin with ``$`` is a terminal: each such line is typed, in one folder per page that
holds the survey, the plan and the specs of `examples`, and what stands below it is what comes. A fenced block of Python
is run, all of a page in one namespace; where it has ``>>>``, what is shown must come. Below a line ``<!-- drawn -->``
numbers are drawn at random, and only the words around them and outside boxes are held. Other fenced blocks are not
typed.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

__all__ = ["PAGES", "Block", "blocks", "retyped", "settled"]

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "docs" / "index.md",
    ROOT / "docs" / "start.md",
    *sorted((ROOT / "docs" / "howto").glob("*.md")),
    *sorted((ROOT / "docs" / "tutorials").glob("*.md")),
    *sorted((ROOT / "docs" / "background").glob("*.md")),
    *sorted((ROOT / "docs" / "reference").glob("*.md")),
]
"""The pages that are typed; the README has a test of its own, with an installed wheel."""

_BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$|^```.*?^```$|(?:^    [^\n]*\n(?:\n+(?=    ))?)+", re.MULTILINE | re.DOTALL
)
_WIDTH = 80
"""Columns of a page."""
_SHELL = re.compile(r"[|<>;&`$]")
_DRAWN_IN_BOXES = re.compile(r"\s*[━─┏┓┡┩┳╇└┘┴┃│]")
_NAMES = re.compile(r"\b(yes|no)\b|\b[0-9a-f]{40,}\b|[-−]?\d[\d.,/e-]*")


@dataclass(frozen=True)
class Block:
    """A piece of a page that is typed: from where to where, whether Python or a terminal, and whether drawn."""

    start: int
    end: int
    text: str
    is_python: bool
    is_drawn: bool


def blocks(text: str) -> Iterator[Block]:
    """Yield what is typed of a page, in order."""
    for found in _BLOCK.finditer(text):
        drawn = text[: found.start()].rstrip().endswith("<!-- drawn -->")
        if found["code"] is not None:
            yield Block(found.start("code"), found.end("code"), found["code"], True, drawn)
        elif re.search(r"^    \$ ", found[0], re.MULTILINE):
            yield Block(found.start(), found.end(), found[0], False, drawn)


def retyped(text: str, folder: Path) -> str:
    """Return a page with what comes when it is typed in an empty folder; a failure is an error with the command."""
    os.environ["COLUMNS"] = str(_WIDTH)
    for name in ("anes96.csv", "plan.toml"):
        shutil.copy(ROOT / "examples" / name, folder)
    if (ROOT / "examples" / "specs").is_dir():
        shutil.copytree(ROOT / "examples" / "specs", folder, dirs_exist_ok=True)
    typist, made, end = _Typist(folder), [], 0
    is_twofold = "<!-- end of tabs -->" in text  # who reads it types one of the two languages
    with tempfile.TemporaryDirectory() as apart:
        shutil.copytree(folder, apart, dirs_exist_ok=True)
        for block in blocks(text):
            with contextlib.chdir(apart if is_twofold and block.is_python else folder):
                if block.is_python:
                    typed = typist.python(block.text, is_drawn=block.is_drawn)
                else:
                    typed = typist.terminal(block.text)
            made += [text[end : block.start], typed]
            end = block.end
    return "".join([*made, text[end:]])


def settled(text: str) -> list[str]:
    """Return the lines of what is typed; where numbers are drawn, the words between them in one line."""
    lines: list[str] = []
    for block in blocks(text):
        shown = block.text.splitlines()
        if block.is_drawn:
            words = " ".join(line for line in shown if not _DRAWN_IN_BOXES.match(line))
            shown = [" ".join(_NAMES.sub("?", words).split())]  # how long a number is decides where lines are broken
        lines += [line.rstrip() for line in shown if line.strip()]
    return lines


class _Drawn(doctest.OutputChecker):
    """Holds the words that are shown, and not the numbers between them, which are drawn at random."""

    def check_output(self, want: str, got: str, optionflags: int) -> bool:
        return super().check_output(_NAMES.sub("?", want), _NAMES.sub("?", got), optionflags)


def _folded_command(lines: list[str]) -> list[str]:
    """Break a command that is wider than a page before options, as one types it on several lines."""
    if len(lines) > 1 or len(lines[0]) <= _WIDTH:
        return lines
    first, *options = re.split(r" (?=--?[a-z])", lines[0])
    made = [first]
    for option in options:
        if len(made[-1]) + len(option) + 3 <= _WIDTH:
            made[-1] += f" {option}"
        else:
            made.append(f"    {option}")
    return [f"{line} \\" for line in made[:-1]] + made[-1:]


def _folded(line: str) -> list[str]:
    """Break a line of words that is wider than a page between words; columns and drawings stay as they are."""
    if len(line) <= _WIDTH or "  " in line.strip() or _DRAWN_IN_BOXES.match(line):
        return [line]
    indent = " " * (len(line) - len(line.lstrip()))
    return textwrap.wrap(line, _WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False) or [""]


@dataclass
class _Typist:
    folder: Path
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def python(self, code: str, *, is_drawn: bool = False) -> str:
        if ">>> " not in code:
            exec(compile(code, "page", "exec"), self.names)
            return code
        example = doctest.DocTestParser().get_doctest(code, self.names, "page", "page", 0)
        complaints = io.StringIO()
        flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
        checker = _Drawn() if is_drawn else doctest.OutputChecker()
        doctest.DocTestRunner(checker, verbose=False, optionflags=flags).run(
            example, out=complaints.write, clear_globs=False
        )
        if complaints.getvalue():
            raise AssertionError(complaints.getvalue())
        self.names.update(example.globs)
        return code

    def terminal(self, text: str) -> str:
        lines = [line[4:] for line in text.splitlines()]
        made, place = [], 0
        while place < len(lines):
            if not lines[place].startswith("$ "):  # what was shown before
                place += 1
                continue
            last = place
            while lines[last].endswith("\\"):
                last += 1
            made += [f"    {line}" for line in _folded_command(lines[place : last + 1])]
            shown = self._typed("\n".join(lines[place : last + 1])[2:])
            made += [f"    {line}".rstrip() for long in shown for line in _folded(long)]
            place = last + 1
        return "\n".join(made) + "\n" * (len(text) - len(text.rstrip("\n")))

    def _typed(self, command: str) -> list[str]:
        bare = re.sub(r"'[^']*'|\"[^\"]*\"", "", command)
        if command.startswith("irisdp ") and not _SHELL.search(bare):
            shown, status = self._in_this_process(shlex.split(command.replace("\\\n", " "), comments=True)[1:])
        else:
            shown, status = self._in_a_shell(command)
        refused = re.search(r"^irisdp: ", shown, re.MULTILINE) is not None
        if status > 1 and not refused:  # 1: checked, and does not hold
            raise AssertionError(f"{command}\nends with status {status}\n{shown}")
        here = re.compile(rf"(^ +)?{re.escape(str(self.folder))}/", re.MULTILINE)  # titles are centred by their length
        return here.sub("", shown).rstrip().splitlines()

    def _in_this_process(self, arguments: list[str]) -> tuple[str, int]:
        from irisdp._cli import run

        shown = io.StringIO()
        with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
            status = run(arguments)
        return shown.getvalue(), status

    def _in_a_shell(self, command: str) -> tuple[str, int]:
        programs = str(Path(sys.executable).parent)
        told = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            ["bash", "-ec", command], env=told, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        return done.stdout, done.returncode


def main(pages: list[str]) -> None:
    """Type pages, and write them down with what comes."""
    for page in map(Path, pages):
        with tempfile.TemporaryDirectory() as folder:
            text = retyped(page.read_text(encoding="utf-8"), Path(folder))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
