"""Write docs/benchmarks.md and its pictures from docs/benchmarks.json, which a run of `make bench` found.

python docs/benchmarks.py                                     # write the page anew
python docs/benchmarks.py --take build/bench/bench.json       # take another run first, as `make bench` does
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path
from typing import Any

from irisdp import Picture
from irisdp.plots import COLOURS, altair, finished

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "benchmarks"))  # programs, no package
try:
    from side_by_side.targets import TARGETS
finally:
    sys.path.pop(0)

Row = dict[str, Any]
KINDS = {"ours": "", "peer": "", "limit": " (limit)", "before": " (earlier)", "way": " (another way)"}
DASHES = {"ours": [1, 0], "way": [1, 0], "peer": [6, 3], "before": [6, 3], "limit": [2, 2]}


def page(run: Row) -> str:
    """Return the page; pictures are linked, and drawn by `pictures`."""
    rows = run["rows"]
    lines = ["# Times beside others", "", *opening(run), "", "## What was aimed at", "", *aims(rows), ""]
    for group, held in groupby(rows, key=lambda row: row["group"]):
        lines += [f"## {group}", ""]
        if drawn(together := list(held)):
            lines += [f"![{group}: seconds of the processor against size](figures/{file_of(group)})", ""]
        for row in together:
            lines += [*table(row), ""]
    lines += [*programs(run["programs"]), *places(run["environments"])]
    return "\n".join(lines)


def opening(run: Row) -> list[str]:
    """Say what this is, where and of what it was measured, and how to read it."""
    machine = run["machine"]
    busy = max((row["load"] for row in run["rows"]), default=0)
    made = ", ".join(
        [f"Run of {run['started'][:10]}, commit {run['commit']}: {machine['processor']}", f"{machine['cores']} cores",
         f"{machine['memory_gib']:g} GiB", machine["system"], f"Python {machine['python']}", *machine["packages"]]
    )  # fmt: skip
    lines = [
        "Written by `docs/benchmarks.py` from `docs/benchmarks.json`, which one run of `make bench` found; do not edit",
        "by hand. A row alone: `python benchmarks/run.py --only WORD`; `--list` shows them.",
        "",
        f"{made}. It took {number(run['seconds'] / 60)} minutes; up to {number(busy)} processes waited to be run.",
        "",
        "Each side works in its own process, other libraries in their own environments (at the end). A run of each",
        "follows a run of each other, round after round. Ours is in seconds of the processor, all threads added up:",
        "median (lowest to highest), with the clock's median where it differs by a tenth. Beside it stands how many",
        "times that the others took, taken within a round: above 1, ours is faster. A limit does the least that the",
        "work takes, such as fetching its random bits. Growth is b in time ~ size^b, fitted, and between neighbours.",
        "What others do besides or leave out is stated with the rows, in `benchmarks/rows/`. Some rows compare",
        "times of exact and certified work with times of floats.",
    ]
    if not run["whole"]:
        lines += [
            "",
            "**This run was a trial, at tiny sizes or of some rows: it shows that rows can be measured, and no speed.",
            "What is small is mostly what a call costs.**",
        ]
    return lines


def aims(rows: Iterable[Row]) -> list[str]:
    """Return the table of targets, each with what this run found."""
    held = list(rows)
    lines = ["| what | when aimed at | aim | now | | what was tried |", "|---|---|---|---|---|---|"]
    for target in TARGETS:
        figure = target.figure(held)
        if figure is None:
            now, verdict = "-", "not measured in this run"
        else:
            now = number(figure) + (" ×" if target.side else "" if target.growth else " s")
            verdict = "reached" if target.reached(figure) else "**not reached**"
        lines.append(f"| {target.what} | {target.began} | {target.wanted} | {now} | {verdict} | {target.tried} |")
    return lines


def table(row: Row) -> list[str]:
    """Return a row's heading, its sizes as a table, and what else is told of it."""
    ours, *others = row["sizes"][0]["sides"]
    heads = [row["unit"], f"{ours['name']} (s)", *(f"{side['name']}{KINDS[side['kind']]}" for side in others)]
    lines = [f"### {row['title']}", "", f"| {' | '.join(heads)} |", "|--:" * len(heads) + "|"]
    for at in row["sizes"]:
        first, *rest = at["sides"]
        size = format(at["size"], ",")
        lines.append(f"| {' | '.join([size, own(first), *(times(side) for side in rest)])} |")
    said = []
    if row["growth"]:
        said.append("Growth: " + "; ".join(grown(one) for one in row["growth"]) + ".")
    told = row["sizes"][-1]["sides"][0].get("told") or {}
    if told:
        said.append(f"At {row['sizes'][-1]['size']:,}: " + ", ".join(f"{k} {v:.6g}" for k, v in told.items()) + ".")
    if row["seconds"]:
        said.append(f"Promised: at most {row['seconds']:g} s at {row['sizes_of_the_whole'][-1]:,}.")
    if "commit" in row:
        waited = number(row["load"])
        said.append(f"Measured later, {row['measured'][:16]}, at commit {row['commit']}; {waited} processes waited.")
    if row["promise"]:
        said.append(f"[Promised](reliability.md) under *{row['promise']}*.")
    if row["program"]:
        said.append(f"Alone: `benchmarks/{row['program']}`.")
    reasons = {f"{side['name']}: {side['missing']}" for at in row["sizes"] for side in at["sides"] if side["missing"]}
    said += [f"{reason}." for reason in sorted(reasons) if "left out beyond" not in reason]
    return [*lines, "", " ".join(said)] if said else lines


def own(side: Row) -> str:
    """Write our seconds."""
    if side["missing"]:
        return "-"
    spent, clock = side["seconds"]["processor"], side["seconds"]["clock"]["median"]
    far = abs(clock / max(spent["median"], 1e-9) - 1) > 0.1
    return spread(spent) + (f"; clock {number(clock)}" if far else "")


def times(side: Row) -> str:
    """Write how many times ours another side took."""
    return "-" if side["missing"] or "times_ours" not in side else spread(side["times_ours"]["processor"])


def spread(found: dict[str, float]) -> str:
    """Write a median with its spread."""
    return f"{number(found['median'])} ({number(found['lowest'])} to {number(found['highest'])})"


def grown(one: Row) -> str:
    """Write an exponent with those between neighbours."""
    around = "" if one["lowest"] == one["highest"] else f" ({one['lowest']:.2f} to {one['highest']:.2f})"
    return f"{one['side']} {one['exponent']:.2f}{around}"


def number(value: float) -> str:
    """Write two significant digits, three above 100."""
    if value == 0:
        return "0"
    text = f"{value:.3g}" if abs(value) >= 100 else f"{value:.2g}"
    return f"{float(text):,.0f}" if abs(float(text)) >= 1000 else text


def programs(ran: list[Row]) -> list[str]:
    """Return the table of programs that measure no time."""
    if not ran:
        return []
    lines = ["## Errors, laws and the clock", "", "Programs that measure no time, each run once:", ""]
    lines += ["| program | seconds | |", "|---|--:|---|"]
    for one in ran:
        ended = "ran through" if one["status"] == 0 else f"status {one['status']}"
        lines.append(f"| `benchmarks/{one['program']}` | {number(one['seconds'])} | {ended} |")
    return [*lines, ""]


def places(environments: dict[str, Row]) -> list[str]:
    """Return the table of environments."""
    lines = ["## Where they ran", "", "| environment | packages |", "|---|---|"]
    for name, chosen in environments.items():
        lines.append(f"| {name} | {chosen['missing'] or ', '.join(chosen['packages'])} |")
    return [*lines, ""]


def drawn(rows: list[Row]) -> list[Row]:
    """Return the rows that have two sizes or more: those are drawn."""
    return [row for row in rows if len(row["sizes"]) > 1]


def file_of(group: str) -> str:
    """Return the name of a group's picture."""
    return f"times-{group.lower().replace(' ', '-')}.svg"


def picture(group: str, rows: list[Row]) -> Picture:
    """Draw seconds of the processor against size, a panel a row, both on logarithmic scales."""
    alt, panels, numbers = altair(), [], []
    log = alt.Scale(type="log")
    for row in drawn(rows):
        points = [
            {"size": at["size"], "seconds": max(side["seconds"]["processor"]["median"], 1e-6), "who": side["name"]}
            for at in row["sizes"]
            for side in at["sides"]
            if not side["missing"]
        ]
        kinds = {side["name"]: side["kind"] for at in row["sizes"] for side in at["sides"]}
        there = [name for name in kinds if any(point["who"] == name for point in points)]
        numbers += [(row["title"], point["who"], point["size"], point["seconds"]) for point in points]
        encoding = {
            "x": alt.X("size:Q", title=row["unit"], scale=log, axis=alt.Axis(format="~s", tickCount=4)),
            "y": alt.Y("seconds:Q", title="processor (s)", scale=log, axis=alt.Axis(format="~g")),
            "color": alt.Color("who:N", title=None, scale=alt.Scale(domain=there, range=list(COLOURS)[: len(there)])),
            "strokeDash": alt.StrokeDash(
                "who:N", title=None, scale=alt.Scale(domain=there, range=[DASHES[kinds[name]] for name in there])
            ),
        }
        base = alt.Chart(alt.Data(values=points)).encode(**encoding)
        title = alt.Title(row["title"], fontSize=12, limit=430)
        panels.append((base.mark_line() + base.mark_point(filled=True, size=30)).properties(
            width=250, height=170, title=title
        ))  # fmt: skip
    chart = alt.concat(*panels, columns=2).resolve_scale(color="independent", strokeDash="independent")
    names = {name for _, name, _, _ in numbers}
    return Picture(
        title=f"{group}: seconds of the processor against size",
        description="A panel for each row, with a line for each side: ours unbroken, peers dashed, limits dotted. "
        "The numbers are those of the tables.",
        columns=("row", "side", "size", "processor (s)"),
        rows=tuple(numbers),
        spec=finished(chart, legend=names),
    )


def main() -> None:
    """Write pictures and page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--take", type=Path, metavar="JSON", help="a run to take first")
    options = parser.parse_args()
    kept = HERE / "benchmarks.json"
    if options.take is not None:
        shutil.copyfile(options.take, kept)
    run = json.loads(kept.read_text("utf-8"))
    for group, held in groupby(run["rows"], key=lambda row: row["group"]):
        if drawn(rows := list(held)):
            (HERE / "figures" / file_of(group)).write_text(picture(group, rows).to_svg(), "utf-8")
    (HERE / "benchmarks.md").write_text(page(run), "utf-8")


if __name__ == "__main__":
    main()
