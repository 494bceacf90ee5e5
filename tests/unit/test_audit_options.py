"""A certificate speaks of the file's own graph and privacy: what options replace is not judged, and said not to be."""

import json
from pathlib import Path

import pytest

from irisdp import Privacy, audit, design
from irisdp._cli import run
from irisdp._release import SIDECAR_FORMAT
from irisdp.mechanisms import FactoredMechanism
from irisdp.mechanisms._mechanism_file import _RELEASE_FORMAT

TWO = Privacy.from_ratio(2)


def tampered():
    document = design.randomized_response(3, TWO).to_document()
    document["objective"]["lower_bound"] = document["objective"]["value"] = "0"
    return document


@pytest.mark.parametrize(
    ("options", "judged"),
    [
        ([], True),
        (["--ratio", "2"], True),
        (["--ratio", "2.0", "--delta", "0"], True),
        (["--delta", "0"], True),
        (["--ratio", "3"], False),
        (["--epsilon", "1"], False),
        (["--delta", "0.1"], False),
        (["--graph", "g.json"], False),
    ],
)
def test_a_tampered_file_is_never_said_to_claim_nothing(options, judged, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.json").write_text(json.dumps(tampered()))
    (tmp_path / "g.json").write_text('{"family": "path", "n": 3}')
    status = run(["audit", "m.json", *options])
    text = capsys.readouterr().out
    assert "nothing is claimed" not in text
    assert run(["audit", "m.json", *options, "--json"]) == status == (1 if judged else 0)
    found = json.loads(capsys.readouterr().out)
    assert found["certificate_not_judged"] is not judged
    assert ("not judged" in text) is not judged
    assert found["optimality"] is None if not judged else not found["optimality"]["holds"]


def test_without_a_certificate_nothing_is_left_unjudged(tmp_path, capsys):
    document = tampered()
    del document["certificate"], document["objective"]
    (tmp_path / "m.json").write_text(json.dumps(document))
    assert run(["audit", str(tmp_path / "m.json"), "--ratio", "3"]) == 0
    assert "nothing is claimed" in capsys.readouterr().out


def test_factors_are_treated_alike():
    factored = FactoredMechanism(privacy=TWO, n=3, certificate={"kind": "theorem", "theorem": "geometric"})
    assert audit(factored, privacy=Privacy(ratio=3)).not_judged
    assert not audit(factored, privacy=TWO).optimality.holds  # it was never sealed


def test_a_release_is_said_to_be_one_and_never_to_be_given_another_format(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert _RELEASE_FORMAT == SIDECAR_FORMAT
    Path("r.release.json").write_text(json.dumps({"format": SIDECAR_FORMAT, "mechanism": {}}))
    assert run(["audit", "r.release.json"]) == 2
    said = capsys.readouterr().err
    assert "is a release, which says how answers were made" in said and "give it to interpret, or to report" in said
    assert "irisdp/mechanism/1" not in said
