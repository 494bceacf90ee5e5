"""What is handed out: the wheel holds Iris and no more, and the source distribution builds the same wheel."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser

import pytest

from support.installed import ROOT, build


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("distributions")


@pytest.fixture(scope="module")
def wheel(folder):
    return build("wheel", folder)


@pytest.fixture(scope="module")
def tracked():
    told = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if told.returncode:
        pytest.skip("this is no clone: what belongs to Iris is told by git")
    return set(told.stdout.splitlines())


def test_the_wheel_holds_iris_and_no_more(wheel, tracked):
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        told = Parser().parsestr(archive.read(next(n for n in archive.namelist() if n.endswith("METADATA"))).decode())
        licences = [name for name in archive.namelist() if name.endswith("licenses/LICENSE")]
    assert held <= {name.removeprefix("src/") for name in tracked if name.startswith("src/irisdp/")}
    assert {name.removeprefix("src/") for name in tracked if name.startswith("src/irisdp/")} <= held
    assert told["License-Expression"] == "Apache-2.0"
    assert licences
    assert {"all", "plots", "explorer", "spark", "graphs"} <= set(told.get_all("Provides-Extra"))


def test_the_source_distribution_builds_the_same_wheel(folder, wheel, tracked):
    source = build("sdist", folder)
    with tarfile.open(source) as archive:
        archive.extractall(folder, filter="data")
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert held <= tracked | {"PKG-INFO"}
    again = folder / "again"
    code = "import sys, hatchling.build as b; print(b.build_wheel(sys.argv[1]))"
    inside = folder / source.name.removesuffix(".tar.gz")
    subprocess.run([sys.executable, "-c", code, str(again)], cwd=inside, capture_output=True, check=True)
    assert (again / wheel.name).read_bytes() == wheel.read_bytes()


def test_nothing_secret_is_kept_here(tracked):
    """A secret that was handed out once would tell who is in later tables; a ledger holds unpublished answers."""
    kept = {name for name in tracked if name.endswith((".irisdp-secret", ".ledger"))}
    assert all(name.startswith("tests/golden/") for name in kept)
