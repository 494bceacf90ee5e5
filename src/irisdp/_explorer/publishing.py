"""Publishing a plan from the explorer, in a process of its own: the plan file is written, and `irisdp.run` runs it.

What was charged is in the ledger whatever happens to this process; the same press again, or `irisdp run`, writes the
files that are missing and charges nothing twice.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from .._child_processes import Phase
from .._exact import TomlFile
from .._files import is_there, open_regular, plan_outputs, write_outputs
from .._ledger import charge_of
from ..errors import BadInput, NotShown
from .draft import SHARES, WRITTEN_BY
from .results import Values


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """What a press published.

    Attributes
    ----------
    rows : tuple of (number, title, charged)
    new : int
        How many of them were not answered before.
    ledger : tuple of str
        What each ledger was charged, and where it stands.
    stopped : str
        Why not everything was shown; empty if it was.
    """

    rows: tuple[tuple[str, str, str], ...] = ()
    new: int = 0
    ledger: tuple[str, ...] = ()
    stopped: str = ""


def publish_plan(values: Values, say: Phase) -> Published:
    """Write the plan file and run it.

    Parameters
    ----------
    values : mapping
        The ``path`` and the ``text`` of the plan, the digests of the files that it may replace (``known``), the
        ``most`` that may be charged, as a document in JSON, and the ``agreement`` of what was shown.

    Raises
    ------
    BadInput, Refusal
        As `irisdp.run`; nothing was spent.
    """
    from .._release import listen_to_progress, run_as_shown

    path = Path(values["path"])
    save_plan(path, values["text"], values["known"])
    most = charge_of(json.loads(values["most"]))
    try:
        with listen_to_progress(say):
            published = run_as_shown(path, max_charge=most, agreement=values["agreement"])
    except NotShown as error:
        return Published(stopped=str(error))
    rows = (
        (str(one.number), one.title, "nothing: answered before" if done.repeated else done.cost.as_charged())
        for one in published.questions
        for done in [one.publication]
    )
    new = sum(not done.repeated for done in published)
    return Published(rows=tuple(rows), new=new, ledger=tuple(published.describe_budgets("by this run")))


def digest_of(path: Path) -> str:
    """Return the digest of a plan file, which is empty where no file is there.

    Raises
    ------
    BadInput
        For what is no file that can be read.
    """
    if not is_there(path):
        return ""
    try:
        with open_regular(path) as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        raise BadInput("plan", f"cannot read {path.name}", "name another plan file with --plan") from None


def save_plan(path: Path, text: str, known: str) -> None:
    """Write a plan file and make the folders of its answers.

    Parameters
    ----------
    path, text
        The file, and what it will say.
    known : str
        The digests of what it may replace, separated by commas; of no file it is empty.

    Raises
    ------
    BadInput
        Where another program has changed the file, and where the folder cannot be written.
    """
    content = text.encode()
    there = digest_of(path)
    if there not in (*known.split(","), hashlib.sha256(content).hexdigest()):
        rule = f"{path.name} was changed by another program since this explorer read or wrote it"
        raise BadInput("plan", rule, "keep a copy of it and remove it, or start the explorer again to go on from it")
    document = TomlFile(path, "plan").parse(content)
    for one in (document, *document["questions"]):
        for key in ("out", "report"):
            if key in one:
                _make_folder(path.parent, Path(one[key]))
    if there != hashlib.sha256(content).hexdigest():
        list(write_outputs([(plan_outputs([path], [], field="plan", force=True)[0], content)]))


def _make_folder(beside: Path, file: Path) -> None:
    """Make the folder of answers, where it is to lie beside the plan; others are the owner's."""
    folder = beside / file.parent
    if file.is_absolute() or ".." in file.parts or folder.is_dir():
        return
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput("out", f"the folder {file.parent} cannot be made ({error.strerror})", "make it") from None


def was_written_here(text: str) -> bool:
    """Tell whether the explorer wrote a plan file, so that no comment of somebody else is lost."""
    lines = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    return all(line.startswith((WRITTEN_BY, SHARES)) for line in lines)
