"""`irisdp design` and `irisdp audit` show decimals: small mechanisms whole, large ones cut, with a word about it."""

import json
from fractions import Fraction

import pytest

from irisdp._cli import run as irisdp
from irisdp._cli.mechanism_files import _decimal

SPECS = {
    "small": {"kind": "geometric", "n": 2, "privacy": {"ratio": 2}},
    "large": {"kind": "geometric", "n": 2000, "privacy": {"epsilon": 1}},
    "huge": {"kind": "geometric", "n": 10**12, "privacy": {"epsilon": 1}},
}


@pytest.fixture
def said(tmp_path, capsys):
    """Return what design and audit print for a spec, or audit for a mechanism."""

    def run(document, *commands):
        spec, made = tmp_path / "s.json", tmp_path / "m.json"
        (spec if "kind" in document else made).write_text(json.dumps(document), encoding="utf-8")
        texts = []
        for command in commands:
            arguments = ["design", str(spec), "-o", str(made)] if command == "design" else ["audit", str(made)]
            irisdp(arguments)
            texts.append(capsys.readouterr().out)
        return texts

    return run


def test_small_mechanisms_are_shown_whole(said):
    for text in said(SPECS["small"], "design", "audit"):
        lines = [line.split() for line in text.splitlines()]
        assert ["0", "0.6667", "0.1667", "0.1667"] in lines
        assert ["1", "0.3333", "0.3333", "0.3333"] in lines
        assert ["2", "0.1667", "0.1667", "0.6667"] in lines
        assert "the exact numbers are in the file" in text
        assert "the first" not in text


def test_large_mechanisms_are_cut_and_say_so(said):
    (text,) = said(SPECS["large"], "design")
    assert "the first 12 of 2,001 inputs and the first 8 of 2,001 outputs" in text
    assert len(text.splitlines()) < 20


def test_huge_mechanisms_say_that_they_are(said):
    (text,) = said(SPECS["huge"], "design")
    assert "1,000,000,000,001 outputs: too many to show" in text


def test_numbers_that_are_no_probabilities_are_shown_as_they_are(said):
    lies = {"privacy": {"ratio": 2}, "graph": {"family": "path", "n": 2}, "matrix": [["3/2", "-1/2"], ["1", "0"]]}
    (text,) = said({**lies, "outputs": ["\x1b[2J[bold]yes", "b"]}, "audit")
    lines = [line.split() for line in text.splitlines()]
    assert ["0", "1.5", "-0.5"] in lines
    assert ["1", "1", "0"] in lines
    assert "\x1b" not in text
    assert "\\x1b[2J[bold]yes" in text


def test_nothing_is_rounded_to_never_or_always():
    tiny = Fraction(1, 10**9)
    assert [_decimal(p) for p in (Fraction(0), tiny, 1 - tiny, Fraction(1))] == ["0", "<0.0001", ">0.9999", "1"]
