"""The README can be typed: every command and every Python block, verbatim and in order, in a folder with the survey."""

import csv
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from irisdp import Privacy, design
from irisdp.design.winners.plurality import least_proved_ratio
from irisdp.exact import shown_above
from irisdp.release.projects import find_project
from support.installed import ROOT, build, environment, install
from support.readme import blocks, settled, steps

README = (ROOT / "README.md").read_text(encoding="utf-8")

STEPS = [step for step in steps(README) if not step[1].startswith("make ")]


def test_project_files_are_read(tmp_path):
    told = [lines for language, lines in blocks(README) if language == "toml"]
    assert told
    for lines in told:
        file = tmp_path / "p.toml"
        file.write_text("\n".join(lines), encoding="utf-8")
        assert find_project(None, file).unit == "person"


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

    def run(*command):
        return subprocess.run(
            command, cwd=folder, env=environment(programs), capture_output=True, text=True, timeout=120, check=False
        )

    return run


def test_what_is_installed_is_the_wheel(typing, programs):
    done = typing(str(programs / "python"), "-c", "import irisdp; print(irisdp.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(programs.parent)
    assert typing("irisdp", "--version").returncode == 0


def test_everything_in_the_readme_works_as_it_stands(typing):
    for language, code, shown in STEPS:
        done = typing("python", "-c", code) if language == "python" else typing("bash", "-ec", code)
        assert (done.returncode, done.stderr) == (0, ""), code
        if shown is not None:
            assert settled(done.stdout.splitlines()) == settled(shown), code


def test_the_readme_is_read_whole():
    """No command hides from the test above: each line that starts one is a step."""
    commands = [line for line in README.splitlines() if re.match(r"    (\$ )?(irisdp|echo) ", line)]
    assert len(commands) == sum(language == "shell" for language, _, _ in STEPS) >= 7
    assert README.count("```python") == sum(language == "python" for language, _, _ in STEPS) >= 2
    assert [len(shown) > 4 for _, _, shown in STEPS if shown is not None] == [True, True]


def test_a_wrong_line_would_be_seen(typing):
    _, command, shown = STEPS[0]
    assert settled(shown) != settled([line.replace("0.628", "0.627") for line in shown])
    assert typing("bash", "-ec", f"{command} --epsilon 2").returncode == 2


def test_the_demo_runs_and_runs_again(tmp_path):
    for again in (False, True):
        done = subprocess.run(
            [sys.executable, str(ROOT / "examples" / "demo.py")],
            cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.count("this question was answered before") == (4 if again else 0)


def test_the_chances_it_states_are_those_of_the_table():
    table = list(csv.DictReader((ROOT / "examples" / "anes96.csv").read_text(encoding="utf-8").splitlines()))
    winner = design.plurality(7, Privacy(epsilon=1), "add-remove")
    leads, chances = [], []
    for education in "1234567":
        held = Counter(row["PID"] for row in table if row["educ"] == education)
        counts = [held[str(party)] for party in range(7)]
        best, second, *_ = sorted(counts, reverse=True)
        leads.append(best - second)
        gaps = [best - count for count in counts]
        chances.append(sum(row.lower for row, gap in zip(winner.enclose(gaps), gaps, strict=True) if gap == 0))
    told = " ".join(README.split())
    assert f"by {', '.join(map(str, leads[:-1]))} and {leads[-1]} of 13 to 248 people" in told
    shown = [f"{float(chance):.2f}" for chance in chances]
    assert f"with probability {', '.join(shown[:-1])} and {shown[-1]}." in told
    assert f"wrong with probability {shown_above(winner.worst_error)} at worst" in told
    assert least_proved_ratio(7) <= Privacy(epsilon="0.99").ratio
    assert least_proved_ratio(7) > Privacy(epsilon="0.98").ratio
    assert least_proved_ratio(4) == 1
