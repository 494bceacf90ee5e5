"""Ten tasks of owners and readers of data, from a table to a report, done in Chromium as people do them, and timed.

Each task begins with a table that nobody has opened before, on a desktop with scripts and on a phone without. Steps are
pages opened, fields filled in and buttons pressed; seconds are kept in build/explorer-tasks.json. At its end a page may
have nothing grave for a screen reader, and nothing beyond its right edge.
"""

import os
import re
import subprocess
import sys
import time

import pytest

from irisdp import Ledger
from support.accessible import grave_findings, sideways
from support.watched import watched

from .test_tasks import note

VISITS = "person,town,sex,age,party,day\n" + "".join(
    f"{number // 3},{('Ely', 'York', 'Bath')[number % 3]},{'fm'[number // 3 % 2]},{18 + number % 70},"
    f"{'AABC'[number % 4]},{1 + number % 28:02}.11.2026\n"
    for number in range(600)
)
TOWNS, PARTIES = "Ely, York, Bath", "A, B, C"


class Owner:
    """A person at an explorer of a table of her own."""

    def __init__(self, page, base, folder, keep):
        self.page, self.base, self.folder, self._keep = page, base, folder, keep
        self.steps = 0

    def go(self, address):
        """Open a page."""
        self.page.goto(f"{self.base}{address}")
        self.steps += 1

    def fill(self, **fields):
        """Fill in fields, or choose in them; what stands behind a heading is opened first."""
        for name, value in fields.items():
            field = self.page.locator(f"#field-{name}")
            if not field.is_visible():
                self._uncover(field)
            if field.evaluate("field => field.tagName") == "SELECT":
                field.select_option(value=value)
            else:
                field.fill(value)
            self.steps += 1

    def _uncover(self, field):
        for summary in self.page.locator("details:not([open]) > summary").all():
            if field.is_visible():
                return
            summary.click()
        if not field.is_visible():  # without a script, a choice brings its fields when the form was sent
            self.press("Show cost")
            for summary in self.page.locator("details:not([open]) > summary").all():
                summary.click()

    def press(self, name):
        """Press a button."""
        self.page.get_by_role("button", name=re.compile(f"^{re.escape(name)}")).first.click()
        self.page.wait_for_load_state()
        self.steps += 1

    def sees(self, text):
        """Wait until a text stands on the page."""
        self.page.get_by_text(re.compile(text)).first.wait_for()

    def ask(self, **fields):
        """Add a question to the plan."""
        self.go("plan/questions/new")
        self.fill(**fields)
        self.press("Add to the plan")
        self.page.wait_for_url("**/plan")

    def alone(self, **fields):
        """Ask one question, in place of the one that every plan begins with."""
        self.go("plan/questions/1")
        self.fill(**fields)
        self.press("Keep")
        self.page.wait_for_url("**/plan")

    def publish(self):
        """Publish, and wait until that is done."""
        self.go("publish")
        self.page.get_by_role("button", name=re.compile("^Publish")).click()
        self.steps += 1
        self.sees("^Published: ")

    @property
    def spent(self):
        return str(Ledger(self.folder / "visits.ledger").spent)


def two_way_table(owner):
    owner.alone(query="count", grouped="listed", by="town, sex", groups=f"town={TOWNS}\nsex=f, m")
    owner.publish()
    owner.go("results/1")
    owner.sees("6 published answers")
    assert owner.spent == "ε = 1, δ = 0"


def means_with_an_error(owner):
    owner.alone(
        query="mean", column="age", lower="0", upper="100", step="1", grouped="listed", by="town", groups=TOWNS,
        accuracy="within", within="2", records="150",
    )  # fmt: skip
    owner.sees("All questions cost")
    owner.publish()
    owner.go("results/1")
    owner.sees("mean of age")


def winner_and_its_chance(owner):
    owner.alone(query="plurality", column="party", categories=PARTIES)
    owner.publish()
    owner.go("results/1")
    owner.sees("right with probability|probably")


def persons_with_many_visits(owner):
    owner.alone(query="count", persons="person", person="visits = COUNT(*)", condition="visits > 2", more="")
    owner.publish()
    owner.go("results/1")
    owner.sees("person")


def an_audience(owner):
    owner.alone(query="count", audience="board=1, press=0.25", accuracy="audiences")
    owner.publish()
    owner.go("results")
    assert owner.page.locator(".doors > li").count() == 2
    owner.sees("for press")


def twenty_questions(owner):
    for number in range(19):
        owner.go("plan")
        owner.press("Copy question 1")
        owner.go(f"plan/questions/{number + 2}")
        owner.fill(condition=f"age > {20 + number}")
        owner.press("Keep")
        owner.page.wait_for_url("**/plan")
    owner.publish()
    assert len(Ledger(owner.folder / "visits.ledger").releases()) == 20
    spent = float(Ledger(owner.folder / "visits.ledger").spent.epsilon)
    assert 0.9999 < spent <= 1


def read_a_mean(owner):
    words = ["publish", "visits.csv", "mean", "age", "--lower", "0", "--upper", "100", "--step", "1", "--epsilon", "1"]
    subprocess.run(
        [sys.executable, "-m", "irisdp", *words, "--out", "mean.csv"], cwd=owner.folder, check=True, capture_output=True
    )
    owner.go("read")
    files = [owner.folder / "mean.csv", owner.folder / "mean.csv.release.json"]
    owner.page.locator("input[type=file]").set_input_files(files)
    owner.press("Read")
    owner.steps += 1
    owner.sees("mean of age")


def correct_a_type(owner):
    owner.go("table")
    link = owner.page.get_by_role("link", name="day", exact=True)
    link.click()
    owner.steps += 1
    owner.fill(type="date", format="%d.%m.%Y")
    owner.press("Save")
    assert "%d.%m.%Y" in (owner.folder / "visits.iris.toml").read_text()
    owner.alone(query="count", condition="day > DATE '2026-11-14'")
    owner.publish()


def exceed_a_limit(owner):
    owner.go("ledger")
    owner.fill(limit="1/2")
    owner.press("Set the limit")
    owner.go("publish")
    owner.sees("left")
    assert owner.page.get_by_role("button", name=re.compile("^Publish")).count() == 0
    owner.go("plan")
    owner.fill(budget="1/2")
    owner.press("Show costs")
    owner.publish()
    assert owner.spent == "ε = 0.5, δ = 0"


def hand_over_a_report(owner):
    owner.alone(query="count", grouped="listed", by="town", groups=TOWNS, title="Visits by town")
    owner.publish()
    owner.go("results")
    with owner.page.expect_download() as coming:
        owner.page.get_by_role("link", name="report.html").click()
    owner.steps += 1
    coming.value.save_as(owner.folder / "taken.html")
    page = (owner.folder / "taken.html").read_text()
    assert "Visits by town" in page or "town" in page
    assert page == (owner.folder / "visits-answers" / "report.html").read_text()


TASKS = {
    "a two-way table with a budget of 1": two_way_table,
    "means by group with an error of at most 2": means_with_an_error,
    "a winner and its chance": winner_and_its_chance,
    "persons with many visits": persons_with_many_visits,
    "an audience": an_audience,
    "twenty questions under one budget": twenty_questions,
    "read a published mean": read_a_mean,
    "correct a wrong type": correct_a_type,
    "exceed a limit": exceed_a_limit,
    "hand over a report": hand_over_a_report,
}
UNITS = {"persons with many visits": ("--unit", "person")}


@pytest.fixture
def table(tmp_path):
    (tmp_path / "visits.csv").write_text(VISITS)
    return tmp_path


def opened(folder, *options):
    """Start an explorer of the table; return its process and its address with the token."""
    process = subprocess.Popen(
        [sys.executable, "-m", "irisdp", "explore", "visits.csv", "--no-browser", "--port", "0", *options],
        cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )  # fmt: skip
    said = process.stdout.readline()
    return process, re.search(r"http://\S+", said)[0]


WAYS = {"desktop with scripts": (False, True), "phone without scripts": (True, False)}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("task", TASKS)
def test_a_task_of_an_owner_is_done(browser, table, task, way, keep):
    phone, script = WAYS[way]
    process, address = opened(table, *UNITS.get(task, ()))
    try:
        with watched(
            browser, base_url=address, phone=phone, dark=phone, java_script_enabled=script, accept_downloads=True
        ) as context:
            page = context.new_page()
            page.goto(address)
            page.get_by_role("link", name="Plan").first.wait_for()
            base = page.locator("base").get_attribute("href")
            owner = Owner(page, f"{address.split('/?')[0]}{base}", table, keep)
            started = time.perf_counter()
            TASKS[task](owner)
            note(f"{task}, {way}", steps=owner.steps, seconds=round(time.perf_counter() - started, 2))
            page.wait_for_load_state("networkidle")
            keep(page, f"owner {task} {way}")
            assert sideways(page) <= 0
            if script:
                assert grave_findings(page) == []
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.mark.parametrize("address", ["", "table", "plan", "plan/questions/new", "publish", "results", "ledger", "read"])
def test_every_page_about_a_table_can_be_used_by_all(browser, table, address, look, keep):
    (table / "visits.iris.toml").write_text('[categories]\nparty = ["A", "B", "C"]\n')
    process, entered = opened(table)
    try:
        with watched(browser, base_url=entered, **look) as context:
            page = context.new_page()
            page.goto(entered)
            page.get_by_role("link", name="Plan").first.wait_for()
            page.goto(f"{entered.split('/?')[0]}{page.locator('base').get_attribute('href')}{address}")
            page.wait_for_load_state("networkidle")
            for summary in page.locator("details:not([open]) > summary").all():
                summary.click()
            where = f"{'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}"
            keep(page, f"table {address or 'way in'} {where}")
            assert grave_findings(page) == [] and sideways(page) <= 0
    finally:
        process.terminate()
        process.communicate(timeout=20)


def test_the_costs_follow_a_slider(browser, table):
    process, entered = opened(table)
    try:
        with watched(browser, base_url=entered) as context:
            page = context.new_page()
            page.goto(entered)
            page.get_by_role("link", name="Plan").first.click()
            page.locator("#result dl").wait_for()
            before = page.locator("#result").inner_text()
            page.locator("#field-budget + input[type=range]").focus()
            for _ in range(5):
                page.keyboard.press("ArrowRight")
            page.wait_for_function("said => document.querySelector('#result').innerText !== said", arg=before)
            assert float(page.locator("#field-budget").input_value()) > 1
            page.reload()
            assert float(page.locator("#field-budget").input_value()) > 1, "the draft keeps what a slider said"
            page.get_by_role("button", name=re.compile("^Undo")).click()
            page.wait_for_load_state()
            assert page.locator("#field-budget").input_value() == "1"
    finally:
        process.terminate()
        process.communicate(timeout=20)
