"""Losses of any sign: what is added to a row of the table is added to value and bound, and certificates hold."""

import importlib
import json
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

from irisdp import Privacy, audit, certify, design
from irisdp._exact import as_fraction, json_bytes
from irisdp.certify import _theorems, verify_mechanism
from irisdp.certify._audited_mechanism import audited_mechanism
from irisdp.certify._matrix_files import as_document
from irisdp.certify._objectives import read_goal
from irisdp.certify._theorems import prove
from irisdp.mechanisms import FactoredMechanism

PRIVACY = Privacy(ratio=2)


def table(n, shifts):
    return [[(2 if v < i else 3) * abs(i - v) + shifts[i] for v in range(n + 1)] for i in range(n + 1)]


def bound_of(mechanism):
    """Return what the theorem proves, whatever the file states."""
    subject = audited_mechanism(as_document(mechanism))
    goal = read_goal(subject, mechanism.certificate)
    return as_fraction(prove(subject, mechanism.certificate, goal).bound)


def verified(mechanism, folder):
    file = folder / "m.json"
    file.write_bytes(json_bytes(mechanism.to_document()))
    done = subprocess.run(
        [sys.executable, verify_mechanism.__file__, str(file)], check=False, capture_output=True, text=True
    )
    return done.returncode == 0, done.stdout


@pytest.mark.parametrize("n", [5, 33, 60])
@pytest.mark.parametrize("shift", [-100, -1, Fraction(1, 3)])
def test_a_shifted_table_is_worth_the_shift_more(n, shift, tmp_path):
    plain = design.consumer(n, table(n, [0] * (n + 1)), PRIVACY)
    shifted = design.consumer(n, table(n, [shift] * (n + 1)), PRIVACY)
    assert shifted.certificate is not None
    assert audit(shifted).optimality.holds
    assert verified(shifted, tmp_path)[0]
    for found, expected in (
        (shifted.objective.value, plain.objective.value + shift),
        (shifted.objective.lower_bound, plain.objective.lower_bound + shift),
    ):
        assert abs(found - expected) < Fraction(1, 10**7) * (1 + abs(shift))


@pytest.mark.parametrize("n", [5, 40])
def test_under_a_prior_each_row_may_be_shifted_by_itself(n, tmp_path):
    shifts = [(-1) ** i * i for i in range(n + 1)]
    prior = [Fraction(2 * i + 1, (n + 1) ** 2) for i in range(n + 1)]
    plain = design.consumer(n, table(n, [0] * (n + 1)), PRIVACY, prior=prior)
    shifted = design.consumer(n, table(n, shifts), PRIVACY, prior=prior)
    moved = sum(w * s for w, s in zip(prior, shifts, strict=True))
    assert audit(shifted).optimality.holds
    assert verified(shifted, tmp_path)[0]
    assert abs(shifted.objective.value - plain.objective.value - moved) < Fraction(1, 10**6)


def test_rows_shifted_apart_are_another_game_for_the_worst_case(tmp_path):
    """A row moved by itself moves who is worst off; the certificate is of the table as it is."""
    shifts = [-3 * i for i in range(41)]
    made = design.consumer(40, table(40, shifts), PRIVACY)
    assert audit(made).optimality.holds
    assert verified(made, tmp_path)[0]
    rows = made.matrix()
    worst = max(
        sum(p * x for p, x in zip(row, line, strict=True)) for row, line in zip(rows, table(40, shifts), strict=True)
    )
    assert made.objective.value == worst


def test_a_bound_that_is_stated_too_high_is_rejected(tmp_path):
    made = design.consumer(40, table(40, [-100] * 41), PRIVACY)
    document = json.loads(json_bytes(made.to_document()))
    document["objective"]["lower_bound"] = str(made.objective.value + 1)
    document = certify.add_digest({key: value for key, value in document.items() if key != "seal"})
    path = Path(tmp_path / "m.json")
    path.write_bytes(json_bytes(document))
    assert not audit(path).holds


def test_a_factored_mechanism_may_have_losses_below_0_too(tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.import_module("irisdp.design._consumer_optimal"), "LARGEST_MATRIX", 10)
    made = design.consumer(40, table(40, [-100] * 41), PRIVACY)
    assert isinstance(made, FactoredMechanism)
    assert audit(made).optimality.holds
    assert verified(made, tmp_path)[0]


@pytest.mark.parametrize("prior", [None, [Fraction(1, 41)] * 41])
def test_rounding_does_not_turn_with_the_sign(prior, tmp_path, monkeypatch):
    """Where powers are rounded, by choice here, the proven bound is no higher than with exact ones."""
    privacy = Privacy(epsilon=1)
    for shift in (0, -(10**6), 10**6):
        made = design.consumer(40, table(40, [shift] * 41), privacy, prior=prior)
        exact = audit(made).optimality
        assert exact.holds
        with monkeypatch.context() as patch:
            patch.setattr(_theorems, "LONGEST", 1)
            patch.setattr(_theorems, "FIXED_POINT", 150)
            proven = bound_of(made)
        assert exact.lower_bound - Fraction(1, 10**30) <= proven <= bound_of(made)
        assert verified(made, tmp_path)[0]
