"""The README can be typed: every command and every Python block, verbatim and in order, in a folder with the survey."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import irisdp
from support.installed import ROOT, build, environment, install
from support.readme import steps

sys.path.insert(0, str(ROOT / "docs" / "site"))  # programs, no package
try:
    from typed import settled
finally:
    sys.path.pop(0)

README = (ROOT / "README.md").read_text(encoding="utf-8")
INSTALL = ("make ", "source ", "mkdir ")
"""How lines begin that are typed in a clone, and not beside the survey."""
STEPS = [step for step in steps(README.replace("<!-- drawn -->\n", "")) if not step[1].startswith(INSTALL)]


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The programs of an environment that holds the wheel, and what it asks for, alone."""
    folder = tmp_path_factory.mktemp("installed")
    return install(build("wheel", folder), folder / "environment")


@pytest.fixture
def typing(tmp_path, programs):
    """Run lines as somebody would who installed Iris, in a folder with the survey."""
    folder = tmp_path / "fresh"
    folder.mkdir()
    shutil.copy(ROOT / "examples" / "anes96.csv", folder)
    told = {**environment(programs), "COLUMNS": "80"}

    def run(*command):
        return subprocess.run(command, cwd=folder, env=told, capture_output=True, text=True, timeout=120, check=False)

    return run


def test_what_is_installed_is_the_wheel(typing, programs):
    done = typing(str(programs / "python"), "-c", "import irisdp; print(irisdp.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(programs.parent)
    assert typing("irisdp", "--version").returncode == 0


def page(command, lines, *, drawn):
    """Return a page with one typed command, as `settled` compares them."""
    shown = "\n".join(f"    {line}" for line in (f"$ {command}", *lines))
    return ("<!-- drawn -->\n\n" if drawn else "") + shown + "\n"


def test_everything_in_the_readme_works_as_it_stands(typing):
    for language, code, shown in STEPS:
        done = typing("python", "-c", code) if language == "python" else typing("bash", "-ec", code)
        assert (done.returncode, done.stderr) == (0, ""), code
        if shown is not None:
            drawn = f"<!-- drawn -->\n\n    $ {code}" in README
            came = page(code, done.stdout.rstrip().splitlines(), drawn=drawn)
            assert settled(came) == settled(page(code, shown, drawn=drawn)), code


def test_the_readme_is_read_whole_and_short():
    """No command hides from the test above: each line that starts one is a step."""
    commands = [line for line in README.splitlines() if re.match(r"    (\$ )?(irisdp|echo) ", line)]
    assert len(commands) == sum(language == "shell" for language, _, _ in STEPS) >= 3
    assert README.count("```python") == sum(language == "python" for language, _, _ in STEPS) >= 1
    assert len(README.split()) <= 900
    assert len(README.splitlines()) <= 150


def test_a_wrong_line_would_be_seen(typing):
    _, command, shown = next(step for step in STEPS if step[2])
    assert settled(page(command, shown, drawn=False)) != settled(
        page(command, [line.replace("0.851", "0.852") for line in shown], drawn=False)
    )
    assert typing("bash", "-ec", f"{command} --epsilon 2").returncode == 2


def test_the_demo_runs_and_runs_again(tmp_path):
    for again in (False, True):
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "demo.py")],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("this question was answered before") == (4 if again else 0)


def test_its_figures_are_those_that_are_computed():
    compared = irisdp.compare("plurality", categories=4, epsilon=1)
    worst = {one.name: float(one.shown(compared.objectives[0])) for one in compared.mechanisms}
    assert f"{worst['pull from the top']:.3f} at worst" in README
    assert re.search(rf"exponential mechanism\s+{worst['exponential mechanism']:.3f}", README)
