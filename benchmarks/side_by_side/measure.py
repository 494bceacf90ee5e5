"""Measure a row: every side in a process of its own, one run of each after the other, round after round."""

from __future__ import annotations

import json
import os
import select
import subprocess
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from . import figures
from .environments import Environment, variables_of
from .rows import Row, Side

WORKER = Path(__file__).with_name("worker.py")
Found = Callable[[str], Environment]


class NotMeasured(Exception):
    """A side did not answer; its text says why."""


class Worker:
    """A process that does one side's work whenever asked."""

    def __init__(self, side: Side, file: str, size: int, chosen: Environment, patience: float) -> None:
        self._patience, self._errors = patience, tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        words = [chosen.python, str(WORKER), file, side.work, str(max(1, size // side.part)), json.dumps(side.options)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, env=variables_of(chosen)
        )
        self._waits = False
        self._answer()

    def run(self) -> dict[str, Any]:
        """Do the work once; return what it took."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"run\n")
        self._process.stdin.flush()
        return self._answer()

    def close(self) -> None:
        """End the process: by itself where it waits, so that it removes what it has written; else at once."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=5 if self._waits else 0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        pipe, self._waits = self._process.stdout, False
        assert pipe is not None
        if not select.select([pipe], [], [], self._patience)[0]:
            self.close()
            raise NotMeasured(f"stopped after {self._patience:.0f} s")
        line = pipe.readline()
        if not line:
            self._process.wait()
            self._errors.seek(0)
            said = self._errors.read().decode("utf-8", "replace").strip().splitlines() or ["it said nothing"]
            self.close()
            raise NotMeasured(f"failed: {said[-1][:150]}")
        answer: dict[str, Any] = json.loads(line)
        self._waits = True
        return answer


def measure(row: Row, file: str, sizes: tuple[int, ...], rounds: int, find: Found) -> dict[str, Any]:
    """Return what docs/formats/benchmark.schema.json says of a row."""
    started = datetime.now(UTC).isoformat(timespec="seconds")
    measured = [_at(row, file, size, rounds, find) for size in sizes]
    return {
        "name": row.name, "group": row.group, "title": row.title, "unit": row.unit, "promise": row.promise,
        "program": row.program, "seconds": row.seconds, "sizes_of_the_whole": list(row.sizes),
        "measured": started, "load": round(os.getloadavg()[0], 2), "rounds": rounds,
        "sizes": measured, "growth": _growth(row, measured),
    }  # fmt: skip


def _at(row: Row, file: str, size: int, rounds: int, find: Found) -> dict[str, Any]:
    workers: dict[str, Worker] = {}
    told: dict[str, dict[str, Any]] = {}
    taken: dict[str, list[dict[str, Any]]] = {side.name: [] for side in row.sides}
    for side in row.sides:
        reason = _left_out(side, size) or (chosen := find(side.environment)).missing
        told[side.name] = {
            "name": side.name, "kind": side.kind, "environment": side.environment, "part": side.part, "missing": reason
        }  # fmt: skip
        if not reason:
            try:
                workers[side.name] = Worker(side, file, size, chosen, row.patience)
            except NotMeasured as why:
                told[side.name]["missing"] = str(why)
    try:
        for number in range(-1 if row.warm else 0, rounds):
            names = list(workers)
            for place in range(len(names)):  # each round another begins
                name = names[(place + number) % len(names)]
                try:
                    taken[name].append(workers[name].run())
                except NotMeasured as why:
                    told[name]["missing"] = str(why)
                    del workers[name]
    finally:
        for worker in workers.values():
            worker.close()
    return {"size": size, "sides": _figures(row, told, {name: taken[name][-rounds:] for name in workers})}


def _left_out(side: Side, size: int) -> str:
    return f"left out beyond {side.most:,}" if side.most is not None and size > side.most else ""


def _figures(row: Row, told: dict[str, dict[str, Any]], taken: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Add to each side that was measured its times, and to all but ours the ratio to ours."""
    ours = taken.get(row.sides[0].name)
    for side in row.sides:
        if rounds := taken.get(side.name):
            told[side.name] |= {
                "rounds": [{clock: figures.rounded(one[clock]) for clock in figures.CLOCKS} for one in rounds],
                "seconds": figures.seconds(rounds, side.part),
                "peak_mib": round(max(one["peak_mib"] for one in rounds), 1),
                "told": rounds[-1]["told"],
            }
            if ours and side is not row.sides[0]:
                told[side.name]["times_ours"] = figures.ratios(rounds, ours, side.part)
    return list(told.values())


def _growth(row: Row, measured: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for place, side in enumerate(row.sides):
        points = [
            (at["size"], told["seconds"]["processor"]["median"])
            for at in measured
            if "seconds" in (told := at["sides"][place])
        ]
        fitted = figures.growth(*zip(*points, strict=True)) if points else None
        if fitted is not None:
            found.append({"side": side.name, **fitted})
    return found
