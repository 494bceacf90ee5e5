"""Compile every formal proof from scratch, and say what each theorem rests on.

``make proofs`` runs this. It fails if a file does not compile, if a theorem of ``theorems.txt`` is missing, is not
closed by ``Qed`` or rests on an axiom that ``axioms.txt`` does not list, if a proof is left open anywhere, if the
independent checker ``coqchk`` refuses a file, or if one of the planted errors (``planted.py``) is *not* refused.
Python's standard library and Debian's Coq packages are enough. ``--write`` notes in README.md and ``stamps`` what was
proved.
``--only NAME …`` proves these files with all that they need, and plants no errors.
"""

import argparse
import re
import sys
import time
from pathlib import Path

from checks import Refused, assumptions, check_again, compile_all, listed
from debian import install
from planted import refuse_planted_errors
from stamps import write_stamps

HERE = Path(__file__).resolve().parent


def main():
    """Prove everything and say so, or stop with what is refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=2, help="files compiled at the same time")
    parser.add_argument("--build", type=Path, default=HERE.parent / "build" / "formal", help="where compiled files go")
    parser.add_argument("--no-plants", action="store_true", help="leave out the planted errors")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="prove these files with all that they need")
    parser.add_argument("--write", action="store_true", help="write the table of theorems into README.md, and stamps")
    options = parser.parse_args()
    try:
        install()
        start = time.monotonic()
        seconds = compile_all(HERE, options.build, options.jobs, options.only)
        rests = assumptions(HERE, options.build, seconds)
        check_again(options.build)
        whole = time.monotonic() - start
        for name, axioms in rests.items():
            print(f"{name}: {', '.join(axioms) or 'no axiom'}")
        if not (options.no_plants or options.only):
            refuse_planted_errors(HERE, options.build)
    except Refused as refused:
        sys.exit(f"formal: {refused}")
    if options.write:
        write_table(seconds, rests)
        write_stamps(HERE, seconds)
    print(f"{len(rests)} theorems in {len(seconds)} files hold, {whole:.0f} s")


def write_table(seconds, rests):
    """Write the list of theorems between the markers of README.md; what was not proved now keeps what it said."""
    page = HERE / "README.md"
    before, rest = page.read_text(encoding="utf-8").split("<!-- theorems -->\n", 1)
    table, after = rest.split("<!-- end -->", 1)
    said = dict(re.findall(r"^\| `([\w']+)` \|.*\| ([^|]*) \|$", table, re.M))
    taken = {file: f"{cost:.0f}" for file, cost in seconds.items()}
    taken = dict(re.findall(r"^\| (\w+)\.v \| \d+ \| (\d+) \|$", table, re.M)) | taken
    rows = ["| theorem | file | lines | proves | axioms |", "|---|---|---|---|---|"]
    for name, file, link in listed(HERE):
        text = (HERE / f"{file}.v").read_text(encoding="utf-8")
        start = re.search(rf"^(?:Theorem|Lemma|Corollary)\s+{re.escape(name)}\b", text, re.M).start()
        first = text.count("\n", 0, start) + 1
        last = first + text[start : text.index("Qed.", start)].count("\n")
        proves = "" if link == "-" else f"[{link}](../proofs/{link}.md)"
        found = rests.get(f"{file}.{name}")
        axioms = said.get(name, "not proved yet") if found is None else ", ".join(found) or "none"
        rows.append(f"| `{name}` | [{file}.v]({file}.v) | {first}-{last} | {proves} | {axioms} |")
    rows += ["", "| file | lines | processor seconds |", "|---|---|---|"]
    for path in sorted(HERE.glob("*.v")):
        count = path.read_text(encoding="utf-8").count("\n")
        rows.append(f"| {path.name} | {count} | {taken.get(path.stem, '')} |")
    page.write_text(before + "<!-- theorems -->\n" + "\n".join(rows) + "\n<!-- end -->" + after, encoding="utf-8")


if __name__ == "__main__":
    main()
