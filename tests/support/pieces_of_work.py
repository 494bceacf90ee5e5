"""Work for jobs, to be done in another process."""

import os
import time

from irisdp import BadInput, Infeasible


def echo(values, say):
    say("echoing")
    return {"said": values["text"], "process": os.getpid()}


def sleep(values, say):
    say("sleeping")
    time.sleep(float(values["seconds"]))
    return "awake"


def count_for_ever(values, say):
    say("counting")
    number = 1
    while True:
        number = number * 3 % 1_000_003


def take_memory(values, say):
    return len(bytearray(int(values["bytes"])))


def tell_much(values, say):
    return "x" * int(values["letters"])


def refuse(values, say):
    raise Infeasible("no mechanism does that", least="2/3")


def complain(values, say):
    raise BadInput("n", "must be at least 1", "write 1")


def break_down(values, say):
    raise KeyError("the secret")


def die(values, say):
    os._exit(7)


def abort(values, say):
    os.abort()


def sleep_long(values, say):
    time.sleep(60)


def print_natively(values, say):
    os.write(1, b"banner" * 9)
    os.write(2, b"banner")
    return os.read(0, 1)
