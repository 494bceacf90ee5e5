"""What each room lets people take away besides files and commands: pictures, Python, and a link to what was asked."""

import json
import os
import re
import subprocess
import sys
from urllib.parse import parse_qs, urlsplit

import pytest

from support.tasks import TASKS, do, fill, wait_for
from support.watched import watched

HOSTILE = "</script><img src=x onerror=document.title='run'>"


@pytest.fixture
def visitor(browser, explorer):
    """A page in a context that may save files and copy."""
    with watched(browser, base_url=explorer, accept_downloads=True) as context:
        context.grant_permissions(["clipboard-read", "clipboard-write"], origin=explorer)
        yield context.new_page()


def offered(page):
    """Return the part of a page where things are taken away."""
    page.wait_for_load_state("networkidle")
    return page.get_by_role("region", name="Take it away")


def take(page, link, folder):
    """Save what a link offers, under the name it is offered."""
    with page.expect_download() as coming:
        link.click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


def copied(page, heading):
    """Press the button that copies; return what a person then pastes."""
    page.get_by_role("button", name=f"Copy: {heading}").click()
    page.get_by_role("button", name=f"Copy: {heading}").get_by_text("Copied").wait_for()
    shown = page.locator(".code", has_text=heading).locator("code").inner_text()
    assert page.evaluate("navigator.clipboard.readText()") == shown
    return shown


def said_by(code, folder):
    """Run Python where only what it reads lies; return what it prints."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, cwd=folder, env=os.environ, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("task", TASKS)
def test_the_python_comes_to_the_same(visitor, release, task, tmp_path):
    do(visitor, task, release)
    links = offered(visitor).locator("a[download$='.json'], a[download$='.csv']")
    first, *given = [take(visitor, link, tmp_path) for link in links.all()]
    code, made = copied(visitor, "Python"), first.read_bytes()
    first.unlink()
    room = TASKS[task][0]
    if room == "Ask":
        facts = visitor.locator("#result dd").all_inner_texts()
        lines = said_by(code, tmp_path).splitlines()
        assert lines
        for line in lines:
            assert [fact for fact in facts if fact.lower().startswith(line.lower())], line
    elif room == "Design":
        said_by(code, tmp_path)
        assert first.read_bytes() == made
    elif room == "Check":
        told = said_by(f"{code}\nimport json\nprint(json.dumps(verdict.to_document(), ensure_ascii=False))", tmp_path)
        assert told.encode().endswith(made)
    else:
        assert given, "the release is given along, for the command and the Python to read"
        told = said_by(
            f"{code.replace('print(', '(')}\nimport json\nprint(json.dumps(reading.to_documents()))", tmp_path
        )
        (mine,), theirs = json.loads(told), json.loads(made)
        for coin in (mine, theirs):  # tossed each time
            assert coin.pop("reading") in [value for value, _ in theirs["chances"]]
        assert mine == {name: theirs[name] for name in mine}
        assert set(theirs) - set(mine) <= {"posterior"}


@pytest.mark.parametrize("task", TASKS)
def test_each_picture_is_taken_away_in_three_forms(browser, visitor, release, task, tmp_path):
    """And the page of one opens from a disk with the network off."""
    do(visitor, task, release)
    links = offered(visitor).locator("a[href^='pictures/']").all()
    assert len(links) == 3 * visitor.locator("#result figure").count() >= 3
    taken = [take(visitor, link, tmp_path) for link in links]
    for path in taken:
        content = path.read_bytes()
        if path.suffix == ".svg":
            assert content.startswith(b"<svg") and b"<title>" in content
        elif path.suffix == ".png":
            assert content.startswith(b"\x89PNG\r\n\x1a\n")
        else:
            opens_offline(browser, path)
    assert {path.suffix for path in taken} == {".svg", ".png", ".html"}


def opens_offline(browser, path):
    with watched(browser, files=[path]) as context:
        context.watch.expected.append('Conflicting legend property "disable"')
        context.set_offline(True)
        page = context.new_page()
        page.goto(path.as_uri())
        page.wait_for_selector(".vega-embed svg")
        assert context.watch.requests == [path.as_uri()]
        assert page.title() != "run" and page.locator("img[src=x]").count() == 0


def test_a_link_to_a_reading_carries_all_but_what_was_published(visitor, release):
    do(visitor, "interpret 7 of at most 10", release)
    link = offered(visitor).get_by_role("link", name="a link that carries all of this, but for: release file")
    address = link.get_attribute("href")
    assert parse_qs(urlsplit(address).query) == {"value": ["7"], "at_most": ["10"]}
    other = visitor.context.new_page()
    other.goto(address)
    assert other.locator("#field-value").input_value() == "7"
    fill(other, "release", release)
    wait_for(other, TASKS["interpret 7 of at most 10"][3])


def test_names_with_markup_are_drawn_and_taken_away_as_text(browser, visitor, tmp_path):
    """A graph whose nodes and colours try to end the script that a page of a picture has."""
    visitor.goto("/design")
    fill(visitor, "graph", json.dumps([[HOSTILE, "b"], ["b", "c"]]))
    fill(visitor, "colors", json.dumps({HOSTILE: HOSTILE, "b": "y", "c": "y"}))
    visitor.get_by_role("button", name="Design", exact=True).click()
    wait_for(visitor, "Proved best")
    assert HOSTILE in visitor.locator("#result").inner_text()
    for link in offered(visitor).locator("a[href*='.html']").all():
        opens_offline(browser, take(visitor, link, tmp_path))
    assert visitor.title() != "run" and visitor.locator("main img[src=x]").count() == 0
    visitor.goto(offered(visitor).get_by_role("link", name=re.compile("carries all")).get_attribute("href"))
    assert visitor.title() != "run" and visitor.locator("main img[src=x]").count() == 0


def test_files_are_dropped_where_text_could_be_pasted(visitor, release, tmp_path):
    """A mechanism's file to check, as the room Design gave it, and a release to read."""
    visitor.goto("/design?kind=geometric&n=3")
    wait_for(visitor, "Proved best")
    made = take(visitor, offered(visitor).locator("a[download='mechanism.json']"), tmp_path)
    visitor.goto("/check")
    visitor.locator("#field-upload").set_input_files(made)
    visitor.get_by_role("button", name="Check", exact=True).click()
    wait_for(visitor, "This keeps ε = 1, exactly")
    (tmp_path / "out.csv.release.json").write_text(release, encoding="utf-8")
    visitor.goto("/read?value=7&at_most=10")
    visitor.locator("#field-upload").set_input_files(tmp_path / "out.csv.release.json")
    wait_for(visitor, "Published 7; the truth is probably ")
    assert visitor.locator("#field-release").input_value() == release
