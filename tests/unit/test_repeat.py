"""`pytest --repeat N` finds tests that fail once in a million, and no others."""

import os
import subprocess
import sys
from pathlib import Path

DRAWN = """
import pytest
from irisdp._sampling.bits import OperatingSystemBits

@pytest.mark.parametrize("bits", [40, 45])
def test_fails_with_probability_2_to_the_power_of(bits):
    assert OperatingSystemBits().words(1)[0] >= 2**bits

def test_draws_nothing():
    with open("runs", "a") as runs:
        runs.write("x")
"""


def test_a_test_that_depends_on_luck_fails(tmp_path):
    (tmp_path / "test_drawn.py").write_text(DRAWN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "support.repeat", "--repeat", "60", "test_drawn.py"]
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "test_fails_with_probability_2_to_the_power_of[45]" in done.stdout
    assert (tmp_path / "runs").read_text() == "x"
