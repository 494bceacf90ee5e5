"""A browser for these tests, and an explorer for it to open; without IRISDP_BROWSER=1 every test is skipped by name."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from support.watched import REBOUND, Nowhere, watched

SOURCE = Path(__file__).parents[2]
SCREENSHOTS = SOURCE / "build" / "screenshots"
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="session")
def chromium():
    """Return the path of a Chromium of this machine."""
    if os.environ.get("IRISDP_BROWSER") != "1":
        pytest.skip("tests of pages in a browser are run by `make browser` (IRISDP_BROWSER=1)")
    pytest.importorskip("playwright", reason='needs Playwright: pip install "irisdp[browser]"')
    pytest.importorskip("axe_playwright_python", reason='needs axe-core: pip install "irisdp[browser]"')
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        pytest.skip("needs Chromium, which `make browser` installs where it may (apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def nowhere(chromium):
    """Return the proxy that leads nowhere."""
    proxy = Nowhere()
    yield proxy
    proxy.close()


@pytest.fixture(autouse=True)
def nothing_leaves(nowhere):
    """Check after each test that no page asked that proxy for anything, in whatever way."""
    yield
    assert nowhere.of_pages() == [], "the browser asked for something beyond this machine"


@pytest.fixture(scope="session")
def browser(chromium, nowhere):
    """Return the browser. Of names, only this machine's have addresses, and one that an attacker points at it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(
            executable_path=chromium,
            args=[
                "--no-sandbox",
                "--disable-dev-shm-usage",
                "--disable-extensions",
                "--disable-features=AutofillServerCommunication,ComponentUpdater,MediaRouter,OptimizationHints,Translate",
                f"--proxy-server={nowhere.address}",
                f"--proxy-bypass-list={REBOUND}",
                f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
            ],
        )
        yield opened
        opened.close()


@pytest.fixture(params=["light desktop", "dark desktop", "light phone", "dark phone"])
def look(request):
    """Return how a page is looked at: the options of `watched`."""
    return {"dark": "dark" in request.param, "phone": "phone" in request.param}


@pytest.fixture
def keep(request):
    """Return what keeps a screenshot of a whole page under a name, in build/screenshots."""

    def shoot(page, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        path = SCREENSHOTS / (re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".png")
        page.screenshot(path=path, full_page=True)
        return path

    return shoot


def start_explorer(folder, *words):
    """Start an explorer in a process of its own, on a port that is free; return it and the address that it shows."""
    process = subprocess.Popen(
        [sys.executable, "-m", "irisdp", "explore", *words, "--no-browser", "--port", "0"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    said = []
    for line in process.stdout:
        said.append(line)
        if found := re.search(r"http://127\.0\.0\.1:\d+/\S*", line):
            return process, found[0].rstrip("/")
    raise AssertionError(f"the explorer ended with status {process.wait()}: {''.join(said)}")


@pytest.fixture(scope="session")
def start(chromium):
    """Return what starts an explorer; see `start_explorer`."""
    return start_explorer


@pytest.fixture(scope="session")
def explorer(chromium, tmp_path_factory):
    """Return the address of an explorer that runs in an empty folder."""
    pytest.importorskip("starlette", reason='needs the explorer: pip install "irisdp[explorer]"')
    folder = tmp_path_factory.mktemp("explorer")
    process, address = start_explorer(folder)
    yield address
    process.terminate()
    process.communicate(timeout=20)
    assert list(folder.iterdir()) == [], "the explorer wrote a file"


@pytest.fixture
def plan():
    """Return the plan file beside the table of `private`; a file of tests may have another."""
    return ""


@pytest.fixture
def private(browser, tmp_path, plan):
    """Return a watched page that an explorer of a table was opened in, with the table's path."""
    table = tmp_path / "visits.csv"
    table.write_text("id,ward\n1,north\n2,south\n", encoding="utf-8")
    if plan:
        table.with_name("visits.plan.toml").write_text(plan, encoding="utf-8")
    process, address = start_explorer(tmp_path, table.name)
    try:
        with watched(browser) as context:
            page = context.new_page()
            page.goto(address)
            page.get_by_role("navigation").get_by_role("link", name="Table").wait_for()
            yield page, table
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture
def page(browser, explorer):
    """Return a page of a watched context whose addresses are the explorer's."""
    with watched(browser, base_url=explorer) as context:
        yield context.new_page()


@pytest.fixture(scope="session")
def release(chromium, tmp_path_factory):
    """What a publisher handed over: the text of a sidecar."""
    folder = tmp_path_factory.mktemp("published")
    (folder / "table.csv").write_text("value\n1\n2\n3\n", encoding="utf-8")
    words = ["publish", "table.csv", "count", "--epsilon", "1", "--out", "out.csv", "--ledger", "l.db"]
    subprocess.run([sys.executable, "-m", "irisdp", *words], cwd=folder, check=True, capture_output=True)
    return (folder / "out.csv.release.json").read_text(encoding="utf-8")
