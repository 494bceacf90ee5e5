"""Build the verified checker of mechanism files: prove `check`, extract its program, compile it with its driver.

``make checker`` runs this and leaves ``build/checker/iris-check``. What is proved and what is trusted stands in
``formal/checker/README.md``.
"""

import argparse
import fcntl
import hashlib
import shutil
import sys
from contextlib import contextmanager
from pathlib import Path

from checks import Refused, compile_one, coq, needs
from debian import install, missing

HERE = Path(__file__).resolve().parent
PROGRAM = HERE.parent / "build" / "checker" / "iris-check"
SOURCES = (
    "checker.mli",
    "checker.ml",
    "json.ml",
    "numbers.ml",
    "reading.ml",
    "certificate.ml",
    "choices.ml",
    "readings.ml",
    "oracles.ml",
    "main.ml",
)
EXTRACTED = ("FirstChoices", "Readings", "Rows")
BROKEN = {
    "one-sided": ("(&&) (one_way rd p q) (one_way rd q p)", "one_way rd p q"),
    "losses-fall": ("(&&) (sorted (fun x y -> le y x) (take (Big_int_Z.succ_big_int i) row))", "(||) true"),
}
"""What can be broken, by the extracted text and what is put in its place: tests must find it out."""


def main():
    """Build the program and say where it is, or stop with what is refused."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=PROGRAM, help="where the program goes")
    wrongly = parser.add_mutually_exclusive_group()
    wrongly.add_argument("--one-sided", action="store_true", help="compare neighbours in one direction only, wrongly")
    wrongly.add_argument("--losses-fall", action="store_true", help="take any loss for one that never falls, wrongly")
    parser.add_argument("--no-install", action="store_true", help="stop where a package is missing")
    options = parser.parse_args()
    try:
        if not options.no_install:
            install(checker=True)
        broken = [what for what in BROKEN if vars(options)[what.replace("-", "_")]]
        print(build_broken(options.program, broken[0]) if broken else build(options.program))
    except Refused as refused:
        sys.exit(f"formal: {refused}")


def build(program=PROGRAM):
    """Prove, extract and compile, unless that was done of the same sources; return the program's path.

    Processes that call this at once build once: the others wait, and find the program.
    """
    with alone(program.parent):
        stamp = program.with_name("sources.sha256")
        if not (program.exists() and stamp.exists() and stamp.read_text() == digest()):
            build_anew(program)
            stamp.write_text(digest())
    return program


@contextmanager
def alone(folder):
    """Hold the lock of a folder. The file of the lock is next to the folder, which a build removes."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def build_anew(program):
    """Prove, extract and compile in an empty folder."""
    if lacking := missing(checker=True):
        raise Refused(f"{' '.join(lacking)}: not installed")
    folder = program.parent
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in below():
        shutil.copy(HERE / f"{name}.v", folder)
        compile_one(folder, name)
    for path in (HERE / "checker").iterdir():
        shutil.copy(path, folder)
    compile_one(folder, "Extract")
    link(folder, program)


def build_broken(program, what):
    """Compile a checker that is wrong in one place, which must be found out; return its path."""
    folder = program.parent
    folder.mkdir(parents=True, exist_ok=True)
    for name in SOURCES:
        shutil.copy(build().parent / name, folder)
    text, (right, wrong) = (folder / "checker.ml").read_text(), BROKEN[what]
    if text.count(right) != 1:
        raise Refused(f"checker.ml does not have {right!r} once")
    (folder / "checker.ml").write_text(text.replace(right, wrong))
    link(folder, program)
    return program


def link(folder, program):
    """Compile the extracted program and its driver."""
    coq(
        ["ocamlfind", "ocamlopt", "-w", "-a", "-package", "zarith,unix", "-linkpkg", *SOURCES, "-o", program.name],
        folder,
    )


def below():
    """Return the files that are extracted and what they need, in the order in which they compile."""
    found, need = [], needs(HERE)

    def visit(one):
        for other in sorted(need[one]):
            visit(other)
        if one not in found:
            found.append(one)

    for name in EXTRACTED:
        visit(name)
    return found


def digest():
    """Return the SHA-256 of every source of the program."""
    paths = [*(HERE / f"{name}.v" for name in below()), *sorted((HERE / "checker").glob("*.ml"))]
    paths.append(HERE / "checker" / "Extract.v")
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


if __name__ == "__main__":
    main()
