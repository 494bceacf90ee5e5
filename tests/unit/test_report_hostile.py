"""Reports of what is no release, or says it is and is not: one clear line, status 2, and no page."""

import json
import os

import pytest

import irisdp
from irisdp import Picture
from irisdp._cli import run

GOOD = {
    "format": "irisdp/release/1",
    "query": {"query": "count"},
    "by": [],
    "groups": None,
    "unit": None,
    "relation": "add-remove",
    "columns": ["answer", "answer_low", "answer_high"],
    "audience": None,
    "privacy": {"epsilon": "1"},
    "mechanism": {"kind": "geometric-noise"},
    "cost": {"epsilon": "1", "delta": "0"},
    "question": "count",
    "expected_error": {"mean_absolute": 0.85},
    "table": "t.csv",
    "date": "2026-01-01T00:00:00+00:00",
    "version": "1",
    "assurance": {"columns": ["answer_low", "answer_high"], "promise": "sure", "confidence": "0.95"},
    "ledger": {"id": 1},
}
ANSWERS = "answer,answer_low,answer_high\n7,4,10\n"
STRANGE = [
    None, True, 0, -1, 1.5, 10**30, "x", "", "1/0", "nan", "1e999999", "\x00", [], [1], ["x"], [[]], [None], {},
    {"x": 1}, {"epsilon": []}, {"epsilon": "1"}, {"epsilon": "-1", "delta": "0"}, {"epsilon": "1", "delta": "2"},
    {"query": 1}, {"query": "sum"}, {"query": "apply"}, {"kind": 3}, {"id": "x"}, {"all": []}, {"gaussian": "0"},
    {"selected": 3},
    {"rho": "1"}, {"mu_squared": "1e300"}, {"declared": {"x": []}}, {"cost": {}, "questions": 0, "question": 1},
    {"promise": "p", "confidence": "7"}, {"{0}": "{x}"}, {"mean_absolute": {"x": 1}}, {"within": "9" * 200_000},
]  # fmt: skip


@pytest.fixture(autouse=True)
def _rendered_by_name(monkeypatch):
    """Make pictures up to where they are turned into SVG, which takes longer than all the rest."""
    monkeypatch.setattr(Picture, "to_svg", lambda self: "<svg></svg>")


def _report(folder, capsys, sidecar, answers=ANSWERS, name="a.csv.release.json"):
    (folder / name).write_bytes(sidecar if isinstance(sidecar, bytes) else json.dumps(sidecar).encode())
    if answers is not None:
        (folder / "a.csv").write_text(answers, encoding="utf-8")
    status = run(["report", str(folder / name), "-o", str(folder / "page.html"), "--force"])
    return status, capsys.readouterr().err


def test_a_good_one_is_written(tmp_path, capsys):
    assert _report(tmp_path, capsys, GOOD) == (0, "")


@pytest.mark.parametrize("key", GOOD)
def test_a_fact_of_any_other_type_is_refused_in_one_line_or_shown_as_text(tmp_path, capsys, key):
    for strange in STRANGE:
        status, said = _report(tmp_path, capsys, GOOD | {key: strange})
        assert status in (0, 2), (strange, said)
        assert "internal error" not in said, (strange, said)
        assert (said == "") == (status == 0)
        assert len(said.splitlines()) <= 1
    status, said = _report(tmp_path, capsys, {name: fact for name, fact in GOOD.items() if name != key})
    assert status in (0, 2) and "internal error" not in said


@pytest.mark.parametrize("name", ["derived", "batch", "bins", "categories", "at_most", "unit_rule", "lower", "upper"])
def test_so_is_a_fact_that_need_not_be_there(tmp_path, capsys, name):
    for strange in STRANGE:
        for query in ({"query": "count"}, {"query": "mean", "column": "{x}"}, {"query": "elsewhere"}):
            status, said = _report(tmp_path, capsys, GOOD | {name: strange, "query": query, "unit": "who"})
            assert status in (0, 2) and "internal error" not in said, (strange, said)


@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b"{}", b"7", b"{", b"\xff\xfe", b"\xef\xbb\xbf{}", b"[" * 200_000, b'{"format": "irisdp/mechanism/1"}',
     b'{"type": "FeatureCollection"}', b'{"format": "irisdp/release/1"}', b'{"a": 1, "a": 2}', b'{"x": 1e99999999}',
     b'{"x": NaN}', b'{"format": ["irisdp/release/1"]}'],
)  # fmt: skip
def test_what_is_no_release_is_refused(tmp_path, capsys, content):
    status, said = _report(tmp_path, capsys, content)
    assert status == 2 and said.startswith("irisdp: ") and len(said.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize(
    "answers", [None, "", "x\n1\n", "answer,answer\n1,2\n", "answer\n1,2\n", 'answer\n"', "\x00", "answer_low\n1\n"]
)
def test_answers_that_do_not_fit_are_refused(tmp_path, capsys, answers):
    status, said = _report(tmp_path, capsys, GOOD, answers)
    assert (status == 2 and len(said.splitlines()) == 1) or (status == 0 and answers == 'answer\n"')


def test_devices_and_huge_files_are_not_read(tmp_path, capsys):
    os.mkfifo(tmp_path / "pipe.release.json")
    for path in (tmp_path / "pipe.release.json", "/dev/zero", tmp_path):
        assert run(["report", str(path)]) == 2
        assert "internal error" not in capsys.readouterr().err
    with (tmp_path / "a.csv.release.json").open("wb") as file:
        file.truncate(1 << 30)
    assert run(["report", str(tmp_path / "a.csv.release.json")]) == 2
    assert "larger than 64 MiB" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../a.csv.release.json", "/etc/passwd", "", "x/y", 7, None, "a\x00b", ".."])
def test_a_data_package_names_no_file_elsewhere(tmp_path, capsys, name):
    inner = tmp_path / "inner"
    inner.mkdir()
    _report(tmp_path, capsys, GOOD)
    package = {"irisdp": {"format": "irisdp/datapackage/1", "release": name}}
    (inner / "a.csv.datapackage.json").write_text(json.dumps(package))
    assert run(["report", str(inner / "a.csv.datapackage.json")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.parametrize("release", [None, 7, b"x", "", "\0", [], {}, object(), 1.5])
def test_python_refuses_what_is_no_release(release):
    with pytest.raises(irisdp.BadInput):
        irisdp.report(release)
