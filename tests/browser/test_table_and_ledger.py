"""The pages Table and Ledger as people see them: by hand, without scripts, by the keyboard, on desk and phone."""

import subprocess
import sys
from contextlib import contextmanager

import pytest

from support.accessible import grave_findings, sideways
from support.watched import tab_to, watched

RECORDS = "".join(f"{n};{20 + n % 60};Ludlow;1.{n:03},5;0{n % 9}.02.1971\n" for n in range(200))
PROJECT = '# Our survey\ndelimiter = ";"\n[types]\nage = "date"  # a slip\n[labels.columns]\nage = "Age in years"\n'
ADDRESSES = {
    "columns": "table",
    "column": "table/column?name=age",
    "settings": "table/settings",
    "check form": "table/check",
    "ledger": "ledger",
}


@pytest.fixture(scope="module")
def survey(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("survey")
    table = folder / "survey.csv"
    table.write_text(f"person_id;age;town;spent;born\n{RECORDS}", encoding="utf-8")
    (folder / "survey.iris.toml").write_text(PROJECT, encoding="utf-8")
    for words in (
        ["ledger", "survey.ledger", "--limit", "3,1e-6"],
        ["ledger", "survey.ledger", "--limit", "1", "--audience", "press"],
        ["publish", "survey.csv", "count", "town = 'Ludlow'", "--epsilon", "1/2"],
        ["publish", "survey.csv", "count", "town = 'Wells'", "--audience", "press=1/4"],
    ):
        subprocess.run([sys.executable, "-m", "irisdp", *words], cwd=folder, check=True, capture_output=True)
    return table


@pytest.fixture
def opened(browser, start):
    """Return what opens an explorer of a table in a watched page, and gives the page and the address of the start."""

    @contextmanager
    def opened(table, expected=(), **options):
        process, address = start(table.parent, table.name)
        try:
            with watched(browser, **options) as context:
                context.watch.expected.extend(expected)
                page = context.new_page()
                page.goto(address)
                page.get_by_role("navigation", name="Rooms").get_by_role("link", name="Table").wait_for()
                yield page, page.evaluate("document.baseURI")
        finally:
            process.terminate()
            process.communicate(timeout=20)

    return opened


def test_every_part_looks_right_and_is_accessible(opened, survey, look, keep):
    with opened(survey, **look) as (page, home):
        for name, address in ADDRESSES.items():
            page.goto(home + address)
            page.locator("main h1").wait_for()
            page.wait_for_load_state("networkidle")
            keep(page, f"table {name} {'dark' if look['dark'] else 'light'} {'phone' if look['phone'] else 'desktop'}")
            assert not grave_findings(page), name
            assert not sideways(page), name
        page.goto(home + "table/check")
        page.get_by_role("button", name="Check this table").click()
        page.get_by_text("not for publication").first.wait_for()
        page.get_by_text("Faults", exact=True).wait_for()
        keep(page, f"table faults {'dark' if look['dark'] else 'light'} {'phone' if look['phone'] else 'desktop'}")
        assert not grave_findings(page) and not sideways(page)


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])
def test_a_wrong_type_is_corrected_by_hand(opened, survey, script):
    project = survey.with_name("survey.iris.toml")
    project.write_text(PROJECT, encoding="utf-8")
    with opened(survey, java_script_enabled=script) as (page, home):
        page.goto(home + "table")
        page.get_by_label("Type of age").select_option("integer")
        page.get_by_role("button", name="Save types").click()
        page.get_by_text("Saved in survey.iris.toml.").wait_for()
        assert project.read_text() == PROJECT.replace('"date"', '"integer"')
        page.get_by_role("link", name="town", exact=True).click()
        page.get_by_label("Groups", exact=True).fill("Ludlow\nWells, York")
        page.get_by_role("button", name="Save in survey.iris.toml").click()
        page.get_by_text("3 groups").wait_for()
    project.write_text(PROJECT, encoding="utf-8")


def test_a_suggestion_is_taken_with_the_keyboard_alone(opened, survey):
    project = survey.with_name("survey.iris.toml")
    project.write_text(PROJECT, encoding="utf-8")
    with opened(survey) as (page, home):
        page.goto(home + "table/check")
        tab_to(page, "form button[type=submit]")
        page.keyboard.press("Enter")
        page.get_by_text("Faults", exact=True).wait_for()
        row = page.get_by_role("row").filter(has_text="spent holds")
        tab_to(page, "form[action='table/suggested'] button")
        while not row.get_by_role("button").evaluate("it => it === document.activeElement"):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.get_by_text("The check suggests").wait_for()
        assert page.get_by_label("Decimal mark", exact=True).input_value() == ","
        assert project.read_text() == PROJECT
        tab_to(page, "main form button[type=submit]")
        page.keyboard.press("Enter")
        page.get_by_text("Saved in survey.iris.toml.").wait_for()
        assert 'decimal = ","' in project.read_text()
    project.write_text(PROJECT, encoding="utf-8")


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])
def test_a_limit_is_set_by_hand(opened, survey, script):
    refused = ["400 (Bad Request)"]  # which a browser tells its console
    with opened(survey, refused, java_script_enabled=script) as (page, home):
        page.goto(home + "ledger")
        page.get_by_label("Limit", exact=True).fill("-1")
        page.get_by_role("button", name="Set the limit").click()
        page.get_by_role("alert").get_by_role("link").click()
        assert page.locator("#field-limit").evaluate("it => it.matches(':target')")
        page.get_by_label("Limit", exact=True).fill("4,1e-6")
        page.get_by_role("button", name="Set the limit").click()
        page.get_by_text("The limit is now").wait_for()
        page.get_by_label("Audience", exact=True).fill("council")
        page.get_by_label("Limit of this audience").fill("1/2")
        page.get_by_role("button", name="Set this limit").click()
        page.get_by_text("The limit of council is now").wait_for()
        page.get_by_role("button", name="Check the history").click()
        page.get_by_text("The history holds").wait_for()
