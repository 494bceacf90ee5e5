"""Pages and pictures, whose commands say in JSON what they wrote."""

import json

import pyarrow as pa

from irisdp import Session
from irisdp._cli import run


def test_pages_and_pictures_say_in_json_what_they_wrote(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Session(pa.table({"g": ["a", "b", "c"]}), ledger="l").count(ratio=4, by="g", groups=["a", "b", "c"], out="o.csv")
    assert run(["report", "o.csv", "-o", "o.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"out": ["o.html"]}
    assert run(["report", "o.csv", "--json"]) == 2
    assert capsys.readouterr().err.startswith("irisdp: --json: says what was written")
    assert run(["plot", "o.csv", "-o", "o.svg", "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert written["out"] == ["o.svg"] and "3 published answers" in written["description"]
