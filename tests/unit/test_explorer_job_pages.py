"""Design and Read as pages: what is pasted comes back as text only, long designs are watched and cancelled."""

import html
import json
import re
import time

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("httpx2", reason="httpx2 is not installed: `make test` installs it")
pytest.importorskip("altair", reason="altair is not installed: `make test` installs it")

from starlette.testclient import TestClient

from irisdp import Privacy, design
from irisdp._explorer import app, interpret, pages
from irisdp._explorer import design as design_room
from irisdp._explorer.app import create_app
from irisdp._explorer.dispatch import WorkDispatcher

CUBE = "000: 001 010 100\n011: 001 010 111\n101: 001 100 111\n110: 010 100 111"
MAJORITY = "000: no\n001: no\n010: no\n100: no\n*: yes"
HOSTILE = '</script><img src=x onerror="alert(1)">\u202e'
SLOW = {"kind": "consumer", "n": "100", "delta": "1/1000", "epsilon": "1/10"}
PATIENCE = 120


@pytest.fixture
def explorer(monkeypatch):
    made = []

    def open_with(**options):
        lanes = WorkDispatcher(**options)
        made.append(lanes)
        for module in (app, design_room, interpret):
            name = "lanes" if module is app else "answer"
            monkeypatch.setattr(module, name, (lambda: lanes) if module is app else lanes.answer)
        return TestClient(create_app(), base_url="http://127.0.0.1:8715", client=("127.0.0.1", 5)), lanes

    yield open_with
    for lanes in made:
        lanes.close()


def headline(page):
    found = re.search(r'class="headline[^"]*"[^>]*>(.*?)</p>', page.text)
    return html.unescape(found[1])


def test_the_optimum_for_a_pasted_graph_and_its_files(explorer):
    client, _ = explorer(at_once=PATIENCE)
    page = client.post("/design", data={"graph": CUBE, "colors": MAJORITY})
    assert page.status_code == 200
    assert headline(page).startswith("Proved best: mean probability of missing the first choice 0.226440571;")
    link = html.unescape(re.search(r'href="(design\?(?!example)[^"]*)"', page.text)[1])
    assert headline(client.get(link)) == headline(page)
    address = re.search(r'href="(files/\w+/mechanism.json)"', page.text)[1]
    assert client.get(address).json()["format"] == "irisdp/mechanism/1"
    assert re.search(r'"pictures/\w+\.svg"', page.text)


def test_names_with_markup_are_shown_as_text(explorer):
    client, _ = explorer(at_once=PATIENCE)
    said = {"graph": json.dumps([[HOSTILE, "b"]]), "colors": json.dumps({HOSTILE: HOSTILE, "b": "y"})}
    page = client.post("/design", data=said)
    assert page.status_code == 200, page.text
    assert "<img src=x" not in page.text
    assert "</script><" not in page.text.replace('draw.js" defer></script><', "").replace('js" defer></script><', "")
    # Only where it was typed does it come back as it is, and no letter there turns the page around.
    outside = re.sub(r"<textarea.*?</textarea>", "", page.text, flags=re.DOTALL)
    assert "\u202e" not in outside
    wrong = client.post("/design", data={"graph": f"a {HOSTILE} b c"})
    assert wrong.status_code == 400
    assert "<img src=x" not in wrong.text


@pytest.mark.parametrize("said", [
    {"graph": "{"},
    {"graph": "a a a"},
    {"graph": "\n".join(f"{k} {k + 1}" for k in range(40_000)), "colors": "*: x"},
    {"family": "path", "family_n": "1000000", "colors": "*: x"},
    {"kind": "consumer", "n": "nan"},
    {"kind": "spec", "spec": "[" * 100_000},
    {"kind": "</script>"},
])  # fmt: skip
def test_what_cannot_be_designed_gets_one_line_on_the_page(explorer, said):
    client, _ = explorer(at_once=PATIENCE)
    page = client.post("/design", data=said)
    assert page.status_code == 400
    assert page.text.count('class="wrong-note"') == 1


def test_a_long_design_is_watched_and_shown(explorer):
    client, _ = explorer(at_once=0.01)
    page = client.post("/design", data={"kind": "plurality", "categories": "3"}, follow_redirects=False)
    assert page.status_code == 303
    address = page.headers["location"]
    progress = client.get(address)
    end = time.monotonic() + PATIENCE
    while "at work" in progress.text:
        assert progress.status_code == 200
        assert "Cancel" in progress.text
        assert "<noscript><meta http-equiv" in progress.text
        assert time.monotonic() < end
        time.sleep(0.2)
        progress = client.get(address)
    assert headline(progress).startswith("Proved best: mean probability of a wrong answer 0.1974")
    assert "data-over" in client.get(f"{address}/state").text
    # Whoever asks again gets what is there.
    assert headline(client.post("/design", data={"kind": "plurality", "categories": "3"})) == headline(progress)


def test_a_followed_link_starts_no_long_work(explorer):
    """A page of somebody else could send a person here by a link: ten minutes of work began with that."""
    client, lanes = explorer(at_once=0.01)
    page = client.get("/design", params=SLOW, follow_redirects=False)
    assert page.status_code == 200
    assert "Press Design to start it" in page.text and 'value="1/1000"' in page.text
    assert client.get("/design/result", params=SLOW, follow_redirects=False).status_code == 200
    assert not lanes.long._jobs, "nothing was started"
    assert client.post("/design", data=SLOW, follow_redirects=False).status_code == 303
    assert len(lanes.long._jobs) == 1


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_link_from_elsewhere_fills_in_a_form_and_no_more(explorer, site):
    client, lanes = explorer(at_once=PATIENCE)
    followed = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    for said in ({"kind": "geometric", "n": "3"}, {"graph": CUBE, "colors": MAJORITY}):
        page = client.get("/design", params=said, headers=followed)
        assert "Press Design if you want that" in page.text and "headline" not in page.text
    assert not lanes.quick._jobs and not lanes.long._jobs
    assert "from elsewhere" not in client.get("/design", headers=followed).text
    assert "headline" in client.get("/design", params=said, headers={"sec-fetch-site": "same-origin"}).text


def test_a_long_design_is_cancelled_and_others_go_on(explorer):
    client, lanes = explorer(at_once=0.5)
    address = client.post("/design", data=SLOW, follow_redirects=False).headers["location"]
    state = client.get(f"{address}/state")
    assert "seconds so far" in state.text
    page = client.post(f"{address}/cancel")
    assert page.status_code == 200
    assert "cancelled; press the button again" in page.text
    assert 'value="100"' in page.text
    lanes.quick.seconds = PATIENCE
    assert client.post("/design", data={"kind": "geometric", "n": "3"}).status_code == 200


def test_a_design_beyond_its_time_says_so(explorer):
    client, _ = explorer(at_once=0.5, seconds=0.5)
    address = client.post("/design", data=SLOW, follow_redirects=False).headers["location"]
    end = time.monotonic() + PATIENCE
    while "at work" in (page := client.get(address)).text:
        assert time.monotonic() < end
        time.sleep(0.2)
    assert "stopped after 0.5 seconds" in page.text


def test_too_many_designs_are_refused_in_words(explorer):
    client, lanes = explorer(at_once=0.2)
    lanes.long._waiting = 0
    page = client.post("/design", data=SLOW)
    assert page.status_code == 503
    assert "Too busy" in page.text


def test_a_job_that_nobody_knows_is_gone(explorer):
    client, _ = explorer()
    assert client.get("/jobs/nothing").status_code == 404
    assert client.post("/jobs/nothing/cancel").status_code == 404
    assert client.get(f"/jobs/{pages.__name__}/state").status_code == 404


def test_a_release_is_read_and_stays_out_of_links(explorer):
    client, _ = explorer(at_once=PATIENCE)
    document = json.dumps(design.geometric(10, Privacy(epsilon=1)).to_document())
    page = client.post("/read", data={"value": "7", "at_least": "2"}, files={"upload": ("m.json", document)})
    assert page.status_code == 200
    assert headline(page).startswith("Published 7; the truth is probably ")
    link = html.unescape(re.search(r'href="(read\?(?!example)[^"]*)"', page.text)[1])
    assert link == "read?value=7&at_least=2"
    assert "but for: release file" in page.text
    part = client.post("/read/result", data={"release": document, "value": "7", "at_least": "2"})
    assert headline(part) == headline(page)
    for name in ("reading.json", "release.json"):
        assert client.get(re.search(rf'href="(files/\w+/{name})"', page.text)[1]).status_code == 200
