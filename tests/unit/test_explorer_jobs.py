"""Jobs of the explorer: bounded in time, memory, number and size; every end has its own words."""

import os
import time

import pytest

from irisdp import BadInput, Refusal
from irisdp._explorer.jobs import Busy, Jobs, Stopped
from support import pieces_of_work as work

PATIENCE = 60


@pytest.fixture
def jobs():
    made = []

    def make(**options):
        made.append(Jobs(**options))
        return made[-1]

    yield make
    for each in made:
        each.close()


def finished(job):
    assert job.over.wait(PATIENCE)
    return job


def stopped(job):
    with pytest.raises(Stopped) as caught:
        finished(job).result()
    assert len(str(caught.value).splitlines()) == 1
    return caught.value


def until(said):
    end = time.monotonic() + PATIENCE
    while not said():
        assert time.monotonic() < end
        time.sleep(0.01)


def alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_work_is_done_in_another_process_and_once(jobs):
    line = jobs()
    job = line.submit("room", work.echo, {"text": "hello </script>"})
    assert finished(job).result()["said"] == "hello </script>"
    assert job.result()["process"] != os.getpid()
    assert line.submit("room", work.echo, {"text": "hello </script>"}) is job
    assert line.find(job.key) is job
    assert line.submit("room", work.echo, {"text": "other"}).key != job.key
    assert line.find("nothing") is None


def test_a_process_serves_again_only_where_it_may(jobs):
    def processes(line):
        return {finished(line.submit("room", work.echo, {"text": text})).result()["process"] for text in "abc"}

    assert len(processes(jobs(at_once=1))) == 3
    assert len(processes(jobs(at_once=1, reused=10))) == 1


def test_too_long_is_ended(jobs):
    line = jobs(at_once=1, seconds=0.3)
    job = line.submit("room", work.count_for_ever, {})
    error = stopped(job)
    assert error.reason == "time"
    assert "0.3 seconds" in str(error)
    assert "command line" in str(error)
    assert job.elapsed < 30
    assert finished(line.submit("room", work.echo, {"text": "next"})).result()["said"] == "next"


def test_too_much_memory_is_refused_and_others_go_on(jobs):
    line = jobs(at_once=1, memory=1 << 30)
    error = stopped(line.submit("room", work.take_memory, {"bytes": str(2 << 30)}))
    assert error.reason == "memory"
    assert "1 GiB" in str(error)
    assert finished(line.submit("room", work.take_memory, {"bytes": "1000"})).result() == 1000


def test_a_long_answer_is_none(jobs):
    line = jobs(at_once=1, reused=10)
    assert stopped(line.submit("room", work.tell_much, {"letters": str(17 << 20)})).reason == "size"
    assert len(finished(line.submit("room", work.tell_much, {"letters": "1000000"})).result()) == 10**6


def test_what_the_work_refuses_is_refused(jobs):
    line = jobs(at_once=1, reused=10)
    with pytest.raises(BadInput, match="n: must be at least 1; write 1") as caught:
        finished(line.submit("room", work.complain, {})).result()
    assert caught.value.field == "n"
    with pytest.raises(Refusal, match="no mechanism does that") as caught:
        finished(line.submit("room", work.refuse, {})).result()
    assert caught.value.document == {"error": "no mechanism does that", "least": "2/3"}


def test_what_breaks_says_where_and_not_what(jobs):
    line = jobs(at_once=1, reused=10)
    error = stopped(line.submit("room", work.break_down, {}))
    assert error.reason == "lost"
    assert "KeyError at pieces_of_work.py" in str(error)
    assert "secret" not in str(error)
    assert "(7)" in str(stopped(line.submit("room", work.die, {})))
    assert finished(line.submit("room", work.echo, {"text": "x"})).result()["said"] == "x"


def test_a_cancelled_job_is_killed_and_may_be_asked_again(jobs):
    line = jobs(at_once=1)
    job = line.submit("room", work.count_for_ever, {})
    until(lambda: job.phase == "counting")
    assert job.elapsed > 0
    waits = line.submit("room", work.echo, {"text": "behind"})
    second = line.submit("room", work.echo, {"text": "behind it"})
    assert (line.ahead_of(waits), line.ahead_of(second)) == (0, 1)
    line.cancel(second)
    assert stopped(second).reason == "cancelled"
    line.cancel(job)
    assert stopped(job).reason == "cancelled"
    assert finished(waits).result()["said"] == "behind"
    again = line.submit("room", work.echo, {"text": "behind it"})
    assert again is not second
    assert finished(again).result()["said"] == "behind it"


def test_only_so_many_run_and_wait(jobs):
    line = jobs(at_once=2, waiting=3)
    running = [line.submit("room", work.sleep, {"seconds": f"60.{k}"}) for k in range(2)]
    until(lambda: all(job.phase == "sleeping" for job in running))
    waiting = [line.submit("room", work.sleep, {"seconds": f"61.{k}"}) for k in range(3)]
    with pytest.raises(Busy, match="3 are waiting already"):
        line.submit("room", work.echo, {"text": "one too many"})
    assert {job.phase for job in waiting} == {"waiting"}
    line.close()
    assert all(stopped(job).reason == "cancelled" for job in (*running, *waiting))
    with pytest.raises(Busy):
        line.submit("room", work.echo, {"text": "after the end"})


def test_closing_leaves_no_process(jobs):
    line = jobs(at_once=1, reused=10)
    process = finished(line.submit("room", work.echo, {"text": "x"})).result()["process"]
    assert alive(process)
    line.close()
    assert not alive(process)


def test_old_jobs_are_forgotten(jobs):
    line = jobs(at_once=1, reused=10, kept=2)
    done = [finished(line.submit("room", work.echo, {"text": text})) for text in "abc"]
    until(lambda: line.find(done[0].key) is None)
    assert [line.find(job.key) for job in done[1:]] == done[1:]
    brief = jobs(at_once=1, remembered=0)
    job = finished(brief.submit("room", work.echo, {"text": "x"}))
    until(lambda: brief.find(job.key) is None)
