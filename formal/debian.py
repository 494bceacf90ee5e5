"""Debian's packages that the formal proofs and the verified checker need, installed where they are missing."""

import os
import shutil
import subprocess
from pathlib import Path

from checks import Refused

PROOFS = ("coq", "libcoq-mathcomp-algebra", "libcoq-mathcomp-fingroup", "libcoq-mathcomp-zify")
CHECKER = ("ocaml-nox", "ocaml-findlib", "libzarith-ocaml-dev")
LIBRARIES = ("ssreflect/all_ssreflect.vo", "algebra/all_algebra.vo", "fingroup/perm.vo", "zify/ssrZ.vo")


def missing(checker=False):
    """Return the packages to install, all of them if anything of theirs is missing; none if nothing is."""
    there = shutil.which("coqc") and all((library() / name).exists() for name in LIBRARIES)
    lacking = () if there else PROOFS
    if checker and not (
        shutil.which("ocamlfind") and shutil.which("ocamlopt") and finds("zarith", "big_int_Z.cmi", "zarith.cmxa")
    ):
        lacking += CHECKER
    return lacking


def library():
    """Return the folder of mathcomp's compiled files."""
    return Path(subprocess.check_output(["coqc", "-where"], text=True).strip()) / "user-contrib" / "mathcomp"


def finds(package, *files):
    """Say whether OCaml has a package with these files: what is needed to run it alone lacks those to compile with."""
    done = subprocess.run(["ocamlfind", "query", package], capture_output=True, text=True, check=False)
    return done.returncode == 0 and all((Path(done.stdout.strip()) / name).exists() for name in files)


def install(checker=False):
    """Install what is missing, or say what to install."""
    if not (lacking := missing(checker)):
        return
    if not (hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get")):
        raise Refused(f"{' '.join(lacking)}: install these packages, or run as root on Debian 12")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], env=quiet, check=True)
    subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *lacking], env=quiet, check=True)
