"""Do one side's work whenever asked, in whichever Python that takes: `python worker.py FILE FUNCTION SIZE OPTIONS`.

A line that comes in is a run; the line that goes out says in JSON what it took. Whatever the work itself prints is
thrown away. Needs the standard library only.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import sys
import time
from pathlib import Path


def main() -> None:
    file, function, size, options = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.path[0] = str(Path(__file__).parents[1])

    def say(**told: object) -> None:
        answers.write(json.dumps(told) + "\n")
        answers.flush()

    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    work = getattr(module, function)(int(size), **json.loads(options))
    say(ready=True)
    for _ in sys.stdin:
        gc.collect()
        spent, start = processor(), time.perf_counter()
        found = work()
        clock, spent = time.perf_counter() - start, processor() - spent
        told = found if isinstance(found, dict) else {}
        del found
        say(clock=clock, processor=spent, peak_mib=peak(), told=told)


def processor() -> float:
    """Return the seconds of processor time so far, of all threads and of children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def peak() -> float:
    """Return the most memory that this process or a child has held so far."""
    most = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return most / (2**20 if sys.platform == "darwin" else 2**10)


if __name__ == "__main__":
    main()
