"""A reader's loss is read in one place: the command line, Python and specs take the same spellings and refuse alike."""

import json
import re
from pathlib import Path

import pytest

from irisdp import BadInput, Privacy, design, interpret
from irisdp._cli import run
from irisdp.consumers import read_loss
from irisdp.consumers._loss_functions import SPELLINGS
from irisdp.design import from_spec

MECHANISM = design.geometric(3, Privacy.from_ratio(4))
SAME = [
    ("absolute", {"name": "absolute"}),
    ("squared", {"name": "squared"}),
    ("zero-one", {"name": "zero-one"}),
    ("pinball:1:2", {"name": "pinball", "too_low": 1, "too_high": 2}),
    ("asymmetric:1:2", {"name": "pinball", "too_low": 1, "too_high": 2}),
    ("pinball:1:2", {"name": "asymmetric", "too_low": 1, "too_high": 2}),
    ("pinball:1/3:0.5", {"name": "pinball", "too_low": "1/3", "too_high": "1/2"}),
    ("threshold:1", {"name": "threshold", "beyond": 1}),
    ("excess:1", {"name": "excess", "beyond": 1}),
]
FORMS = f"write {', '.join(SPELLINGS)}, or give a table"


@pytest.mark.parametrize(("text", "fields"), SAME)
def test_every_spelling_is_read_alike_everywhere(text, fields, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 4}}')
    assert run(["design", "spec.json", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert run(["interpret", "m.json", "--value", "0", "--loss", text, "--json"]) == 0
    typed = json.loads(capsys.readouterr().out)
    Path("loss.json").write_text(json.dumps(fields))
    ways = [interpret(MECHANISM, 0, loss=loss) for loss in (text, fields, "loss.json", Path("loss.json"))]
    assert {way.answers[0].rule.value for way in ways} == {ways[0].answers[0].rule.value}
    assert typed["worst_loss"] == float(ways[0].answers[0].rule.value)
    made = [from_spec({"kind": "consumer", "n": 3, "loss": loss, "privacy": {"ratio": 4}}) for loss in (text, fields)]
    assert made[0].objective == made[1].objective
    assert made[0].objective.value == ways[0].answers[0].rule.value  # noise serves these readers best


@pytest.mark.parametrize(
    ("loss", "words"),
    [
        ("3/lambda", FORMS),
        ("", FORMS),
        ("median", FORMS),
        ("absolute:1", "absolute takes no parameters; write absolute"),
        ("pinball", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
        ("asymmetric:1", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
        ("pinball:1", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
        ("pinball:1:2:3", "pinball takes too_low and too_high; write pinball:LOW:HIGH"),
        ("threshold", "threshold takes beyond; write threshold:K"),
        ("excess:1:2", "excess takes beyond; write excess:K"),
        ("pinball:x:1", "too_low: must be a finite number"),
        ("threshold:0.5", "beyond: must be a whole number"),
    ],
)
def test_every_bad_spelling_is_refused_alike_everywhere(loss, words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("spec.json").write_text('{"kind": "geometric", "n": 3, "privacy": {"ratio": 4}}')
    assert run(["design", "spec.json", "-o", "m.json"]) == 0
    capsys.readouterr()
    assert run(["interpret", "m.json", "--value", "0", "--loss", loss]) == 2
    assert words in capsys.readouterr().err
    with pytest.raises(BadInput) as found:
        interpret(MECHANISM, 0, loss=loss)
    assert words in str(found.value)
    with pytest.raises(BadInput) as found:
        from_spec({"kind": "consumer", "n": 3, "loss": loss, "privacy": {"ratio": 4}})
    assert words in str(found.value)


def test_a_spec_names_no_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("loss.json").write_text('"absolute"')
    with pytest.raises(BadInput, match=r"^loss: is not a loss with a name"):
        from_spec({"kind": "consumer", "n": 3, "loss": "loss.json", "privacy": {"ratio": 4}})


@pytest.mark.parametrize("loss", SPELLINGS)
def test_each_loss_with_a_name_is_named_wherever_they_are_listed(loss, capsys):
    assert run(["interpret", "-h"]) == 0
    shown = "".join(re.findall(r"[\w:-]+", capsys.readouterr().out))
    assert loss in shown
    assert f'"{loss}"' in interpret.__doc__
    assert f'"{loss}"' in read_loss.__doc__
    assert any(text.split(":")[0] == loss.split(":")[0] for text, _ in SAME), "no case above says how it is read"
