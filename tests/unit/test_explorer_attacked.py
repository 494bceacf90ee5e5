"""The explorer of a private table under attack, over real sockets: nothing given, nothing charged, nothing changed."""

import contextlib
import html
import json
import os
import re
import socket
import stat
import time
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("starlette", reason="starlette is not installed: `make test` installs it")
pytest.importorskip("uvicorn", reason="uvicorn is not installed: `make test` installs it")

from irisdp import Ledger
from irisdp._explorer.server import _allow_files, _BrowserFile
from support.explorers import children, exploring
from support.sweeps import tried

MARKS = ("quaxil", "zomber", "8467113")
"""Values of records, which stand nowhere else."""
TABLE = f"ward,age\nnorth,30\nsouth,{MARKS[2]}\n{MARKS[0]},52\n{MARKS[1]},7\n"
PLAN = """
[datasets.visits]
data = "visits.csv"
[[questions]]
query = "count"
epsilon = 0.5
out = "visits-answers/count.csv"
[[questions]]
query = "histogram ward"
categories = "north,south"
epsilon = 0.25
out = "visits-answers/wards.csv"
"""


def table(folder, text=TABLE):
    """Return a table beside a plan about it."""
    folder.mkdir()
    (folder / "visits.plan.toml").write_text(PLAN)
    (folder / "visits-answers").mkdir()
    (folder / "visits.csv").write_text(text)
    return folder / "visits.csv"


@pytest.fixture(scope="module")
def explorer(tmp_path_factory):
    data = table(tmp_path_factory.mktemp("explorer") / "work")
    with exploring(data) as served:
        served.data = data
        yield served


@pytest.fixture(autouse=True)
def nothing_is_charged(request):
    """Check after each attack that no file changed or came, the ledger among them."""
    if "explorer" not in request.fixturenames:
        yield
        return
    explorer = request.getfixturevalue("explorer")
    before = files(explorer.data.parent)
    yield
    assert files(explorer.data.parent) == before


def files(folder):
    """Return what lies in a folder, but for what the explorer wrote on its standard error."""
    return {file: file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.name != "stderr.log"}


class Page(HTMLParser):
    """The links of a page, and its forms with their fields."""

    def __init__(self, text):
        super().__init__()
        self.links, self.forms = set(), []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        if tag == "a" and named.get("href"):
            self.links.add(named["href"].partition("#")[0].removeprefix("./"))
        elif tag == "form":
            self.forms.append((named["action"], {}))
            if named.get("data-live"):
                self.forms.append((named["data-live"], self.forms[-1][1]))
        elif tag in ("input", "select", "textarea", "button") and self.forms and named.get("name"):
            self.forms[-1][1].setdefault(named["name"], named.get("value") or "")


OF_NO_TABLE = ("ask", "design", "check", "read", "pictures/")
"""Beginnings of addresses that say nothing of the table, or take long to draw."""


def crawled(explorer, *, but=OF_NO_TABLE):
    """Return every page that links lead to, and every address that a form is sent to."""
    ahead, pages, forms = [""], {}, {}
    while ahead:
        address = ahead.pop()
        status, headers, text = explorer.get(address)
        assert status in (200, 503), (address, text)
        pages[address] = text
        if headers["content-type"].startswith("text/html") and "content-disposition" not in headers:
            page = Page(text)
            forms |= dict(page.forms)
            ahead += [link for link in page.links if not link.startswith(but) and link not in (*pages, *ahead)]
    return pages, forms


@pytest.fixture(scope="module")
def addresses(explorer):
    """Return the addresses of all rooms, of their parts and of all that their forms are sent to, with the fields."""
    pages, forms = crawled(explorer, but=("pictures/",))
    rooms = {address.partition("?")[0] for address in pages if not address.startswith(("files/", "pictures/"))}
    assert {"table", "ask", "read"} <= rooms and {"table/check", "publish", "plan"} <= set(forms)
    more = {"jobs/0", "jobs/0/state", "jobs/0/cancel", "files/0/a", "pictures/0.svg", "nothing"}
    return {address: {} for address in rooms | more} | forms


def refused(explorer, method, path, body=None, statuses=(403,), **headers):
    """Send a request, and check that the answer tells nothing of the table, of the pages and of the secrets."""
    status, answered, text = explorer.ask(method, path, body, **headers)
    assert status in statuses, (path, text)
    assert "set-cookie" not in answered
    said = (html.unescape(text) + str(answered)).replace(path.lstrip("/"), "")  # its own words
    assert not any(word in said for word in (*explorer.secrets, "visits", "Publish", *MARKS)), (path, said)


def everywhere(explorer, addresses, statuses=(403,), *, root=None, **headers):
    """Try every address with GET, POST and HEAD in one way, and check that nothing is given."""
    place = explorer.root if root is None else root
    for address, fields in addresses.items():
        for method in ("GET", "POST", "HEAD"):
            body = dict(fields) if method == "POST" else None
            refused(explorer, method, f"{place}/{address}", body, statuses, **headers)


# Other users of this machine, who reach the port.


def test_without_the_path_or_the_cookie_nothing_is_given(explorer, addresses):
    everywhere(explorer, addresses, root="")
    everywhere(explorer, addresses, root="", cookie=explorer.cookie)
    everywhere(explorer, addresses, cookie="iris=" + "x" * 43)
    everywhere(explorer, addresses)


def test_neither_path_cookie_nor_token_is_guessed_by_letters(explorer):
    """As many letters right as there are but one, and more letters than there are: all are refused alike."""
    right, value = explorer.root, explorer.cookie.partition("=")[2]
    for length in range(0, 43, tried(14, 1)):
        for wrong in (value[:length], value[:length] + "~" * (43 - length), value + value[:length] + "~"):
            refused(explorer, "GET", f"{right}/", cookie=f"iris={wrong}")
            refused(explorer, "GET", f"/{wrong}/", cookie=explorer.cookie)
            refused(explorer, "GET", f"/?token={wrong}")
    for again in (explorer.token, f"{explorer.token}&token=x"):
        refused(explorer, "GET", f"/?token={again}")  # it worked once


def test_the_secrets_stand_in_no_list_of_processes_and_no_file(explorer, addresses):
    """Every user of a machine can read command lines; another one of the group may read files."""
    explorer.post("table/check", delimiter="")
    running = {explorer.process.pid, *children(explorer.process)}
    assert len(running) >= 2
    for pid in running:
        with contextlib.suppress(OSError):
            line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
            assert not any(secret in line for secret in explorer.secrets), line
    for content in files(explorer.data.parent).values():
        assert not any(secret.encode() in content for secret in explorer.secrets)


def test_the_file_that_opens_the_browser_is_the_users_alone():
    file = _BrowserFile()
    path = Path(file.write("http://127.0.0.1:1/?token=x").removeprefix("file://"))
    try:
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    finally:
        file.remove()


def test_it_listens_on_the_loopback_only(explorer):
    listening = Path("/proc/net/tcp")
    if not listening.exists():
        pytest.skip("who listens is read from /proc/net/tcp")
    lines = [line.split() for line in listening.read_text().splitlines()[1:]]
    found = [line[1].split(":") for line in lines if line[3] == "0A"]
    assert [place for place, port in found if int(port, 16) == explorer.port] == ["0100007F"]


# Pages of others in the same browser, which brings the cookie to what they ask for if they know the path.

FOREIGN = (
    "http://evil.example",
    "null",
    "https://127.0.0.1:{port}",
    "http://127.0.0.1:1",
    "http://localhost",
    "file://",
)


@pytest.mark.parametrize("origin", FOREIGN)
def test_pages_of_others_are_refused(explorer, addresses, origin):
    everywhere(explorer, addresses, cookie=explorer.cookie, origin=origin.format(port=explorer.port))


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_pages_of_others_load_is_refused(explorer, addresses, site):
    for mode, dest in (("no-cors", "image"), ("cors", "empty"), ("navigate", "iframe")):
        told = {"sec_fetch_site": site, "sec_fetch_mode": mode, "sec_fetch_dest": dest}
        everywhere(explorer, addresses, cookie=explorer.cookie, **told)


def test_a_form_of_others_that_is_sent_as_a_whole_page_is_refused(explorer, addresses):
    told = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    for address, fields in addresses.items():
        path = f"{explorer.root}/{address}"
        refused(explorer, "POST", path, dict(fields), cookie=explorer.cookie, **told)


@pytest.mark.parametrize("name", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:{port}.evil.example"])
def test_a_rebound_name_is_refused(explorer, addresses, name):
    everywhere(explorer, addresses, (421,), cookie=explorer.cookie, host=name.format(port=explorer.port))


# Forms that are sent again, made up, or come from another explorer.


def test_no_link_publishes_and_no_form_does_that_was_never_shown(explorer):
    offer = explorer.offer()
    assert explorer.get(f"publish?offer={offer}")[0] == 200, "a link presses nothing"
    for wrong in ("", "x", offer[:-1], offer + "x", offer.swapcase(), "../publish", "\0", offer + "\r\n", "1" * 5000):
        status, _, text = explorer.post("publish", offer=wrong)
        assert status == 200 and "Nothing was charged by this press" in text
    assert explorer.post("publish")[0] == 200


def test_the_form_of_another_explorer_is_refused(explorer, tmp_path):
    """Of the same table even: only the explorer that showed a charge takes it."""
    with exploring(table(tmp_path / "other")) as other:
        for one, another in ((explorer, other), (other, explorer)):
            status, _, text = one.post("publish", offer=another.offer())
            assert status == 200 and "Nothing was charged by this press" in text
            everywhere(one, {"publish": {"offer": one.offer()}, "": {}}, cookie=another.cookie)
            everywhere(one, {"publish": {"offer": one.offer()}, "": {}}, root=another.root, cookie=one.cookie)
        assert (
            not (other.data if hasattr(other, "data") else tmp_path / "other" / "visits.csv")
            .with_suffix(".ledger")
            .exists()
        )


def test_a_form_that_shows_another_plan_charges_nothing(tmp_path):
    """The plan was changed after it was shown: in another window, or in the file."""
    data = table(tmp_path / "work")
    with exploring(data) as served:
        offer = served.offer()
        question = next(link for link in Page(served.get("plan")[2]).links if re.fullmatch(r"plan/questions/\d+", link))
        fields = dict(Page(served.get(question)[2]).forms[0][1])
        served.post("plan", do=f"delete-{question.rpartition('/')[2]}")
        status, _, text = served.post("publish", offer=offer)
        assert status == 200 and "Nothing was charged by this press" in text and fields
        assert not data.with_suffix(".ledger").exists()


# What is sent: too much, too many, in other forms, by too many.

BOUNDARY = "----x"


def multipart(*parts):
    lines = []
    for name, file, content in parts:
        named = f'; filename="{file}"' if file else ""
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n'
        lines.append(head.encode() + content + b"\r\n")
    return b"".join(lines) + f"--{BOUNDARY}--\r\n".encode()


UPLOADS = {
    "a file for no field": multipart(("x", "../../evil.csv", b"a\n1\n")),
    "a path as a field": multipart(("../../evil", "", b"1"), ("offer", "/etc/passwd", b"x")),
    "no text": multipart(("offer", "", bytes(range(256))), ("do", "", b"\xff\xfe")),
    "many": multipart(*((f"x{number}", "", b"1") for number in range(2000))),
    "many files": multipart(*((f"x{number}", f"{number}.csv", b"1") for number in range(200))),
    "large": multipart(("offer", "large.csv", b"1" * (2 << 20))),
    "no end": multipart(("offer", "", b"x"))[:-20],
    "no form": b"{}",
}


@pytest.mark.parametrize("upload", UPLOADS)
def test_uploads_are_answered_in_words_and_written_nowhere(explorer, addresses, upload):
    for address in addresses:
        headers = {"content_type": f"multipart/form-data; boundary={BOUNDARY}", "cookie": explorer.cookie}
        status, _, text = explorer.ask("POST", f"{explorer.root}/{address}", UPLOADS[upload], **headers)
        assert status in (200, 303, 400, 404, 405, 413, 422), (address, status, text)
        assert "internal error" not in text and "Traceback" not in text, (address, text)


def test_two_thousand_silent_connections_keep_the_owner_in_and_others_out(explorer):
    if _allow_files() < 3000:
        pytest.skip("this system allows too few open files")
    with contextlib.ExitStack() as held:
        for _ in range(2050):
            held.enter_context(socket.create_connection(("127.0.0.1", explorer.port), timeout=30))
        start = time.monotonic()
        assert explorer.get("table")[0] == 200
        assert time.monotonic() - start < 12
        refused(explorer, "GET", f"{explorer.root}/table")


# True values.


def plain(text, explorer):
    """Return a page without what is random in it, and without the folder of the table."""
    for secret in explorer.secrets:
        text = text.replace(secret, "SECRET")
    text = text.replace(str(explorer.data.parent), "FOLDER")
    text = re.sub(r'(name="offer" value=)"[^"]+"', r"\1OFFER", text)
    return re.sub(r"\b[0-9a-f]{32}\b", "KEY", text)


def test_pages_do_not_depend_on_records(tmp_path):
    """Two tables with one header, of which one has no record and the other ten thousand: the same pages."""
    many = "ward,age\n" + "".join(f"{MARKS[number % 2]},{number}\n" for number in range(10_000))
    seen = []
    for name, text in (("few", "ward,age\n"), ("many", many)):
        data = table(tmp_path / name, text)
        with exploring(data) as served:
            served.data = data
            pages, forms = crawled(served)
            asked = {address: fields for address, fields in forms.items() if address not in ("table/check", "publish")}
            parts = {address: served.post(address, **fields)[2] for address, fields in sorted(asked.items())}
            seen.append({at: plain(text, served) for at, text in [*pages.items(), *parts.items()]})
    few, many = ({at: text for at, text in one.items() if "KEY" not in plain(at, served)} for one in seen)
    assert few == many
    assert not any(mark in text for text in many.values() for mark in MARKS)


def test_no_value_reaches_a_page_a_log_or_a_plan_but_the_answers_do(tmp_path):
    data = table(tmp_path / "work")
    with exploring(data) as served:
        served.data = data
        said = [served.wait(served.press(served.offer()))]
        pages, _ = crawled(served, but=())
        said += pages.values()
        served.process.terminate()
        said.append(served.process.communicate(timeout=30)[0])
    assert Ledger(data.with_suffix(".ledger")).spent.epsilon == 3 / 4
    said += [file.read_text("utf-8", "replace") for file in data.parent.rglob("*") if file.is_file() and file != data]
    assert len(said) > 10
    for text in said:
        assert not any(mark in text for mark in MARKS), text


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="reads /proc")
def test_no_page_reads_the_records(tmp_path):
    """What the processes of an explorer read grows with no table, so neither does the time of an answer."""
    line, most = "north,30\n", 192 << 20
    read = []
    for name, times in (("small", 1), ("large", most // len(line))):
        with exploring(table(tmp_path / name, "ward,age\n" + line * times)) as served:
            crawled(served)
            running = {served.process.pid, *children(served.process)}
            read.append(sum(int(re.search(r"rchar: (\d+)", Path(f"/proc/{pid}/io").read_text())[1]) for pid in running))
    # Processes that are started or not read some 20 MiB of modules each.
    assert read[1] - read[0] < most // 2


BROKEN = {
    "not in the encoding": TABLE.encode() + b"quaxil\xff\xfe,zomber\n",
    "a quote that never ends": TABLE.encode() + b'"zomber,7\nquaxil,8\n',
    "more fields than names": TABLE.encode() + b"quaxil,8467113,zomber\n",
    "another line end": TABLE.encode().replace(b"\n", b"\r\n", 2) + b"quaxil\r8467113\n",
    "bytes of a picture": b"ward,age\n" + bytes(range(256)) * 8 + b"quaxil,zomber\n",
    "a number too large": TABLE.encode() + b"north,8467113" + b"0" * 400 + b"\n",
}
READS_AGE = """
[[questions]]
query = "mean age"
lower = 0
upper = 100
step = 1
epsilon = 0.25
out = "visits-answers/mean.csv"
"""


@pytest.mark.parametrize("fault", tried(["not in the encoding", "a quote that never ends"], BROKEN))
def test_tables_that_cannot_be_read_are_told_without_their_values(tmp_path, fault):
    data = table(tmp_path / "work")
    data.write_bytes(BROKEN[fault])
    data.with_name("visits.plan.toml").write_text(PLAN + READS_AGE)
    data.with_name("visits.iris.toml").write_text('[types]\nage = "integer"\n')
    with exploring(data) as served:
        served.data = data
        job = served.press(served.offer())
        said = [served.get(f"{job}/state")[2], served.wait(job), *crawled(served)[0].values()]
    said.append((data.parent / "stderr.log").read_text())
    assert not any(mark in text for text in said for mark in MARKS)


FAILS = """
from irisdp._explorer.publish_page import PublishPage
async def fail(self, *given, **options):
    raise ValueError("quaxil is wrong")
PublishPage._show = fail
"""


def test_an_internal_error_is_told_by_its_place_alone(tmp_path):
    data = table(tmp_path / "work")
    with exploring(data, planted=FAILS) as served:
        status, _, text = served.get("publish")
        assert status == 500 and "ValueError at" in text and MARKS[0] not in text
        assert served.get("plan")[0] == 200
        served.process.terminate()
        served.process.wait(30)
    assert MARKS[0] not in (data.parent / "stderr.log").read_text()


HOSTILE = "\"'></textarea></script><script>alert(1)</script><img src=x onerror=alert(2)>"


class Runs(HTMLParser):
    """What a page would run that is none of ours."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        ours = tag == "script" and re.fullmatch(r"static/[a-z]+\.js", named.get("src") or "")
        if (tag == "script" and not ours) or any(name.startswith("on") or name == "style" for name in named):
            self.found.append((tag, attrs))
        if any((value or "").strip().lower().startswith(("javascript:", "data:")) for value in named.values()):
            self.found.append((tag, attrs))


def test_words_of_a_table_and_a_plan_are_never_markup(tmp_path):
    """They may come from somebody else: names of columns and groups, titles, and what a plan asks."""
    data = table(tmp_path / "work")
    data.write_text('"{}",ward\n1,north\n'.format(HOSTILE.replace('"', '""')))
    quoted = json.dumps(HOSTILE)
    plan = f"""
[datasets.visits]
data = "visits.csv"
[[questions]]
query = "count"
name = {quoted}
epsilon = 0.5
out = "visits-answers/count.csv"
[[questions]]
query = "histogram ward"
categories = {quoted}
epsilon = 0.25
[[questions]]
query = {quoted}
"""
    data.with_name("visits.plan.toml").write_text(plan)
    with exploring(data) as served:
        served.data = data
        pages, _ = crawled(served)
        assert any("&lt;script&gt;alert(1)" in text for text in pages.values())
        for address, text in pages.items():
            if text.startswith("<!doctype"):
                assert Runs(text).found == [], address


def test_a_plan_of_a_hundred_questions_is_edited(tmp_path):
    with exploring(table(tmp_path / "work")) as served:
        shares = {f"share-{number}": "1" for number in range(1, 101)}
        assert served.post("plan/outlook", budget="1", **shares)[0] == 200


def test_an_explorer_leaves_the_users_rights_alone(tmp_path):
    """What it writes has the rights that the user's other files have."""
    data = table(tmp_path / "work")
    os.chmod(data, 0o600)
    with exploring(data) as served:
        served.wait(served.press(served.offer()))
    assert stat.S_IMODE(data.stat().st_mode) == 0o600
    (secret,) = [file for file in data.parent.iterdir() if "secret" in file.name]
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
