"""What was proved, kept in `stamps/`: one line for each file, so that people who change different files do not meet.

A stamp is the digest of a file with all that it needs, of the theorems listed for it and of the axioms allowed.
"""

import hashlib
import subprocess
from datetime import UTC, datetime

from checks import listed, with_needs


def digest(folder, name):
    """Return what a file's proof depends on, as one number in hexadecimal."""
    whole = hashlib.sha256()
    for part in sorted(with_needs(folder, [name])):
        whole.update(f"{part} {hashlib.sha256((folder / f'{part}.v').read_bytes()).hexdigest()}\n".encode())
    for theorem in sorted(theorem for theorem, file, _ in listed(folder) if file == name):
        whole.update(f"{theorem}\n".encode())
    whole.update((folder / "axioms.txt").read_bytes())
    return whole.hexdigest()


def write_stamps(folder, names):
    """Stamp files that were proved just now, and drop the stamps of files that are gone."""
    coq = subprocess.check_output(["coqc", "--print-version"], text=True).split()[0]
    place = folder / "stamps"
    place.mkdir(exist_ok=True)
    for name in names:
        line = f"{digest(folder, name)} {datetime.now(UTC).date()} Coq {coq}\n"
        (place / name).write_text(line, encoding="utf-8")
    for path in place.iterdir():
        if not (folder / f"{path.name}.v").exists():
            path.unlink()


def stale(folder):
    """Return the files that changed, or rest on one that did, since they were proved; and stamps of no file."""
    stamps = {path.name: path.read_text(encoding="utf-8").split()[0] for path in (folder / "stamps").iterdir()}
    names = {path.stem for path in folder.glob("*.v")}
    return sorted(
        name for name in names | stamps.keys() if name not in names or stamps.get(name) != digest(folder, name)
    )
