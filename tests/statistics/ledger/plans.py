"""Kill a process that runs a plan of many questions, at random moments, and start it again until it is done.

plans.py PLACE KILLS [QUESTIONS]     prints the books as JSON

PLACE is a folder, or the address of a server where the ledgers are kept; files are then in a folder of their own.
Random bits are a function of the question, so that a run that is never killed says what all others must come to: the
same answers, ledger and files. To see that the comparison sees, one run is "unseeded": its bits are the system's.
"""

import hashlib
import json
import os
import random
import re
import sys
import tempfile
import time
from collections import Counter
from contextlib import nullcontext
from pathlib import Path

import numpy as np
from settling import RETURNED, Child, folder_of, import_before_forks

from irisdp import Ledger, run
from irisdp._release import listen_to_progress, pipeline
from irisdp._sampling.bits import OperatingSystemBits

sys.path.append(str(Path(__file__).parents[2]))
from support.engine import in_one_engine

QUESTIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 40
"""At least 15, for one question of each kind."""
TABLE = "town,age,vote\n" + "".join(f"{'EWS'[n % 3]},{20 + n * 7 % 60},{n * n % 3}\n" for n in range(60))
MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
AHEAD = 8
"""Questions that a process gets done at most before it is killed; mostly fewer."""


def plan(place: object) -> str:
    """Return the questions: counts that refine each other, by groups and not, findings and winners, most with files."""
    asked = []
    for number in range(QUESTIONS):
        words, more = [
            ("count", f'expression = "age > {20 + number // 8 * 5}"'),
            ("count", f'expression = "vote = {number % 3}"\nby = "town"\ngroups = ["E", "W", "S"]'),
        ][number % 2]
        if number % 16 == 6:
            words, more = f"at-least {number}", 'expression = "vote = 1"'
        if number % 16 == 14:
            words, more = "plurality vote", "categories = [0, 1, 2]"
        epsilon = f"1/{QUESTIONS - number}"  # finer from time to time: charged the difference
        out = "" if number % 5 == 4 else f'out = "{number}.{"json" if number % 2 else "csv"}"\n'
        asked.append(f'[[questions]]\nquery = "{words}"\n{more}\nepsilon = "{epsilon}"\n{out}')
    ledger = "" if place is None else f'ledger = "{place}"\n'
    return f'[datasets.survey]\ndata = "t.csv"\n{ledger}' + "".join(asked)


def made(folder: Path, place: object) -> Path:
    """Make a folder with the table and the plan."""
    folder.mkdir()
    (folder / "t.csv").write_text(TABLE)
    (folder / "plan.toml").write_text(plan(place))
    return folder / "plan.toml"


def seed_by_question() -> None:
    """Let bits be a function of the question that is being drawn; in a process of its own."""
    streams = [hashlib.shake_256(b"")]
    real, read = pipeline.draw_answers, [0]

    def draw_entries(planned, *given):
        streams[0], read[0] = hashlib.shake_256(planned.question().encode()), 0
        return real(planned, *given)

    def words(self, count):
        read[0] += 8 * count
        return np.frombuffer(streams[0].digest(read[0])[-8 * count :], dtype=np.uint64) if count else np.zeros(0, "u8")

    pipeline.draw_answers = draw_entries
    OperatingSystemBits.words = words


def running(file: Path, way: str, clock: Path | None = None):
    """Return the work of a process that runs the plan, and writes down when all was checked."""

    def work(show):
        if way != "unseeded":
            seed_by_question()
        with in_one_engine(), listen_to_progress(checked):
            run(file)

    def checked(step):
        if clock and not clock.exists() and step.startswith("question 1 "):
            clock.write_text(str(time.monotonic()))

    return work


def files(folder: Path) -> dict[str, bytes]:
    """Return what the plan wrote; of the dates of a run only that there are some."""
    found = {}
    for path in sorted(folder.iterdir()):
        if path.suffix in (".csv", ".json") and path.name != "t.csv":
            found[path.name] = re.sub(rb"20\d\d-\d\d-\d\d(T[\d:.+Z]*)?|sha256:\w+", b"date", path.read_bytes())
    return found


def lines(ledger) -> list[tuple[object, ...]]:
    """Return the lines of a ledger but for their dates."""
    found = Ledger(ledger).releases()
    return [(line.id, line.question, line.cost, line.answers, line.details) for line in found]


def again(file: Path, way: str) -> bool:
    """Run a finished plan once more, and tell whether all is free and no file is touched."""
    before = {path.name: (path.stat().st_ino, path.read_bytes()) for path in file.parent.iterdir() if path.is_file()}
    status, _ = Child(running(file, way)).end()
    after = {path.name: (path.stat().st_ino, path.read_bytes()) for path in file.parent.iterdir() if path.is_file()}
    kept = {name: told for name, told in before.items() if not name.startswith("t.ledger")}
    return status == RETURNED and all(after.get(name) == told for name, told in kept.items())


class Campaign:
    """Runs of the plan in folders of their own, each compared with one that was never killed."""

    def __init__(self, folder: Path, server: str | None) -> None:
        self.folder, self.schemas = folder, None if server is None else folder_of(server)
        self.chance = random.Random(18)
        whole, clock, start = self.made("whole"), folder / "clock", time.monotonic()
        self.fine = Child(running(whole, "as it is", clock)).end()[0] == RETURNED
        self.ready = float(clock.read_text()) - start
        self.each = (time.monotonic() - start - self.ready) / QUESTIONS
        self.lines, self.files = lines(self.ledger("whole")), files(whole.parent)
        self.spent = Ledger(self.ledger("whole")).spent

    def made(self, name: str) -> Path:
        return made(self.folder / name, self.schemas and self.schemas / name)

    def ledger(self, name: str) -> object:
        return self.schemas / name if self.schemas else self.folder / name / "t.ledger"

    def killed(self, kills: int, way: str) -> dict[str, int]:
        """Run the plan until there were so many kills and it is done; return the books."""
        books, moments = Counter(dict.fromkeys(BOOKS, 0)), set()
        while books["kills"] < kills or not books["runs"]:
            name = f"{way} {books['runs']}"
            file, book = self.made(name), Ledger(self.ledger(name))
            ended = -1
            while ended < 0:
                child = Child(running(file, way))
                books["starts"] += 1
                if books["kills"] < kills:
                    time.sleep(self.chance.uniform(0, self.ready + AHEAD * self.each))
                    child.kill()
                ended, _ = child.end()
                books["kills"] += ended < 0
                books["uncharged"] += uncharged(file.parent, book)
                moments.add(len(book.releases()))
            books["runs"] += 1
            books["refused"] += ended != RETURNED
            books["other answers"] += lines(book.place) != self.lines
            books["other files"] += files(file.parent) != self.files
            books["other charges"] += book.spent != self.spent or len(book.releases()) != QUESTIONS
            books["broken history"] += bool(book.verify().problems)
            if way == "as it is":
                books["not free"] += not again(file, way)
        return {**books, "moments": len(moments)}  # so many different questions were the last before a kill, or the end


BOOKS = ("kills", "runs", "starts", "uncharged", "refused", "other answers", "other files", "other charges",
         "broken history", "not free")  # fmt: skip


def main(place: str, kills: int) -> None:
    import_before_forks()
    on_server = place.startswith("postgresql:")
    with tempfile.TemporaryDirectory(dir=MEMORY) if on_server else nullcontext(place) as folder:
        campaign = Campaign(Path(folder), place if on_server else None)
        print(json.dumps(played(campaign, kills, controlled=not on_server)))


def played(campaign: Campaign, kills: int, *, controlled: bool) -> dict[str, object]:
    """Kill, and return the books; a run whose bits are others is the control."""
    books: dict[str, object] = {"questions": len(campaign.lines), "files": len(campaign.files), "fine": campaign.fine}
    books["as it is"] = campaign.killed(kills, "as it is")
    if controlled:
        books["unseeded"] = campaign.killed(0, "unseeded")
    books["processor"] = round(sum(os.times()[:4]), 1)
    return books


def uncharged(folder: Path, book: Ledger) -> int:
    """Count files of answers that no line of the ledger names."""
    named = {path for line in book.releases() for path in line.outputs}
    there = {str(path) for path in folder.iterdir() if re.fullmatch(r"\d+\.(csv|json)", path.name)}
    return len(there - named)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
