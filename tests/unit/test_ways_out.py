"""What is refused says what to do instead: which column, which file, which command."""

import sys

import pytest

from support.commands import irisdp


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "twice.csv").write_text("a,Ward,b,ward\n1,2,3,4\n")
    (tmp_path / "loans.csv.gz").write_bytes(b"never compressed")
    (tmp_path / "plain.csv").write_text("v\n1\n")
    (tmp_path / "alone.csv").write_text("answer\n1\n")
    return tmp_path


SAID = {
    "publish twice.csv count --epsilon 1": "DATA: has two columns of one name (case does not count), 'Ward' and "
    "'ward'; rename one of them",
    "publish loans.csv count --epsilon 1": "DATA: finds no file at 'loans.csv'; did you mean 'loans.csv.gz'?",
    "publish plain.csv.zst count --epsilon 1": "DATA: finds no file at 'plain.csv.zst'; did you mean 'plain.csv'?",
    "publish none.csv count --epsilon 1": "DATA: finds no file at 'none.csv'; give the path of an existing file",
    "publish loans.csv.gz count --epsilon 1": "DATA: is not a gzip file that can be unpacked to its end; compress it "
    "again, or take that ending off",
    "publish plain.csv count --limit 3": "--limit: is no option of irisdp publish; write for example irisdp ledger "
    "survey.ledger --limit 3,1e-6",
    "report nosuch.csv": "RELEASE.json: finds no file at 'nosuch.csv'; give the path of an existing file",
    "report alone.csv": "RELEASE.json: alone.csv holds answers, and not how they were made; put alone.csv.release.json "
    "beside it, or name where it lies",
    "ledger x.ledger --grant publish=pat --grant read=rea": "--grant: is given 2 times, and can have one value; keep "
    "one of them, and run the command again for the other",
    "publish plain.csv count --epsilon 1 --epsilon 2": "--epsilon: is given 2 times, and can have one value; keep one "
    "of them",
}


@pytest.mark.parametrize("command", SAID)
def test_a_refusal_names_the_way_out(here, command):
    ended = irisdp(command)
    assert (ended.status, ended.line) == (2, SAID[command])
    assert not list(here.glob("*.ledger"))


def test_a_folder_that_may_not_be_written_is_no_dead_end(here, monkeypatch):
    def refusing(*given):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sys.modules["irisdp.release.fingerprint"], "create_once", refusing)
    line = irisdp("publish plain.csv count --epsilon 1").line
    assert line.endswith(
        "; let the folder of the data be written once, restore the secret, or keep both files "
        "elsewhere: --ledger FILE, --secret FILE"
    )
