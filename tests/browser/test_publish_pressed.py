"""The button of Publish in a browser: double clicks, reloads, the back button, a lost network and a closed tab."""

import pytest

from irisdp import Ledger
from support.watched import watched

PLAN = """
[datasets.visits]
data = "visits.csv"
[[questions]]
query = "count"
epsilon = 0.5
out = "visits-answers/count.csv"
[[questions]]
query = "at-least 2"
epsilon = 0.25
out = "visits-answers/some.csv"
"""


@pytest.fixture
def plan():
    return PLAN


@pytest.fixture(params=[True, False], ids=["with a script", "without a script"])
def pressing(request, private, browser):
    """Return a page at Publish, the address of the first page, and the table."""
    first, table = private
    with watched(browser, java_script_enabled=request.param) as context:
        context.add_cookies(first.context.cookies())
        page = context.new_page()
        page.goto(f"{first.url}publish")
        page.get_by_role("button", name="Publish: charge").wait_for()
        yield page, first.url, table


def to_button(page, home):
    """Open Publish as soon as it offers its button: while a run goes on, it leads there instead."""
    for _ in range(200):
        page.goto(f"{home}publish")
        if page.get_by_role("button", name="Publish: charge").count():
            return
        assert page.get_by_text("A run is going on").count()
        page.wait_for_timeout(300)
    raise AssertionError("the run does not end")


def check_charged_once(page, home, table):
    """Wait for the answers, publish once more, and count."""
    to_button(page, home)
    page.get_by_role("button", name="Publish: charge").click()
    page.locator(".headline", has_text="Published").wait_for()
    ledger = Ledger(table.with_suffix(".ledger"))
    assert len(list(ledger.releases())) == 2 and str(ledger.spent.epsilon) == "3/4"
    page.goto(f"{home}results")
    page.locator("main").get_by_text("count", exact=False).first.wait_for()
    answers = {file.name for file in (table.parent / "visits-answers").iterdir()}
    assert {"count.csv", "some.csv"} <= answers


def test_a_double_click_charges_once(pressing):
    page, home, table = pressing
    page.get_by_role("button", name="Publish: charge").dblclick(no_wait_after=True)
    page.locator(".headline", has_text="Published").wait_for()
    check_charged_once(page, home, table)


def test_reloads_and_the_back_button_charge_once(pressing):
    page, home, table = pressing
    page.get_by_role("button", name="Publish: charge").click()
    page.wait_for_url("**/jobs/*")
    job = page.url
    page.reload()
    page.go_back()
    page.get_by_role("button", name="Publish: charge").click()
    page.wait_for_url("**/jobs/*")
    page.locator(".headline", has_text="Published").wait_for()
    page.reload()
    page.locator(".headline", has_text="Published").wait_for()
    assert job.startswith(home)
    check_charged_once(page, home, table)


def test_a_tab_that_is_closed_and_a_network_that_is_lost_charge_once(pressing):
    page, home, table = pressing
    context = page.context
    page.get_by_role("button", name="Publish: charge").click(no_wait_after=True)
    page.close()
    other = context.new_page()
    to_button(other, home)
    context.watch.expected += ["ERR_INTERNET_DISCONNECTED", "Failed to fetch"]
    context.set_offline(True)
    other.get_by_role("button", name="Publish: charge").click(no_wait_after=True)
    other.wait_for_timeout(500)
    context.set_offline(False)
    check_charged_once(other, home, table)
