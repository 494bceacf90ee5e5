"""Numbers of the rooms Check, Design and Read are rounded to the side on which they hold, and nothing below 1 is 1."""

import json
from decimal import Decimal as D
from decimal import localcontext
from fractions import Fraction as F

import pytest

pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")
pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")

from irisdp import Privacy, design, interpret
from irisdp._explorer.check import CHECK, check
from irisdp._explorer.design import DESIGN
from irisdp._explorer.design import design as made
from irisdp._explorer.forms import read_values
from irisdp._explorer.interpret import READ, read
from irisdp._explorer.pages import _shown
from irisdp._release.release_file import ReleaseFile
from irisdp.plots._publications import PublishedAnswers, _surely


def fact(result, name):
    facts = [*result.facts, *(one for section in result.sections for one in section.facts)]
    return next(one for one in facts if one.name == name)


def exact(value):
    return F(value.split()[0])


def precisely(compute):
    with localcontext() as context:
        context.prec = 60
        return F(compute())


@pytest.mark.parametrize("ratio", [3, 5, 7, 11])
def test_the_epsilon_and_the_delta_needed_are_enough(ratio):
    whole = ratio + 1
    rows = f"{ratio}/{whole}, 1/{whole}\n1/{whole}, {ratio}/{whole}\n"
    found = check(read_values(CHECK.fields, {"mechanism": rows, "on": "path", "epsilon": "1/2"}), lambda words: None)
    epsilon, delta = fact(found, "ε needed"), fact(found, "δ needed")
    needed = precisely(lambda: D(ratio).ln())
    assert needed <= exact(epsilon.value) <= needed + F(1, 10**9)
    assert epsilon.remark == "at this δ, rounded up to 10 digits"
    spent = precisely(lambda: (ratio - D("0.5").exp()) / whole)
    assert spent <= exact(delta.value) <= spent + F(1, 10**6)
    assert delta.remark == "at this ε, rounded up to 6 digits"


def test_rows_that_do_not_sum_to_one_are_not_said_to():
    rows = "0.50000000000000001, 0.5\n0.49999999999999999, 0.5\n"
    found = check(read_values(CHECK.fields, {"mechanism": rows, "on": "path", "epsilon": "1"}), lambda words: None)
    assert fact(found, "Rows").remark == (
        "row 1 to more than 1 (1e-17 too much), row 2 to less than 1 (1e-17 too little)"
    )


def test_a_design_says_an_epsilon_that_is_enough_and_no_certainty_that_is_none():
    found = made(
        read_values(DESIGN.fields, {"kind": "randomized-response", "choices": "2", "epsilon": "14"}), lambda words: None
    )
    assert exact(fact(found, "ε needed").value) <= 14
    entries = [text for row in found.tables[-1].rows for text in row[1:]]
    assert "0.9999" in entries and "1" not in entries
    formula = made(read_values(DESIGN.fields, {"kind": "geometric", "n": "3000", "epsilon": "14"}), lambda words: None)
    entries = [text for row in formula.tables[-1].rows for text in row[1:]]
    assert "0.9999" in entries and "1" not in entries


@pytest.mark.parametrize("answer", ["0", "2", "7"])
def test_losses_of_a_reading_are_rounded_up_and_what_is_saved_down(answer):
    mechanism = design.geometric(7, Privacy(ratio=3)).to_document()
    found = read(
        read_values(READ.fields, {"release": json.dumps(mechanism), "value": answer, "at_least": "1", "at_most": "5"}),
        lambda words: None,
    )
    rule = interpret(mechanism, answer, at_least=1, at_most=5).answers[0].rule
    loss, saved = fact(found, "Loss"), fact(found, "Saved")
    assert rule.value <= exact(loss.value) <= rule.value * (1 + F(1, 10**5))
    face = F(saved.remark.rsplit(" ", 1)[1])
    assert rule.face_value <= face <= rule.face_value * (1 + F(1, 10**5))
    share = 100 * (1 - rule.value / rule.face_value)
    if saved.value != "less than 0.1 %":
        assert share - F(1, 10) < F(saved.value.removesuffix(" %")) <= share


def test_what_is_not_certain_is_drawn_and_listed_so():
    facts = ReleaseFile({"assurance": {"confidence": "0.99999999"}})
    found = PublishedAnswers(facts=facts, by=(), numbers=True, answers=())
    assert _surely(found) == " with probability 99.999999 % or more"
    assert (_shown(0.99999999), _shown(1.0), _shown(0.25)) == ("0.99999999", "1", "0.25")
