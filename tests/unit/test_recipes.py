"""The recipes for nightly runs in examples/nights do what docs/howto/nights.md says of them."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import types
from pathlib import Path

import duckdb
import pytest

import irisdp
from irisdp.errors import BadInput, BudgetRefused, NotShown, Unavailable
from support.commands import irisdp as command

ROOT = Path(__file__).parents[2]
RECIPES = ROOT / "examples" / "nights"


@pytest.fixture(autouse=True)
def nights(tmp_path, monkeypatch):
    """Go to a folder with the recipes and the survey, where `irisdp` is a program."""
    for path in [*RECIPES.iterdir(), ROOT / "examples" / "anes96.csv"]:
        shutil.copy(path, tmp_path / path.name)
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "irisdp"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m irisdp "$@"\n')
    program.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    monkeypatch.setenv("NIGHTLY_PAUSE", "0")
    return tmp_path


def nightly(*words):
    return subprocess.run(["sh", "nightly.sh", ".", *words], check=False, capture_output=True, text=True)


# The script for cron.


def test_the_script_publishes_once_and_a_second_night_is_free():
    assert nightly().returncode == 0
    first = json.loads(Path("last.json").read_text())
    assert first["command"]["charged"][0]["epsilon"] == "0.5"
    assert len(list(Path().glob("voters-*.csv"))) == 1
    assert nightly().returncode == 0
    assert json.loads(Path("last.json").read_text())["command"]["charged"] == []
    events = [json.loads(line)["event"] for line in Path("nights.jsonl").read_text().splitlines()]
    assert events.count("charged") == 4
    assert "irisdp_ledger_spent" in Path("metrics.prom").read_text()


def test_the_script_alerts_and_passes_on_what_is_refused():
    command("ledger study.ledger --limit 0.9")
    assert nightly("0.4").returncode == 0
    alert = nightly("0.5")
    assert (alert.returncode, "study.ledger has ε = 0.4" in alert.stderr) == (1, True)
    text = Path("plan.toml").read_text()
    Path("plan.toml").write_text(text.replace('epsilon = "1/4"', "epsilon = 1"))
    refused = nightly()
    assert (refused.returncode, "plan.toml" in refused.stderr or "study.ledger" in refused.stderr) == (1, True)
    Path("plan.toml").write_text("nonsense")
    assert nightly().returncode == 2


def test_the_script_tries_again_where_that_can_help(nights):
    """A stand-in ends with given statuses, one after the other."""
    program = nights / "bin" / "irisdp"
    program.write_text(
        '#!/bin/sh\n[ "$1" = run ] || exit 0\nread -r status <statuses\nsed -i 1d statuses\n'
        'echo "x$status" >>tried\nexit "$status"\n'
    )
    for statuses, tried, ends in (("4 3 0", 3, 0), ("4 4 4 0", 3, 4), ("1 0", 1, 1), ("2 0", 1, 2), ("130 0", 2, 0)):
        Path("statuses").write_text(statuses.replace(" ", "\n") + "\n")
        Path("tried").unlink(missing_ok=True)
        assert nightly().returncode == ends
        assert len(Path("tried").read_text().splitlines()) == tried


def test_the_crontab_names_the_script_with_its_arguments():
    lines = [line for line in Path("crontab").read_text().splitlines() if line and not line.startswith("#")]
    settings = dict(line.split("=", 1) for line in lines if re.match(r"[A-Z]+=", line))
    (job,) = (line for line in lines if not re.match(r"[A-Z]+=", line))
    minute, hour, *days, script, folder, alert = job.split()
    assert 0 <= int(minute) < 60
    assert 0 <= int(hour) < 24
    assert days == ["*"] * 3
    assert (Path(script).name, Path(script).parent, float(alert)) == ("nightly.sh", Path(folder), 0.5)
    assert settings.keys() == {"MAILTO", "PATH"}


# Dagster: with the library where it is installed, and always with a stand-in.


def stand_in():
    """Return the names of Dagster that the recipe uses."""

    class RetryRequested(Exception):
        def __init__(self, max_retries, seconds_to_wait):
            self.max_retries = max_retries

    class Failure(Exception):
        def __init__(self, description, allow_retries):
            super().__init__(description)

    module = types.ModuleType("dagster")
    module.RetryRequested, module.Failure = RetryRequested, Failure
    module.asset = lambda name: lambda function: function
    module.MaterializeResult = types.SimpleNamespace
    for name in ("ScheduleDefinition", "Definitions", "define_asset_job"):
        setattr(module, name, lambda *words, **options: (words, options))
    return module


@pytest.fixture
def recipe(monkeypatch):
    monkeypatch.setitem(sys.modules, "dagster", stand_in())
    return runpy.run_path("dagster_job.py")


CONTEXT = types.SimpleNamespace(log=types.SimpleNamespace(info=lambda text: None))


def test_the_asset_publishes_and_says_what_was_charged(recipe):
    found = recipe["private_answers"](CONTEXT).metadata
    assert list(found["charged"].values()) == ["ε = 0.5, δ = 0"]
    assert found["repeated"] is False
    assert all(Path(path).exists() for path in found["files"])
    assert recipe["private_answers"](CONTEXT).metadata["repeated"] is True


@pytest.mark.parametrize(
    ("error", "becomes"),
    [
        (Unavailable("ledger", "is out of reach", "wait"), "RetryRequested"),
        (NotShown("out: full"), "RetryRequested"),
        (BudgetRefused("not enough"), "Failure"),
        (BadInput("plan", "is wrong", "write it"), "Failure"),
    ],
)
def test_the_asset_is_tried_again_where_that_can_help(recipe, monkeypatch, error, becomes):
    def fail(_):
        raise error

    monkeypatch.setattr(irisdp, "run", fail)
    with pytest.raises(Exception) as raised:
        recipe["private_answers"](CONTEXT)
    assert type(raised.value).__name__ == becomes


def test_dagster_materialises_the_asset():
    dagster = pytest.importorskip("dagster")
    sys.modules.pop("dagster_job", None)
    recipe = runpy.run_path("dagster_job.py")
    assert dagster.materialize([recipe["private_answers"]]).success


# dbt, whose adapter hands a relation of DuckDB's to a model.


def test_the_model_is_private_and_built_again_for_free():
    connection = duckdb.connect()
    connection.execute("CREATE TABLE voters AS SELECT * FROM read_csv('anes96.csv')")
    settings = {}

    class Dbt:
        @staticmethod
        def config(**options):
            settings.update(options)

        @staticmethod
        def ref(name):
            return connection.table(name)

    model = runpy.run_path("dbt_model.py")["model"]
    first = model(Dbt, connection)
    again = model(Dbt, connection)
    assert settings == {"materialized": "table"}
    assert first.column_names == ["educ", "answer", "answer_low", "answer_high"]
    assert first.equals(again)
    assert str(irisdp.Ledger("voters.ledger").spent) == "ε = 0.25, δ = 0"
    connection.execute("INSERT INTO voters SELECT * FROM voters LIMIT 1")
    model(Dbt, connection)
    assert str(irisdp.Ledger("voters.ledger").spent) == "ε = 0.5, δ = 0"


# The image.


def instructions():
    """Read a Dockerfile: words of each instruction."""
    text = re.sub(r"\\\n", " ", Path("Dockerfile").read_text())
    lines = [line.strip() for line in text.splitlines()]
    return [line.split(maxsplit=1) for line in lines if line and not line.startswith("#")]


def test_what_the_image_copies_is_in_the_checkout_and_not_ignored():
    known = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {name for name, _ in instructions()} <= known
    allowed = {line[1:] for line in Path("Dockerfile.dockerignore").read_text().splitlines() if line.startswith("!")}
    assert Path("Dockerfile.dockerignore").read_text().splitlines()[0] == "*", "no data goes into an image"
    for name, words in instructions():
        if name == "COPY":
            *sources, _ = words.split()
            assert all((ROOT / source).exists() for source in sources)
            assert set(sources) <= allowed


def test_the_image_runs_a_command_that_there_is_as_a_user_without_rights():
    told = {name: words for name, words in instructions() if name != "RUN"}
    assert (told["USER"], told["WORKDIR"], json.loads(told["ENTRYPOINT"])) == ("iris", "/publish", ["irisdp"])
    assert re.search(r"python:3\.\d+-slim", told["FROM"])
    assert command([*json.loads(told["CMD"])]).status == 0


def test_the_steps_of_the_image_install_what_they_copied(nights):
    """The package itself is built and installed from the files of COPY alone; its requirements are there already."""
    build = nights / "build"
    for name, words in instructions():
        if name == "COPY":
            *sources, target = words.split()
            for source in sources:
                place = nights / target.strip("/") / ("" if target.endswith("/") else ".")
                if (ROOT / source).is_dir():
                    shutil.copytree(ROOT / source, build / "src", ignore=shutil.ignore_patterns("__pycache__"))
                else:
                    file = place / Path(source).name if target.endswith("/") else nights / target.strip("/")
                    file.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copy(ROOT / source, file)
    (step,) = (words for name, words in instructions() if name == "RUN" and "--no-deps" in words)
    words = step.partition(" && ")[0].replace("/build", str(build)).split()
    assert words[:4] == ["python", "-m", "pip", "install"]
    pip = [sys.executable, "-m", "pip", "install", "--no-build-isolation", "--target", str(nights / "site"), *words[4:]]
    subprocess.run(pip, check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", "import irisdp; print(irisdp.__file__)"],
        env={**os.environ, "PYTHONPATH": str(nights / "site")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == str(nights / "site" / "irisdp" / "__init__.py")


# Continuous integration.


def test_the_schema_of_the_example_fits_its_plan():
    Path("anes96.csv").unlink()
    ended = command("run plan.toml --dry-run --schema schema.json --max-charge 0.5 --json")
    assert (ended.status, ended.document["ledgers"][0]["if_changed"]["epsilon"]) == (0, "0.5")
    assert command("run plan.toml --dry-run --schema schema.json --max-charge 0.49 --json").status == 1


def test_the_schema_is_that_of_the_survey():
    header = Path("anes96.csv").read_text().splitlines()[0].split(",")
    assert set(json.loads(Path("schema.json").read_text())) <= set(header)


def test_files_of_the_day_do_not_stop_a_check_without_data():
    assert command("run plan.toml").status == 0
    assert command("run plan.toml --dry-run --schema schema.json").status == 0
