"""Pages of somebody else, open in the same browser: the explorer neither answers them nor runs anything of theirs."""

import http.server
import threading
from urllib.parse import urlencode, urlsplit

import pytest

from support.watched import REBOUND, watched

HEARD = []
"""What the browser sent to somebody else: paths, cookies and where it came from."""


class Quiet(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        HEARD.append((self.path, self.headers["Cookie"], self.headers["Referer"]))
        page = b"<!doctype html><html lang=en><title>Somebody else</title><body><h1>Somebody else</h1></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *words):
        pass


@pytest.fixture(scope="module")
def port_of_others(chromium):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["127.0.0.1", "localhost", REBOUND])
def stranger(request, browser, explorer, port_of_others):
    """A page at another port of this machine, at another name of it, and at a name that was pointed at it."""
    with watched(browser) as context:
        context.watch.expected.append("")  # browsers say on the console that they were refused
        page = context.new_page()
        page.goto(f"http://{request.param}:{port_of_others}/")
        page.seen = heard(context, page)
        yield page


def heard(context, page):
    """Return a list to which the status of every answer is added as it comes, of those too that the page never gets."""
    statuses = []
    session = context.new_cdp_session(page)
    session.on("Network.responseReceivedExtraInfo", lambda told: statuses.append(told["statusCode"]))
    session.send("Network.enable")
    return statuses


def ask(page, what):
    """Let the page try something that ends with a word: what it read, or that it was refused."""
    return page.evaluate(f"(async () => {{ try {{ {what} }} catch (error) {{ return 'refused'; }} }})()")


ASKED = {
    "a reading": "const answer = await fetch('{url}'); return await answer.text();",
    "an answer nobody reads": "const answer = await fetch('{url}', {{mode: 'no-cors'}}); return await answer.text();",
    "a plain form": "const answer = await fetch('{url}', {{mode: 'no-cors', method: 'POST', body: "
    "new URLSearchParams({{query: 'count'}})}}); return await answer.text();",
    "a form with a file": "const form = new FormData(); form.set('file', new Blob(['{{}}']), 'a.json'); const answer = "
    "await fetch('{url}', {{mode: 'no-cors', method: 'POST', body: form}}); return await answer.text();",
    "JSON": "const answer = await fetch('{url}', {{method: 'POST', body: '{{}}', headers: "
    "{{'Content-Type': 'application/json'}}}}); return await answer.text();",
    "a beacon": "navigator.sendBeacon('{url}', 'a=b'); await new Promise(done => setTimeout(done, 500)); return '';",
}


@pytest.mark.parametrize("path", ["/", "/ask", "/design", "/check", "/read", "/ask/result", "/static/explorer.js"])
def test_nothing_is_read_or_started(stranger, explorer, path):
    for what, tried in ASKED.items():
        read = ask(stranger, tried.format(url=explorer + path))
        assert read in ("refused", ""), what
    assert len(stranger.seen) >= 5 and set(stranger.seen) == {403}


@pytest.mark.parametrize("path", ["/", "/ask", "/static/explorer.js", "/static/explorer.css", "/static/iris.svg"])
def test_nothing_is_embedded(stranger, explorer, path):
    for element in ("img src", "script src", "link rel=stylesheet href", "object data"):
        assert embedded(stranger, f"<{element}='{explorer}{path}'>") == "refused", element
    assert len(stranger.seen) >= 3 and set(stranger.seen) == {403}


def embedded(page, markup):
    """Say whether an element of theirs loads."""
    return page.evaluate(
        """markup => new Promise(done => {
            const range = document.createRange();
            range.selectNode(document.body);
            const part = range.createContextualFragment(markup).firstChild;
            part.onload = () => done("loaded");
            part.onerror = () => done("refused");
            document.body.append(part);
            setTimeout(() => done("refused"), 3000);
        })""",
        markup,
    )


def test_no_page_stands_in_a_frame(stranger, explorer):
    stranger.evaluate(
        "url => { const frame = document.createElement('iframe'); frame.src = url; document.body.append(frame); }",
        f"{explorer}/ask",
    )
    stranger.wait_for_timeout(1000)
    framed = [frame for frame in stranger.frames if frame is not stranger.main_frame]
    assert all("ε" not in frame.content() for frame in framed)
    assert set(stranger.seen) == {403}


def test_a_form_of_theirs_is_refused(stranger, explorer):
    """As a whole page: a person would see why."""
    stranger.evaluate(
        """url => {
            const form = document.createElement("form");
            form.method = "post";
            form.action = url;
            document.body.append(form);
            form.submit();
        }""",
        f"{explorer}/check",
    )
    stranger.wait_for_url(f"{explorer}/check")
    assert stranger.seen[:1] == [403]
    assert "somebody else" in stranger.locator("main").inner_text()


def test_a_window_they_open_is_not_theirs(stranger, explorer):
    """Links may be followed from anywhere; who opened the page can read nothing of it, and steers nothing in it."""
    with stranger.context.expect_page() as opening:
        stranger.evaluate("url => { window.opened = window.open(url); }", f"{explorer}/ask?size=77")
    page = opening.value
    page.wait_for_load_state()
    assert page.locator("#field-size").input_value() == "77"
    assert page.evaluate("window.opener === null")
    assert ask(stranger, "return String(window.opened.document.title);") in ("refused", "")


def test_no_socket_opens(stranger, explorer):
    tried = "await new Promise((open, fail) => {{ const socket = new WebSocket('{}/'); socket.onopen = open; "
    tried += "socket.onerror = fail; }}); return 'opened';"
    assert ask(stranger, tried.format(explorer.replace("http", "ws"))) == "refused"


@pytest.mark.parametrize("path", ["/", "/ask", "/static/explorer.js", "/health"])
def test_a_rebound_name_is_told_to_go_away(browser, explorer, path):
    """DNS rebinding: the browser takes the page for the attacker's own, so only the name it asked for tells."""
    with watched(browser) as context:
        context.watch.expected.append("")  # nor does it get style and script
        page = context.new_page()
        answer = page.goto(f"http://{REBOUND}:{urlsplit(explorer).port}{path}")
        assert answer.status == 421
        assert "127.0.0.1" in page.locator("main").inner_text()


def test_what_a_link_says_is_only_text(browser, explorer):
    """A link may say anything in any field of any room: it is shown, and nothing of it is run."""
    hostile = (
        "\"'></textarea></script><script>document.title='run'</script><img src=x onerror=document.title='run'>\u202e"
    )
    with watched(browser, base_url=explorer) as context:
        page = context.new_page()
        page.goto("/")
        rooms = page.locator("nav a").evaluate_all("links => links.map(link => link.getAttribute('href'))")
        assert "ask" in rooms
        context.watch.expected += ["400 (Bad Request)", "422 (Unprocessable"]
        for room in rooms:
            page.goto(room)
            names = page.locator("form [name]").evaluate_all("fields => fields.map(field => field.name)")
            for said in [*({name: hostile} for name in dict.fromkeys(names)), dict.fromkeys(names, hostile)]:
                page.goto(f"{room}?{urlencode(said)}", wait_until="load")
                assert "run" not in page.title()
                assert page.locator("main img[src=x]").count() == page.locator("main script:not([src])").count() == 0


def test_the_cookie_of_a_private_table_reaches_no_other_port(private, port_of_others):
    """A browser sends a cookie to every port of its host: another user of this machine may listen at one."""
    page, _ = private
    secret = urlsplit(page.url).path
    assert [cookie["path"] for cookie in page.context.cookies()] == [secret] and len(secret) > 40
    HEARD.clear()
    for path in ("/", "/table", "/?token=x", f"/x{secret}", secret.rstrip("/")):
        page.goto(f"http://127.0.0.1:{port_of_others}{path}")
        page.evaluate("path => fetch(path).then(answer => answer.text())", path)
    assert len(HEARD) >= 10 and {cookie for _, cookie, _ in HEARD} == {None}
    page.goto(f"http://127.0.0.1:{port_of_others}{secret}")
    assert HEARD[-1][1].startswith("iris="), "who knows the secret path is sent it, so this test would notice"


def test_no_page_tells_another_port_its_address(private, port_of_others):
    page, _ = private
    secret = urlsplit(page.url).path
    HEARD.clear()
    page.evaluate("url => { location.href = url; }", f"http://127.0.0.1:{port_of_others}/left")
    page.wait_for_url("**/left")
    assert HEARD and all(came is None for _, _, came in HEARD)
    assert secret not in page.evaluate("document.referrer + history.state")


@pytest.mark.parametrize("script", [True, False], ids=["with a script", "without a script"])
def test_every_room_of_a_private_table_works_below_its_path(private, browser, script):
    """Style, links, forms and what they lead to; a request that is refused would be on the console."""
    page, _ = private
    context = page.context if script else None
    with watched(browser, java_script_enabled=script) as other:
        other.add_cookies(page.context.cookies())
        home = page.url
        page = (context or other).new_page()
        page.goto(home)
        names = page.get_by_role("navigation").get_by_role("link").all_inner_texts()
        for name in names:
            page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
            page.get_by_role("heading", name=name, exact=True, level=1).wait_for()
        page.goto(home + "table/check")
        page.get_by_role("button", name="Check this table").click()
        page.get_by_text("in 2 records").wait_for()
        assert page.url.startswith(home)
        page.goto(home + "ask?size=77&within=3")
        page.locator("#result img").first.wait_for()
        for image in page.locator("#result img").all():
            assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") > 0
        with page.expect_download() as saved:
            page.locator("#result a[download]").first.click()
        assert saved.value.path().stat().st_size > 0
