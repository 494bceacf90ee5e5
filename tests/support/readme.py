"""A page as what is typed from it: its code blocks in order, each with what is shown below it."""

import re
from itertools import pairwise


def blocks(text):
    """Return the code blocks of a page in order, each with its language: indented ones are for the shell."""
    found, language, lines = [], None, []
    for before, line in pairwise(["", *text.splitlines(), ""]):
        if language in {"python", "toml", "other"}:
            if line.startswith("```"):
                found.append((language, lines))
                language, lines = None, []
            else:
                lines.append(line)
        elif line.startswith("```"):
            language, lines = (line[3:] if line[3:] in {"python", "toml"} else "other"), []
        elif line.startswith("    ") and (language == "shell" or not before.strip()):
            language = "shell"
            lines.append(line[4:])
        elif language == "shell" and line.strip():
            found.append((language, lines))
            language, lines = None, []
        elif language == "shell":
            lines.append("")
    return [*found, (language, lines)] if lines else found


def steps(text):
    """Return what is run: ("python", code) or ("shell", command, the lines shown below it or None)."""
    found = []
    for language, lines in blocks(text):
        if language == "toml":  # a project file, which is filled in and not typed
            continue
        if language == "python":
            found.append(("python", "\n".join(lines), None))
            continue
        assert language == "shell"
        shown = any(line.startswith("$ ") for line in lines)
        for line in lines:
            if found and found[-1][1].endswith("\\"):
                found[-1] = ("shell", found[-1][1] + "\n" + line, found[-1][2])
            elif line.startswith("$ ") or (line and not shown):
                found.append(("shell", line.removeprefix("$ "), [] if shown else None))
            elif shown:
                found[-1][2].append(line)
    return found


def settled(lines):
    """Blank out what is drawn at random, and blank lines at the end."""
    text = "\n".join(lines).rstrip()
    text = re.sub(r"(?m)│ (yes|no |\d  ) +│$", "│ ?      │", text)
    return re.sub(r"(?m)^  reading   \d+", "  reading   ?", text).splitlines()
