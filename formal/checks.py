"""What ``make proofs`` checks of a folder of Coq files: their texts here, everything else by asking Coq."""

import os
import re
import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

STEP = re.compile(r"\b(?:Theorem|Lemma|Corollary)\s+([\w']+)|\b(Qed|Defined|Abort)\.")
OPEN = re.compile(
    r"\b(Admitted|admit|Axioms?|Parameters?|Conjectures?|give_up|bypass_check|type_in_type"
    r"|Unset\s+(?:Guard|Positivity|Universe))\b"
)
COMMENT = re.compile(r"\(\*.*?\*\)", re.S)


class Refused(Exception):
    """Something that the proofs promise does not hold."""


def listed(folder):
    """Return (theorem, file, page) for each line of the list."""
    lines = (folder / "theorems.txt").read_text(encoding="utf-8").splitlines()
    return [tuple(line.split()) for line in lines if line.strip() and not line.startswith("#")]


def without_comments(text):
    """Return a Coq text without its comments, which may hold comments."""
    while (shorter := COMMENT.sub("", text)) != text:
        text = shorter
    return text


def check_texts(folder):
    """Refuse proofs left open, and listed theorems that are not stated and closed in their file."""
    closed = {}
    for path in sorted(folder.glob("*.v")):
        text = without_comments(path.read_text(encoding="utf-8"))
        if found := OPEN.search(text):
            raise Refused(f"{path.name}: {found.group()} leaves something unproved")
        closed[path.stem] = closed_in(text)
    names = [name for name, _, _ in listed(folder)]
    if doubled := {name for name in names if names.count(name) > 1}:
        raise Refused(f"theorems.txt: listed twice: {', '.join(sorted(doubled))}")
    for name, file, _ in listed(folder):
        if name not in closed.get(file, ()):
            raise Refused(f"{file}.v: theorem {name} is listed, and not stated and closed there")


def closed_in(text):
    """Return the statements of a file that end with `Qed`."""
    names, stated = set(), None
    for name, end in STEP.findall(text):
        if end == "Qed" and stated:
            names.add(stated)
        stated = name or None
    return names


def needs(folder):
    """Return the files of this folder that each file needs."""
    found = {}
    for path in sorted(folder.glob("*.v")):
        lines = re.findall(r"^From Iris Require Import ([^.]*)\.", path.read_text(encoding="utf-8"), re.M)
        found[path.stem] = {name for line in lines for name in line.split()}
    return found


def with_needs(folder, names):
    """Return these files and all that they need, each with what it needs."""
    below, found, left = needs(folder), {}, set(names)
    if unknown := left - below.keys():
        raise Refused(f"there is no file of proofs called {', '.join(sorted(unknown))}")
    while left:
        name = left.pop()
        found[name] = below[name]
        left |= below[name] - found.keys()
    return found


def compile_all(folder, build, jobs, names=None):
    """Compile every file of ``folder``, or these with all that they need, in ``build``; return each one's seconds."""
    check_texts(folder)
    waiting, done = with_needs(folder, names or needs(folder)), {}
    shutil.rmtree(build, ignore_errors=True)
    build.mkdir(parents=True)
    for name in waiting:
        shutil.copy(folder / f"{name}.v", build)
    with ThreadPoolExecutor(jobs) as pool:
        running = {}
        while waiting or running:
            for name in [name for name, need in waiting.items() if need <= done.keys()]:
                running[pool.submit(compile_one, build, name)] = name
                del waiting[name]
            if not running:
                raise Refused(f"files that need each other: {', '.join(waiting)}")
            for task in [task for task in running if task.done()]:
                name = running.pop(task)
                done[name] = task.result()
                print(f"{name:20} {done[name]:6.1f} s", flush=True)
            time.sleep(0.02)
    return done


def compile_one(build, name):
    """Compile one file in ``build``; return the processor's seconds."""
    output = build / f"{name}.out"
    with output.open("w") as said:
        command = ["coqc", "-q", "-w", "none", "-Q", ".", "Iris", f"{name}.v"]
        process = subprocess.Popen(command, cwd=build, stdout=said, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise Refused(f"{name}.v is refused:\n{output.read_text(encoding='utf-8', errors='replace')[-2000:]}")
    return used.ru_utime + used.ru_stime


def coq(command, build):
    """Run one of Coq's programs in ``build`` and return what it says; refuse with its words."""
    done = subprocess.run(command, cwd=build, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Refused(f"{' '.join(command[-1:])} is refused:\n{(done.stdout + done.stderr)[-2000:]}")
    return done.stdout


def assumptions(folder, build, files=None):
    """Return the axioms of each listed theorem, or of those of these files; refuse axioms that are not listed."""
    names = [f"{file}.{name}" for name, file, _ in listed(folder) if files is None or file in files]
    text = (folder / "axioms.txt").read_text(encoding="utf-8")
    allowed = {line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")}
    # Coq walks through all of mathcomp for each answer, so one answer for all theorems is asked for first
    together = axioms_of(build, names) if names else ()
    if unlisted := sorted(set(together) - allowed):
        raise Refused(f"theorems rest on what axioms.txt does not list: {', '.join(unlisted)}")
    return {name: axioms_of(build, [name]) if together else () for name in names}


def axioms_of(build, names):
    """Return the axioms on which some of these theorems rest."""
    lines = [f"From Iris Require {' '.join(sorted({name.split('.')[0] for name in names}))}."]
    lines += [f"Definition listed := ({', '.join(f'@{name}' for name in names)}, tt).", "Print Assumptions listed."]
    (build / "Assumptions.v").write_text("\n".join(lines) + "\n", encoding="utf-8")
    answer = coq(["coqc", "-q", "-w", "none", "-Q", ".", "Iris", "Assumptions.v"], build).strip()
    if answer == "Closed under the global context":
        return ()
    if not answer.startswith("Axioms:") or not (axioms := re.findall(r"^([\w.']+)\s*:", answer[7:], re.M)):
        raise Refused(f"what Print Assumptions says of {', '.join(names)} is not understood:\n{answer}")
    return tuple(axioms)


def check_again(build):
    """Let Coq's independent checker read the compiled files; the libraries below them are Debian's."""
    names = [f"Iris.{path.stem}" for path in sorted(build.glob("*.vo")) if path.stem != "Assumptions"]
    norec = [word for name in names for word in ("-norec", name)]
    coq(["coqchk", "-silent", "-Q", ".", "Iris", *norec], build)
