"""Without Coq: what a page of proofs names is stated in `formal/`, ends with `Qed`, and is listed there."""

import importlib.util
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

ROOT = Path(__file__).parents[2]
FORMAL = ROOT / "formal"


def load(name):
    """Return a module of `formal/`, which is no package: its files import each other by their bare names."""
    spec = importlib.util.spec_from_file_location(name, FORMAL / f"{name}.py")
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


checks = load("checks")
debian = load("debian")
stamps = load("stamps")
make_checker = load("make_checker")
LISTED = checks.listed(FORMAL)
PAGES = sorted(ROOT.glob("proofs/*.md"))
TIE = re.compile(r"\[`([\w']+)`\]\(\.\./formal/(\w+)\.v\)")


def test_every_listed_theorem_is_stated_and_closed_and_nothing_is_left_open():
    checks.check_texts(FORMAL)


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem) for path in PAGES])
def test_a_page_names_its_formal_theorems_and_no_others(path):
    ties = set(TIE.findall(path.read_text(encoding="utf-8")))
    assert ties == {(name, file) for name, file, page in LISTED if page == path.stem}


def test_every_page_that_the_list_names_is_there():
    assert {page for _, _, page in LISTED} - {"-"} <= {path.stem for path in PAGES}


def test_the_table_of_theorems_is_the_list():
    text = (FORMAL / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w']+)` \| \[(\w+)\.v\].* \| (\d+)-(\d+) \| .* \| none \|$", text, re.M)
    assert [(name, file) for name, file, _, _ in rows] == [(name, file) for name, file, _ in LISTED]
    for name, file, first, last in rows:
        lines = (FORMAL / f"{file}.v").read_text(encoding="utf-8").splitlines()
        assert re.match(rf"(Theorem|Lemma|Corollary) {name}\b", lines[int(first) - 1]), name
        assert "Qed." in lines[int(last) - 1], name


@pytest.mark.parametrize(("change", "refused"), [
    (("Theorem u_sound", "Theorem u_sounds"), "u_sound is listed"),
    (("Section Operator.", "Axiom free : False. Section Operator."), "Axiom leaves something unproved"),
    (("End Operator.", "Lemma hope : False. Admitted. End Operator."), "Admitted leaves something unproved"),
    (("End Operator.", "Lemma hope : False. Proof. (* admit *) admit. Qed. End Operator."), "admit leaves"),
])  # fmt: skip
def test_what_is_open_or_gone_is_refused(change, refused, tmp_path):
    for path in [*FORMAL.glob("*.v"), *FORMAL.glob("*.txt")]:
        shutil.copy(path, tmp_path)
    path = tmp_path / "Operator.v"
    path.write_text(path.read_text(encoding="utf-8").replace(*change), encoding="utf-8")
    with pytest.raises(checks.Refused, match=refused):
        checks.check_texts(tmp_path)


def test_a_proof_that_ends_with_defined_or_abort_is_not_closed():
    text = (
        "Lemma one : True. Proof. exact I. Defined.\nLemma two : True. Abort.\nLemma three : True. Proof. exact I. Qed."
    )
    assert checks.closed_in(text) == {"three"}


def test_every_file_was_proved_as_it_is_now():
    """Coq is not asked here: a stamp says that it was, of this text and of all that it needs."""
    stale = stamps.stale(FORMAL)
    assert not stale, f"changed since they were proved: python3 formal/prove.py --write --only {' '.join(stale)}"


def a_copy(place):
    for path in [*FORMAL.glob("*.v"), *FORMAL.glob("*.txt")]:
        shutil.copy(path, place)
    shutil.copytree(FORMAL / "stamps", place / "stamps")
    return place


def test_a_changed_file_and_what_rests_on_it_need_new_stamps(tmp_path):
    path = a_copy(tmp_path) / "Obstacle.v"
    path.write_text(path.read_text(encoding="utf-8").replace("linear", "nonlinear", 1), encoding="utf-8")
    assert stamps.stale(tmp_path) == ["Obstacle", "OtherLosses"]


def test_a_new_theorem_a_new_file_and_a_file_that_is_gone_need_new_stamps(tmp_path):
    a_copy(tmp_path)
    (tmp_path / "Extra.v").write_text("Lemma one : True. Proof. exact I. Qed.\n", encoding="utf-8")
    (tmp_path / "Staircase.v").unlink()
    with (tmp_path / "theorems.txt").open("a", encoding="utf-8") as listed:
        listed.write("level_step Printed operator\n")
    assert stamps.stale(tmp_path) == ["Extra", "Printed", "Staircase"]


@pytest.mark.parametrize("files", [["zarith.cma", "z.cmi"], ["zarith.cmxa"], ["big_int_Z.cmi"]])
def test_the_runtime_of_zarith_alone_is_not_enough_to_build_the_checker(files, tmp_path, monkeypatch):
    """Debian has a package to run programs with zarith, which `ocamlfind` finds, and another to compile them."""
    (tmp_path / "coqc").write_text(f"#!/bin/sh\necho {tmp_path}\n")
    (tmp_path / "ocamlfind").write_text(f"#!/bin/sh\necho {tmp_path}/zarith\n")
    (tmp_path / "ocamlopt").write_text("#!/bin/sh\n")
    for name in ("coqc", "ocamlfind", "ocamlopt"):
        (tmp_path / name).chmod(0o755)
    for name in debian.LIBRARIES:
        path = tmp_path / "user-contrib" / "mathcomp" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "zarith").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    for name in files:
        (tmp_path / "zarith" / name).touch()
    assert debian.missing() == () and debian.missing(checker=True) == debian.CHECKER
    for name in ("big_int_Z.cmi", "zarith.cmxa"):
        (tmp_path / "zarith" / name).touch()
    assert debian.missing(checker=True) == ()


def test_two_builds_of_the_checker_at_once_are_one(tmp_path, monkeypatch):
    """As two workers of the tests make them, in one folder."""
    program, built, together = tmp_path / "checker" / "iris-check", [], Barrier(2)

    def build_anew(path):
        built.append(path)
        shutil.rmtree(path.parent, ignore_errors=True)
        path.parent.mkdir()
        time.sleep(0.2)
        path.touch()

    def build(_):
        together.wait()
        return make_checker.build(program)

    monkeypatch.setattr(make_checker, "build_anew", build_anew)
    with ThreadPoolExecutor(2) as both:
        assert list(both.map(build, range(2))) == [program, program]
    assert built == [program]
