"""The same table, bits and answers from Spark, as a frame and as files: `support/every_form.py`.

Which of a person's records is kept is no question here: engines write floats differently, so their lots fall otherwise.
"""

import shutil
from functools import cache

import pytest

from irisdp._tables import spark_files, spark_frames
from support.every_form import QUESTIONS, arrow, differing, embedded, records
from support.seeds import fresh_random
from support.spark import MASTER, session_of
from support.sweeps import tried

pytestmark = [
    pytest.mark.skipif(shutil.which("java") is None, reason="Java is missing: install openjdk-17-jre-headless"),
    pytest.mark.filterwarnings("default"),  # Spark's own warnings are not this project's
    pytest.mark.usefixtures("one_engine"),
]

THERE = {"engine": "spark", "master": MASTER}
BY_NAME = {question.name: question for question in QUESTIONS}
FOLDERS = {"majority", "by Unicode"}
"""What every form is asked in `make test`; other questions take turns. With IRISDP_WHOLE every form is asked all."""


@pytest.fixture(scope="module")
def spark():
    with session_of({"spark.sql.session.timeZone": "Asia/Tokyo"}) as session:  # what it says decides nothing
        yield session


@pytest.fixture(scope="module", autouse=True)
def digested_once():
    """A frame is digested before and after each question, to see that nothing changed; here it is one and stays."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_frames.SparkSource, "digest", cache(spark_frames.SparkSource.digest))
        yield


@pytest.fixture(scope="module")
def rows():
    return records(fresh_random("every form"), tried(2_000, 10**6))


@pytest.fixture(scope="module")
def forms(spark, rows, tmp_path_factory):
    table = arrow(rows)
    found = embedded(table, tmp_path_factory.mktemp("forms"), "part")
    return {
        "Parquet": found["Parquet"],
        "Spark": spark.createDataFrame(table),
        "Parquet by Spark": (found["Parquet"], THERE),
        "a folder by Spark": (found["a folder"], THERE),
    }


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_form_has_the_true_answer(forms, rows, question, tmp_path):
    by_turns = ("Parquet", ("Spark", "Parquet by Spark")[QUESTIONS.index(question) % 2])
    tried_here = forms if question.name in FOLDERS or tried(False, True) else {name: forms[name] for name in by_turns}
    assert differing(tried_here, question, rows, tmp_path) == {}


def instants_as_the_callers_session_shows_them(patch):
    real = spark_frames._total
    patch.setattr(
        spark_frames,
        "_total",
        lambda value, kind: f"CAST({value} AS TIMESTAMP_NTZ)" if kind == "timestamp" else real(value, kind),
    )


def decimals_without_their_sign(patch):
    patch.setattr(spark_files, "_WHOLE", f"try_add(try_multiply({spark_files._HIGH}, 1), {spark_files._LOW})")


PLANTED = {
    instants_as_the_callers_session_shows_them: ("instants", {"Spark"}),
    decimals_without_their_sign: ("mean", {"Parquet by Spark", "a folder by Spark"}),
}


@pytest.mark.parametrize("bug", PLANTED, ids=lambda bug: bug.__name__)
def test_a_bug_of_one_form_is_caught(forms, rows, bug, tmp_path, monkeypatch):
    question, who = PLANTED[bug]
    bug(monkeypatch)
    assert who <= differing(forms, BY_NAME[question], rows, tmp_path).keys()
