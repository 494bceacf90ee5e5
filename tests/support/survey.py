"""A small survey beside its ledger, and a count of it, for tests of what a ledger promises."""

import pytest

from irisdp import publish


@pytest.fixture
def data(tmp_path):
    """Three records of a survey, in a file."""
    path = tmp_path / "survey.csv"
    path.write_text("age,town\n70,Ely\n30,Ely\n81,York\n")
    return path


def ask(data, age=0, ledger=None, **options):
    """Publish how many are older, at ε = 1."""
    return publish(data, "count", f"age > {age}", epsilon=1, ledger=ledger, **options)
