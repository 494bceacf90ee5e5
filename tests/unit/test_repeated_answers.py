"""An answer that the ledger has is shown again without a look at the records, and exactly as it was shown first.

What the first release showed was made from what it had read. So equality of the two, for every query, shows that
nothing private decides how an answer is shown.
"""

import os

import pyarrow as pa
import pytest

import irisdp
from irisdp import BadInput
from irisdp._queries.reading import QUERIES
from irisdp._release import pipeline
from support.exhaustion import ASKED, CHOSEN, ELSEWHERE, MODES, modes_of

TABLE = pa.table(
    {
        "u": [f"p{number % 7}" for number in range(40)],
        "g": [["a", "b", "c"][number % 3] for number in range(40)],
        "v": [number * 5 % 4 for number in range(40)],
        "w": [number * 7 % 23 for number in range(40)],
    }
)
BOUNDS = {"lower": 1, "upper": 20}
MORE = {
    "sum": (("sum", "w"), BOUNDS),
    "sum-in-steps": (("sum", "w"), BOUNDS | {"step": 3}),
    "sum-below-zero": (("sum", "w"), {"lower": -5, "upper": -1}),
    "mean": (("mean", "w"), BOUNDS),
    "mean-with-missing": (("mean", "w"), BOUNDS | {"missing": 2}),
    "mean-weighted": (("mean", "w"), BOUNDS | {"weight": "v", "weight_upper": 3, "step": "1/2"}),
    "variance": (("variance", "w"), BOUNDS),
    "deviation": (("deviation", "w"), BOUNDS),
    "bounds": (("bounds", "w"), {}),
    "column": (("column", "v"), {"categories": ["0", "1", "2"], "relation": "exchange"}),
}
CASES = [(name, ASKED[name], CHOSEN.get(name, {}), MODES[mode]) for name in ASKED for mode in modes_of(name)] + [
    (name, words, chosen, MODES[mode])
    for name, (words, chosen) in MORE.items()
    for mode in (("whole",) if name == "column" else ("whole", "declared", "selected"))
]


def shown(publication):
    """Return all that is shown of a release, but for the charge, which is nothing the second time."""
    return [
        (answers.keys, answers.values, repr(answers.assured), sidecar)
        for answers, sidecar in zip(publication.answers_of.values(), publication.sidecars.values(), strict=True)
    ]


def test_every_query_is_a_case():
    assert {words[0] for _, words, *_ in CASES} | {"apply"} == set(QUERIES) >= ELSEWHERE


@pytest.mark.parametrize("number", range(len(CASES)))
def test_an_answer_is_shown_again_as_it_was_without_reading(number, tmp_path, monkeypatch):
    name, words, chosen, mode = CASES[number]
    relation = "exchange" if number % 3 == 0 or name == "column" else "add-remove"
    persons = {} if number % 2 or name == "column" else {"unit": "u", "at_most": 1 + number % 4 // 2}
    options = {"epsilon": 1, "delta": "1/100", "relation": relation, **chosen, **mode, **persons}
    options["ledger"] = tmp_path / "t.ledger"
    try:
        first = irisdp.publish(TABLE, *words, **options)
    except BadInput:  # the query does not take this
        options["delta"] = 0
        try:
            first = irisdp.publish(TABLE, *words, **options)
        except BadInput:
            return
    read = []
    real = pipeline._read_all
    monkeypatch.setattr(pipeline, "_read_all", lambda *given: read.append(1) or real(*given))
    again = irisdp.publish(TABLE, *words, **options)
    assert again.repeated
    assert shown(again) == shown(first)
    assert bool(read) == (first.plan.public is not None)


def test_an_answer_of_a_mechanism_file_is_shown_again(tmp_path):
    mechanism = tmp_path / "m.json"
    irisdp.design.geometric(5, irisdp.Privacy(epsilon=1)).save(mechanism)
    ask = {"by": "g", "groups": ["a", "b"], "ledger": tmp_path / "t.ledger"}
    first, again = (irisdp.publish(TABLE, "apply", str(mechanism), "v = 1", **ask) for _ in range(2))
    assert again.repeated
    assert shown(again) == shown(first)


def test_a_batch_is_shown_again_as_it_was_without_reading(tmp_path, monkeypatch):
    asked = {
        "budget": {"epsilon": 1, "delta": "1e-6"},
        "questions": [
            {"query": "count", "by": "g", "groups": ["a", "b"]},
            {"query": "mean w", "lower": 0, "upper": 20},
            {"query": "histogram v", "bins": "1,2"},
        ],
    }
    first = irisdp.batch(asked, data=TABLE, ledger=tmp_path / "t.ledger")
    monkeypatch.setattr(pipeline, "read_statistics", _only_without_records(pipeline.read_statistics))
    again = irisdp.batch(asked, data=TABLE, ledger=tmp_path / "t.ledger")
    assert again.repeated
    assert [shown(one) for one in again] == [shown(one) for one in first]


def _only_without_records(real):
    def read(planned, key):
        assert planned.table.reader.endswith(" none"), "nothing is read"
        return real(planned, key)

    return read


def test_nothing_is_drawn_if_the_answer_is_gone_between_two_looks(tmp_path, monkeypatch):
    ledger = tmp_path / "t.ledger"
    irisdp.publish(TABLE, "count", epsilon=1, ledger=ledger)
    real = pipeline.Ledger.quote

    def quoted(book, request, currency):
        found = real(book, request, currency)
        ledger.unlink()
        return found

    monkeypatch.setattr(pipeline.Ledger, "quote", quoted)
    with pytest.raises(BadInput, match="lacks it now"):
        irisdp.publish(TABLE, "count", epsilon=1, ledger=ledger)
    assert irisdp.Ledger(ledger).releases() == []


def test_a_changed_table_is_charged_anew(tmp_path):
    data = tmp_path / "t.csv"
    data.write_text("v\n" + "1\n" * 9)
    first = irisdp.publish(data, "count", "v = 1", epsilon=1)
    times = data.stat()
    data.write_text("v\n" + "2\n" * 9)  # as long, and as old as far as the file says
    os.utime(data, ns=(times.st_atime_ns, times.st_mtime_ns))
    again = irisdp.publish(data, "count", "v = 1", epsilon=1)
    assert not first.repeated
    assert not again.repeated
    assert again.cost.to_document() == {"epsilon": "1", "delta": "0"}
