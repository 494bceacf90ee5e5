"""The command line in this process: what it printed, on which stream, and how it ended."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from irisdp._cli import run


def answered(text):
    """Read the document that a command printed, but for what it says of its command."""
    document = json.loads(text)
    if isinstance(document, dict):
        document.pop("command", None)
    return document


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str

    @property
    def document(self):
        """The JSON document printed: all of what stands on standard output, but for what it says of its command."""
        return answered(self.out)

    @property
    def command(self):
        """What the JSON document says of its command."""
        return json.loads(self.out)["command"]

    @property
    def line(self):
        """The one line of an error, without the program's name."""
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("irisdp: ").strip()


def irisdp(command):
    """Run a command, split at blanks where it is one text."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = run(command.split() if isinstance(command, str) else list(command))
    return Ended(status, out.getvalue(), err.getvalue())
