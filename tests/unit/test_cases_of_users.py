"""What users of other tools asked for in public, tried: each case with a table of its own, at an ε that hides noise.

The names are those of the public reports: project and number. Five layouts of offices follow.
"""

import json

import pyarrow as pa
import pytest

import irisdp
from irisdp import Session, plan
from irisdp._cli import run

LARGE = {"epsilon": 200}


@pytest.fixture
def ask(tmp_path, monkeypatch):
    """Publish from a text file, or a frame, and return the answers as rows."""
    monkeypatch.chdir(tmp_path)
    number = iter(range(1000))

    def asked(table, query, *words, **options):
        name = f"t{next(number)}"
        data = table
        if isinstance(table, str | bytes):
            data = tmp_path / f"{name}.csv"
            data.write_bytes(table.encode() if isinstance(table, str) else table)
        options = {**LARGE, "ledger": tmp_path / f"{name}.ledger", **options}
        found = irisdp.publish(data, query, *words, **options)
        rows = found.to_arrow().to_pylist()
        return rows[0]["answer"] if len(rows) == 1 else [row["answer"] for row in rows]

    return asked


# A private check of the file before spending


def checked(path, *options, capsys):
    assert run(["check", str(path), "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_dp_wizard_752_and_dpcreator_452_a_file_is_checked_before_anything_is_spent(tmp_path, capsys):
    path = tmp_path / "people.csv"
    path.write_text("age,town\n34,A\nunknown,A\n,B\n41,B,x\n55\n")
    found = checked(path, "--types", str(typed(tmp_path)), capsys=capsys)
    assert (found["private"], found["records"], found["short"], found["long"]) == (True, 5, 1, 1)
    (age,) = [column for column in found["columns"] if column["name"] == "age"]
    assert (age["unreadable"], age["empty"], age["examples"]) == (1, 1, ["unknown"])
    assert sorted(left.name for left in tmp_path.iterdir()) == ["people.csv", "types.json"]


def typed(folder):
    path = folder / "types.json"
    path.write_text('{"age": "integer", "town": "text"}')
    return path


# Rows that are no records


def test_csvs_to_sqlite_72_rows_above_the_header_are_skipped(ask):
    assert ask("Survey of towns\nprinted today\nage,town\n70,A\n30,B\n", "count", "age > 64", skip_rows=2) == 1


def test_duckdb_12746_comments_are_skipped(ask):
    assert ask("a,b\n# note\n1,2\n#1,2\n3,4\n", "count", comment="#") == 2


def test_elasticsearch_159115_totals_below_the_table_are_no_records(ask):
    assert ask("town,n\nA,1\nB,2\nTotal,3\n", "sum", "n", lower=0, upper=9, step=1, footer_rows=1) == 3


def test_edsl_683_several_header_rows_of_a_survey_platform(ask):
    survey = 'Q1,Q2\n"How old are you?",Town\n"{""ImportId"":""QID1""}",x\n70,A\n30,B\n'
    assert ask(survey, "count", "Q1 > 64", header_rows=3) == 1


def test_tv_174_a_file_without_a_header(ask):
    assert ask("70,A\n30,B\n80,B\n", "count", "age > 64 AND town = 'B'", no_header=True, columns="age,town") == 1


def test_row_names_of_r_are_no_column(ask):
    assert ask('"age","town"\n"1",70,"A"\n"2",30,"B"\n', "count", "age > 64", row_names=True) == 1


# Numbers and dates as offices write them


def test_duckdb_17093_and_qsv_1050_decimal_commas_and_thousands(ask):
    money = "person;amount\n1;1.234,50\n2;12,5\n"
    options = {"delimiter": ";", "decimal": ",", "thousands": "."}
    assert ask(money, "sum", "amount", lower=0, upper=2000, step="0.5", **options) == 1247.0


def test_tidier_files_11_dates_in_a_declared_format(ask):
    born = "born\n31.12.1990\n01.02.2001\n1.2.2001x\n"
    assert ask(born, "count", "born < DATE '2000-01-01'", date_format="%d.%m.%Y") == 1


def test_types_state_marks_and_formats_by_column(ask):
    types = {"amount": {"type": "number", "decimal": ","}, "born": {"type": "date", "format": "%d.%m.%Y"}}
    table = "amount;born\n1,5;31.12.1990\n2,5;01.01.2001\n"
    assert ask(table, "count", "amount > 2 AND born > DATE '2000-01-01'", delimiter=";", types=types) == 1


# Missing codes, conditions and expressions in every query


def test_haven_33_and_metasyn_465_codes_for_missing_values(ask):
    codes = "q1,q2\n5,77\n-9,2\n99,3\n7,1\n"
    assert ask(codes, "mean", "q1", lower=0, upper=10, step=1, missing_codes="-9,99") == 6
    types = {"q2": {"type": "integer", "missing": [77]}}
    assert ask(codes, "sum", "q2", lower=0, upper=10, types=types) == 6
    assert ask(codes, "count", "NULLIF(q2, 77) > 1") == 2


@pytest.mark.parametrize(
    ("query", "options", "answer"),
    [
        (("sum", "pay"), {"lower": 0, "upper": 100, "step": 1}, 1000),
        (("mean", "pay"), {"lower": 0, "upper": 100, "step": 1}, 25),
        (("median", "pay"), {"bins": "15,25"}, "15 to under 25"),
        (("quantile", "1", "pay"), {"bins": "15,25"}, "25 and over"),
        (("plurality", "ward"), {"categories": "a,b"}, "a"),
        (("variance", "pay"), {"lower": 0, "upper": 100, "step": 1}, 25),
    ],
)
def test_opendp_1677_every_query_takes_a_condition(ask, query, options, answer):
    table = pa.table({"pay": [20, 30, 90, 95] * 20, "ward": list("aabb") * 20, "hours": [5, 6, 50, 50] * 20})
    found = ask(table, *query, where="hours < 10", **options)
    assert found == pytest.approx(answer, rel=0.2) if isinstance(answer, int) else found == answer


def test_values_of_an_expression_are_added_up(ask):
    table = pa.table({"hours": [2, 3], "rate": [10, 20]})
    assert ask(table, "sum", "pay = hours * rate", lower=0, upper=100, step=1) == 80


# Persons


EVENTS = "who,amount\n" + "".join(f"{who},{amount}\n" for who in (1, 1, 1, 2, 3) for amount in (10, 20))


def test_pipelinedp_275_the_total_of_a_person_is_cut_off(ask):
    assert ask(EVENTS, "sum", "amount", unit="who", per_person_upper=50, step=1) == 50 + 30 + 30


def test_google_233_and_smartnoise_sdk_512_statistics_of_a_row_for_each_person(ask):
    person = {"unit": "who", "person": "visits = COUNT(*), spent = SUM(amount)"}
    assert ask(EVENTS, "count", "visits >= 3", **person) == 1
    assert ask(EVENTS, "mean", "spent", lower=0, upper=100, step=1, **person) == pytest.approx(50, abs=5)


def test_medians_of_several_records_of_each_person(ask):
    assert ask(EVENTS, "median", "amount", bins="15", unit="who", at_most=6) in ("below 15", "15 and over")


# Questions


def test_opendp_2196_weighted_counts_and_means(ask):
    table = pa.table({"x": [0, 1, 1], "w": [1.5, 2.0, 0.5], "v": [10, 20, 40]})
    assert ask(table, "count", "x = 1", weight="w", weight_upper=3, step="0.5") == 2.5


def test_dpcreator_507_and_pipelinedp_36_variance_and_standard_deviation(ask):
    table = pa.table({"v": [2, 4, 4, 4, 5, 5, 7, 9]})
    assert ask(table, "variance", "v", lower=0, upper=10) == pytest.approx(4, abs=1.5)
    assert ask(table, "deviation", "v", lower=0, upper=10) == pytest.approx(2, abs=0.6)


def test_opendp_2514_dp_wizard_586_and_diffprivlib_20_private_bounds(tmp_path):
    table = pa.table({"v": [3.0] * 50 + [100.0] * 50})
    found = irisdp.publish(table, "bounds", "v", ledger=tmp_path / "l.ledger", **LARGE).to_arrow().to_pylist()
    assert found


def test_opendp_2329_several_quantiles_at_one_charge(ask):
    table = pa.table({"v": list(range(100))})
    found = ask(table, "quantiles", "0.25,0.5,0.75", "v", bins="20,40,60,80")
    assert found == ["20 to under 40", "40 to under 60", "60 to under 80"]


def test_a_population_behind_a_sample(tmp_path):
    found = irisdp.publish(pa.table({"x": [1] * 300 + [0] * 700}), "count", "x = 1", ledger=tmp_path / "l", **LARGE)
    ((_, low, high, *_),) = irisdp.interpret(found, population=10**6, sample=1000).rows
    assert 260_000 < low < 300_000 < high < 340_000


# Layouts of offices


def test_an_export_of_a_german_spreadsheet(ask):
    table = "\ufeffBericht\r\nPerson;Betrag;Datum\r\n1;1.000,5;31.12.2023\r\n2;-9;01.01.2024\r\nSumme;1.000,5;\r\n"
    options = {"delimiter": ";", "decimal": ",", "thousands": ".", "skip_rows": 1, "footer_rows": 1}
    options |= {"date_format": "%d.%m.%Y", "missing_codes": "-9"}
    assert ask(table, "sum", "Betrag", lower=0, upper=2000, step="0.5", **options) == 1000.5
    assert ask(table, "count", "Datum >= DATE '2024-01-01'", **options) == 1


def test_a_project_file_states_the_layout_once(tmp_path):
    (tmp_path / "stays.csv").write_text("x\nid;cost\n1;2,5\n2;3,5\n")
    (tmp_path / "stays.iris.toml").write_text('delimiter = ";"\ndecimal = ","\nskip_rows = 1\n')
    session = Session(tmp_path / "stays.csv", ledger=tmp_path / "l.ledger")
    assert session.count("cost > 3", **LARGE).to_arrow().to_pylist()[0]["answer"] == 1
    assert "decimal" in str(plan(tmp_path / "stays.csv", "count", "cost > 3", epsilon=1))


def test_json_and_toml_may_begin_with_a_byte_order_mark(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    (tmp_path / "types.json").write_bytes(b"\xef\xbb\xbf" + b'{"a": "integer"}')
    (tmp_path / "t.iris.toml").write_bytes(b"\xef\xbb\xbf" + b'relation = "exchange"\n')
    planned = plan(tmp_path / "t.csv", "sum", "a", lower=0, upper=5, epsilon=1, types=tmp_path / "types.json")
    assert str(planned.relation) == "exchange"
