"""What notebooks show of results: short, nothing in it markup, no colours of its own, and quickly made."""

import re
import subprocess
import sys
import time
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

import irisdp
import irisdp._exact
import irisdp._queries
import irisdp._queries.registry
from irisdp import Privacy, design
from irisdp._frames import html_table
from irisdp.graphs import Hamming, Path, colour, graph_from_edges, rank
from irisdp.mechanisms import FactoredMechanism
from irisdp.privacy import Gaussian

HOSTILE = ["</script><script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\u202eb", "two\nlines", "{{7*7}}"]
CANARY = 7919  # how many records say yes: drawn with so much noise that it does not come out


class Reader(HTMLParser):
    """Which tags there are, and whether each is closed in its turn."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.open = set(), []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def graph():
    return graph_from_edges([(HOSTILE[0], name) for name in HOSTILE[1:]])


@pytest.fixture
def things(tmp_path):
    """Everything that shows itself, about a table whose groups have hostile names."""
    table = pa.table({"town": [HOSTILE[0]] * CANARY + HOSTILE, "v": [1] * (CANARY + len(HOSTILE))})
    session = irisdp.Session(table, ledger=tmp_path / "</script>.ledger".replace("/", "∕"), limit="9,1e-3")
    asked = {"by": "town", "groups": HOSTILE, "epsilon": "0.000001"}
    found = session.count("town <> '</script>'", **asked)
    named = session.plurality("town", categories=HOSTILE, epsilon=1)
    line = design.geometric(30, Privacy(epsilon=1))
    small = design.consumer(3, "absolute", Privacy(ratio=4))
    hostile = irisdp.Mechanism.from_matrix([["1/2", "1/2"]] * 5, privacy=Privacy(epsilon=1), graph=graph())
    both = Privacy.all([Privacy(epsilon=1), Privacy(epsilon="1/2", delta="1e-3")])
    return {
        "privacy": Privacy(epsilon=1),
        "privacy with delta": Privacy(epsilon=900, delta="1e-6"),
        "several pairs": both,
        "many pairs": Privacy.gaussian(1),
        "gaussian": Gaussian(1),
        "small gaussian": Gaussian("1e-6"),
        "large gaussian": Gaussian(100),
        "graph": graph(),
        "family": Hamming(20, 3),
        "coloured": colour(graph(), HOSTILE),
        "ranked": rank(Path(2), [HOSTILE, HOSTILE[::-1]]),
        "mechanism": small,
        "hostile mechanism": hostile,
        "long mechanism": line,
        "publication": found,
        "names": named,
        "interpretation": irisdp.interpret(found, at_most=10),
        "names read": irisdp.interpret(named),
        "ledger": session.ledger,
        "no ledger": irisdp.Ledger(tmp_path / "none"),
        "session": session,
        "plan": found.plan,
    }


def test_each_is_a_short_table_in_which_nothing_is_markup(things):
    for name, thing in things.items():
        page = thing._repr_html_()
        assert Reader(page).tags <= {"table", "caption", "tr", "th", "td"}, name
        assert len(page) < 30_000, name
        assert "color" not in page, name
        assert "background" not in page, name
        assert not re.search("[\u202a-\u202e\u2066-\u2069\n]", page), name
        assert f">{CANARY}<" not in page, name
    assert "&lt;/script&gt;" in things["graph"]._repr_html_()
    assert "a\\u202eb" in things["publication"]._repr_html_()


def test_what_guarantees_say(things):
    told = {name: things[name]._repr_html_() for name in things}
    said = "a guess between two neighbours, 50:50 before, is right with probability"
    assert f">ε = 1; {said} 73.11 % at most</caption>" in told["privacy"]
    assert "<td>1</td><td>0</td><td>2.71828</td>" in told["privacy"]
    assert f"{said} 100 % at most" in told["privacy with delta"]
    assert told["several pairs"].count("<tr>") == 3
    assert f"{said} 62.29 % at most" in told["several pairs"]
    assert told["many pairs"].count("<tr>") == 8
    assert f"{said} 69.15 % at most" in told["many pairs"]
    assert f">μ = 1; {said} 69.15 % at most</caption>" in told["gaussian"]
    assert "<td>4.5</td><td>5.868e-06</td>" in told["gaussian"]
    assert "<td>5000</td>" in told["large gaussian"]


def test_gaussian_pairs_that_are_shown_hold():
    from scipy.stats import norm

    cells = re.findall(r"<td>([^<]*)</td><td>([^<]*)</td>", Gaussian(1)._repr_html_())
    for epsilon, delta in cells:
        x = float(epsilon)
        exact = norm.cdf(0.5 - x) - np.exp(x) * norm.cdf(-0.5 - x)
        assert exact <= float(delta) <= exact * 1.01


def test_what_graphs_say(things):
    assert "<td>0</td><td>1</td><td>1</td>" in Path(5)._repr_html_()
    assert ">Path: 5 nodes and 4 edges<" in Path(5)._repr_html_()
    assert things["family"]._repr_html_().count("<tr>") == 12
    assert "<td>1</td>" in things["coloured"]._repr_html_()
    assert "<th>ranking</th><th>nodes</th>" in things["ranked"]._repr_html_()


def test_what_ledgers_say(things):
    page = things["ledger"]._repr_html_()
    assert "spent ε = 1.000001, δ = 0 of ε = 9, δ = 0.001</caption>" in page
    assert page.index("<td>2</td>") < page.index("<td>1</td>")  # the newest first
    assert "no limit is set</caption>" in things["no ledger"]._repr_html_()
    assert not things["no ledger"].path.exists()


def test_cut_off_mechanisms_say_so():
    page = design.geometric(30, Privacy(epsilon=1))._repr_html_()
    assert "<th>19</th><th>…</th></tr>" in page
    assert page.endswith(f"<tr>{'<td>…</td>' * 22}</tr></table>")
    assert "…" not in design.consumer(3, "absolute", Privacy(ratio=4))._repr_html_()


def test_large_mechanisms_show_themselves_at_once():
    """Exact rows of 2,001 counts at an ε take minutes, and nobody reads them here."""
    made = design.geometric(2_000, Privacy(epsilon=1))
    begun = time.process_time()
    assert "<td>0.7311</td>" in made._repr_html_()
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("ratio", [1, 2, "5/4"])
@pytest.mark.parametrize("n", [0, 1, 7])
def test_rows_in_floats_are_the_rows(n, ratio):
    reading = {
        z: ((0, irisdp._exact.rational("1/3", "x")), (z, irisdp._exact.rational("2/3", "x"))) for z in range(n + 1)
    }
    for read in (None, reading):
        made = FactoredMechanism(privacy=Privacy(ratio=ratio), n=n, reading=read)
        for node in made.inputs:
            exact = [float(p) for p in made.row(node)]
            assert made.approximate_row(node).tolist() == pytest.approx(exact)
    with pytest.raises(irisdp.BadInput, match="input: is not an input"):
        made.approximate_row(n + 1)


def test_empty_cells_and_headings():
    assert html_table("t", ["", ""], [(None, 0)]).endswith("</caption><tr><td></td><td>0</td></tr></table>")


def test_results_are_rounded_and_numbers_are_on_the_right(tmp_path):
    table = pa.table({"town": ["Ely"] * 9 + ["York"] * 9, "pay": [20.25 * place for place in range(18)]})
    session = irisdp.Session(table, ledger=tmp_path / "l")
    asked = {"by": "town", "groups": "Ely,York", "lower": 0, "upper": 400, "step": "0.25", "epsilon": 1}
    found = session.mean("pay", **asked)
    rows = re.findall(r"<tr><td>(\w+)</td>((?:<td style=\"text-align:right\">[^<]*</td>){3})</tr>", found._repr_html_())
    assert [name for name, _ in rows] == ["Ely", "York"]
    for (_, shown), (_, answer, low, high) in zip(rows, found.answers.rows(), strict=True):
        told = [float(cell.replace(",", "")) for cell in re.findall(r">([^<]*)</td>", shown)]
        assert told[1] <= low <= high <= told[2]
        assert abs(told[0] - answer) <= (high - low) / 20 + 0.5
        assert max(len(cell) for cell in re.findall(r">([^<]*)</td>", shown)) <= 8


def test_costs_show_themselves_and_sessions_say_what_can_be_asked(things):
    page = things["publication"].cost._repr_html_()
    assert "<td>epsilon</td><td>1e-06</td>" in page and Reader(page).tags <= {"table", "caption", "tr", "th", "td"}
    page = things["session"]._repr_html_()
    for form in irisdp._queries.FORMS:
        assert f"session.{form.name.replace('-', '_')}(" in page


# Publishing from a notebook's kernel, with and without what draws progress bars there.

KERNEL = """
import sys, types
class Shell:
    config = {"IPKernelApp": {}}
ipython = types.ModuleType("IPython")
ipython.get_ipython = lambda: Shell
sys.modules["IPython"] = ipython
if sys.argv[1] == "without":
    sys.modules["ipywidgets"] = None
import duckdb
import irisdp
from irisdp._tables.engine import locked_connection
bar = duckdb.connect().execute("SELECT current_setting('enable_progress_bar')").fetchone()
found = irisdp.publish(sys.argv[2], "count", by="town", groups="Ely,York", epsilon=30)
print(*found.answers.values, locked_connection().execute("SELECT current_setting('enable_progress_bar')").fetchone()[0])
"""


@pytest.mark.parametrize("widgets", ["with", "without"])
def test_publishing_needs_no_progress_bar(tmp_path, widgets):
    """The engine refuses to have its bar switched off where it has none; nobody could publish then."""
    data = tmp_path / "d.csv"
    data.write_text("town\n" + "Ely\n" * 7 + "York\n" * 3)
    done = subprocess.run(
        [sys.executable, "-c", KERNEL, widgets, str(data)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("7 3 False\n", "")
