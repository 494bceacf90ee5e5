"""The secret beside the data and the fingerprint keyed with it."""

import hashlib
import os
import stat
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from irisdp import BadInput
from irisdp._cli import run
from irisdp._files import create_once
from irisdp._ledger.fingerprints import fingerprint, recognise, secret_key_path, secrets_in

KEY, OTHER_KEY = bytes(range(32)), bytes(range(1, 33))
READERS = 32


def test_names_equal_data_equally_and_nothing_else():
    digest = hashlib.sha256(b"a table").digest()
    name = fingerprint(digest, KEY)
    assert name == fingerprint(digest, KEY)
    assert name != fingerprint(hashlib.sha256(b"another table").digest(), KEY)
    assert len(bytes.fromhex(name)) == 32


def test_a_guessed_table_is_not_confirmed_without_the_secret():
    digest = hashlib.sha256(b"a guessed table").digest()
    unkeyed = {digest.hex(), hashlib.sha256(digest).hexdigest(), hashlib.blake2b(digest, digest_size=32).hexdigest()}
    assert fingerprint(digest, KEY) not in unkeyed | {fingerprint(digest, OTHER_KEY)}


@pytest.mark.parametrize("key", [b"", b"short", bytes(64)])
def test_a_key_of_another_length_is_refused(key):
    with pytest.raises(BadInput, match="must have 32 bytes"):
        fingerprint(b"digest", key)


def test_the_secret_stays(tmp_path):
    data = tmp_path / "patients.csv"
    secret = secret_key_path(data)
    assert len(secret) == 32
    assert secret == secret_key_path(str(data))
    assert secret == secret_key_path(tmp_path / "renamed.csv"), "one for the folder: a renamed file is recognised"
    file = tmp_path / ".tables.irisdp-secret"
    assert file.read_bytes() == secret
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [file], "one secret, and no drafts"


def test_secrets_of_version_0_1_are_honoured(tmp_path):
    (tmp_path / ".data.csv.irisdp-secret").write_bytes(OTHER_KEY)
    (tmp_path / ".short.csv.irisdp-secret").write_bytes(b"short")
    (tmp_path / ".folder.irisdp-secret").mkdir()
    assert secret_key_path(tmp_path / "data.csv") == OTHER_KEY
    own = secret_key_path(tmp_path / "renamed.csv")
    assert own != OTHER_KEY
    assert sorted(secrets_in(tmp_path, tmp_path)) == sorted([own, OTHER_KEY])
    known = fingerprint(b"digest", OTHER_KEY)
    assert recognise(b"digest", [own, OTHER_KEY], lambda names: {known} & set(names)) == (known, OTHER_KEY)
    assert recognise(b"digest", [own, OTHER_KEY], lambda names: set()) == (fingerprint(b"digest", own), own)


def test_the_secret_belongs_to_the_data_whatever_it_is_called(tmp_path, monkeypatch):
    folder = tmp_path / "parquet files"
    folder.mkdir()
    (tmp_path / "link").symlink_to(folder)
    monkeypatch.chdir(tmp_path)
    assert (
        secret_key_path(folder)
        == secret_key_path(f"{folder}/")
        == secret_key_path("link")
        == secret_key_path(folder.name)
    )


def test_whoever_comes_at_once_gets_the_same_secret(tmp_path):
    together = threading.Barrier(READERS)

    def read(_):
        together.wait()
        return secret_key_path(tmp_path / "data.csv")

    with ThreadPoolExecutor(READERS) as threads:
        assert len(set(threads.map(read, range(READERS)))) == 1


@pytest.mark.parametrize("content", [b"", bytes(31), bytes(33)])
def test_a_damaged_secret_is_refused_and_kept(tmp_path, content):
    file = tmp_path / ".data.csv.irisdp-secret"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=f"must hold 32 bytes, not {len(content)}"):
        secret_key_path(tmp_path / "data.csv")
    assert file.read_bytes() == content


@pytest.mark.parametrize("step", ["open", "link", "fsync"])
def test_a_secret_that_cannot_be_written(tmp_path, monkeypatch, step):
    def fail(*arguments):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(BadInput, match="Read-only file system") as refusal:
        secret_key_path(tmp_path / "data.csv")
    assert "\n" not in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


def test_a_secret_that_is_no_file(tmp_path):
    (tmp_path / ".tables.irisdp-secret").mkdir()
    for path in (tmp_path / "data.csv", tmp_path / "no folder" / "data.csv", "/", "nul\0byte"):
        with pytest.raises(BadInput, match="data: needs a secret"):
            secret_key_path(path)


def test_create_once_never_replaces(tmp_path):
    file = tmp_path / "file"
    create_once(file, lambda draft: draft.write_bytes(b"first"))
    create_once(file, lambda draft: draft.write_bytes(b"second"))
    assert file.read_bytes() == b"first"
    assert list(tmp_path.iterdir()) == [file]


def test_create_once_shows_nothing_unfinished(tmp_path):
    def write(draft):
        draft.write_bytes(b"half")
        assert not (tmp_path / "file").exists()
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        create_once(tmp_path / "file", write)
    assert list(tmp_path.iterdir()) == []


def test_a_question_answered_under_another_secret_is_charged_anew_and_said_to_be(tmp_path, capsys):
    (tmp_path / "people.csv").write_text("age\n30\n70\n")
    asked = ["publish", str(tmp_path / "people.csv"), "count", "--epsilon", "1", "--ledger", str(tmp_path / "b.ledger")]
    for folder in ("one", "other"):
        (tmp_path / folder).mkdir()
        assert run([*asked, "--secret", str(tmp_path / folder / "key")]) == 0
        said = capsys.readouterr().out
        assert ("this machine has another secret" in " ".join(said.split())) == (folder == "other")
    assert run([*asked, "--secret", str(tmp_path / "other" / "key")]) == 0
    assert "another secret" not in capsys.readouterr().out


@pytest.mark.parametrize("name", [".tables.irisdp-secret", ".t.csv.irisdp-secret"])
def test_a_secret_that_cannot_be_read_is_not_drawn_anew(name, tmp_path):
    """Else the data would look new, to its own ledger and to the others of the folder."""
    file = tmp_path / name
    file.symlink_to("/no disk is mounted here/secret")
    with pytest.raises(BadInput, match="cannot be read or written"):
        secret_key_path(tmp_path / "t.csv")
    assert os.listdir(tmp_path) == [name]
    if hasattr(os, "mkfifo"):
        file.unlink()
        os.mkfifo(file)
        with pytest.raises(BadInput, match=r"cannot be read or written \(no regular file\)"):
            secret_key_path(tmp_path / "t.csv")
        assert secrets_in(tmp_path) == [], "and nobody waits"
