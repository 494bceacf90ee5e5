"""Bit sources: what they hand out, and that no process repeats another's stream."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from irisdp import BadInput
from irisdp._sampling.bits import OperatingSystemBits, ScriptedBits, law_of

# Run as a program of its own, so that fork starts from an interpreter with nothing else in it.
_CHILDREN = """
import multiprocessing, pickle, sys
from concurrent.futures import ProcessPoolExecutor
from irisdp._sampling.bits import OperatingSystemBits

def stream(source):
    return source.words(500).tolist()

if __name__ == "__main__":
    source = OperatingSystemBits()
    streams = [stream(source), stream(pickle.loads(pickle.dumps(source)))]
    for method in ("fork", "spawn"):
        with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
            streams += pool.map(stream, [source] * 3)
    words = [word for one in streams for word in one]
    print(len(words), len(set(words)))
"""


def test_fork_spawn_and_pickle_repeat_nothing(tmp_path):
    program = tmp_path / "children.py"
    program.write_text(_CHILDREN)
    run = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=60, check=True)
    assert run.stdout.split() == ["4000", "4000"]  # 2^-41 by chance


def test_a_generator_that_keeps_state_would_repeat():
    """Negative control: a pickled NumPy generator hands out the same words again."""
    generator = np.random.default_rng()
    twin = pickle.loads(pickle.dumps(generator))
    assert generator.integers(0, 1 << 63, 50).tolist() == twin.integers(0, 1 << 63, 50).tolist()


def test_operating_system_words_fill_64_bits():
    words = OperatingSystemBits().words(4096)
    assert words.dtype == np.uint64
    assert words.shape == (4096,)
    assert np.bitwise_or.reduce(words) == np.uint64(2**64 - 1)
    assert np.bitwise_and.reduce(words) == 0
    assert OperatingSystemBits().words(0).shape == (0,)


def test_a_script_is_read_in_order_and_ends():
    source = ScriptedBits([3, 0, 2, 1], word_bits=2)
    assert source.words(1).tolist() == [3]
    assert source.words(2).tolist() == [0, 2]
    with pytest.raises(BadInput, match="too few words"):
        source.words(2)
    assert source.read == 3


@pytest.mark.parametrize(
    ("words", "word_bits"), [([4], 2), ([-1], 2), ([0], 0), ([0], 65), ([0], True), ([1 << 64], 64)]
)
def test_a_script_that_does_not_fit_is_refused(words, word_bits):
    with pytest.raises(BadInput):
        ScriptedBits(words, word_bits=word_bits)


def test_exhaustion_reports_the_law_and_the_words_read():
    def first_one(source):
        return next(place for place in range(9) if source.words(1)[0])

    law = law_of(first_one, word_bits=1, words=3)
    assert {key: str(mass) for key, mass in law.joint.items()} == {(0, 1): "1/2", (1, 2): "1/4", (2, 3): "1/8"}
    assert str(law.undecided) == "1/8"
    assert sum(law.outcomes.values()) + law.undecided == 1
