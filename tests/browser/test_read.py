"""The page Read as readers use it: files dropped on it, rows pressed, and an example, with and without a script."""

import base64
import json
import subprocess
import sys

import pytest

from support.accessible import grave_findings, sideways
from support.watched import watched

SCRIPTS = pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])

DROP = """([files, target]) => {
  const given = new DataTransfer();
  for (const [name, content] of files) {
    given.items.add(new File([Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0))], name));
  }
  for (const kind of ["dragover", "drop"]) {
    document.querySelector(target).dispatchEvent(new DragEvent(kind, { dataTransfer: given, bubbles: true }));
  }
}"""


@pytest.fixture(scope="module")
def released(chromium, tmp_path_factory):
    """A folder with published means by group, as a file of Parquet, and counts by group."""
    folder = tmp_path_factory.mktemp("released")
    records = "".join(f"{age},{'ABC'[age % 3]}\n" for age in range(20, 80)) * 4
    (folder / "t.csv").write_text(f"age,party\n{records}", encoding="utf-8")
    by = ["--by", "party", "--groups", "A,B,C", "--epsilon", "1", "--ledger", "l"]
    for words in (
        ["mean", "age", "--lower", "0", "--upper", "100", "--step", "1", "--out", "means.parquet"],
        ["count", "--out", "counts.csv"],
    ):
        command = [sys.executable, "-m", "irisdp", "publish", "t.csv", *words, *by]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return folder


def files(folder, name):
    return [folder / name, folder / f"{name}.release.json"]


def drop(page, paths, target="main"):
    """Drop files on a part of the page, once its script is there."""
    page.wait_for_load_state()
    given = [(path.name, base64.b64encode(path.read_bytes()).decode()) for path in paths]
    page.evaluate(DROP, [given, target])


@pytest.mark.parametrize("target", ["main", "footer", "#field-release"])
def test_files_are_dropped_anywhere_and_a_row_is_pressed(browser, explorer, released, look, keep, target):
    with watched(browser, base_url=explorer, **look) as context:
        page = context.new_page()
        page.goto("/read")
        drop(page, files(released, "means.parquet"), target)
        page.locator(".headline", has_text="3 published answers").wait_for()
        rows = page.locator("#result tr:has(button.row)")
        assert rows.count() == 3
        assert page.locator("#result table button.row").all_inner_texts() == ["A", "B", "C"]
        rows.nth(1).locator("td").last.click()  # anywhere on the row
        page.locator(".headline", has_text="party B: published ").wait_for()
        assert page.locator("#field-row").input_value() == "2"
        assert page.locator("#result tr.chosen button").inner_text() == "B"
        assert page.evaluate("document.activeElement.innerText") == "B"
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        page.locator(".headline", has_text="party C: published ").wait_for()
        for part in page.locator("#result details > summary").all():
            part.click()
        assert grave_findings(page) == []
        assert sideways(page) <= 0
        keep(page, f"read means {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")


@SCRIPTS
def test_files_are_chosen_and_a_row_is_pressed(browser, explorer, released, script):
    """Without a script, the buttons send the form, and the files' text comes back with it."""
    with watched(browser, base_url=explorer, java_script_enabled=script) as context:
        page = context.new_page()
        page.goto("/read")
        page.locator("#field-upload").set_input_files(files(released, "counts.csv"))
        if not script:
            page.get_by_role("button", name="Read", exact=True).click()
        page.locator(".headline", has_text="3 published answers").wait_for()
        page.get_by_role("button", name="B, read row 2").click()
        page.locator(".headline", has_text="party B: published ").wait_for()
        assert page.locator("#field-row").input_value() == "2"
        answer = (released / "counts.csv").read_text("utf-8").splitlines()[2].split(",")
        said = page.locator(".headline").inner_text()
        assert said == f"party B: published {answer[1]}; the truth is probably {answer[2]} to {answer[3]} (95 %)."
        page.locator("#result details.more > summary", has_text="For analysts").click()
        assert page.get_by_text("Best guess", exact=True).is_visible()


@SCRIPTS
def test_the_example_is_filled_in_by_a_link(browser, explorer, script, look, keep):
    with watched(browser, base_url=explorer, java_script_enabled=script, **look) as context:
        page = context.new_page()
        page.goto("/read")
        page.get_by_role("link", name="Fill in an example").click()
        page.locator(".headline", has_text="4 published answers").wait_for()
        page.get_by_role("button", name="West, read row 4").click()
        page.locator(".headline", has_text="region West: published ").wait_for()
        if script:
            assert grave_findings(page) == []
        assert sideways(page) <= 0
        keep(page, f"read example {'phone' if look['phone'] else 'desktop'}{' dark' if look['dark'] else ''}")


def test_files_that_do_not_belong_together_are_refused_beside_their_field(browser, explorer, released):
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto("/read")
        for paths, field, said in (
            ([released / "counts.csv", released / "means.parquet.release.json"], "answers", "is not the one"),
            ([*released.glob("*.release.json")], "release", "stands for several release files"),
        ):
            context.watch.expected.append("400 (Bad Request)")
            drop(page, paths)
            page.locator(f"#field-{field}-wrong", has_text=said).wait_for()


def test_one_file_after_the_other_is_as_good(browser, explorer, released):
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto("/read")
        answers, release = files(released, "counts.csv")
        drop(page, [answers])
        page.get_by_text("Now add the release file").wait_for()
        drop(page, [release])
        page.locator(".headline", has_text="3 published answers").wait_for()
        assert json.loads(page.locator("#field-release").input_value())["question"] == "count by party"
