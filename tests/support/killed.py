"""Work in a child process that is killed at a given change on the disk."""

import os
import sys

KILLED = 9
"""The status of a process that was."""


def in_child(work, kill_at):
    """Do some work in a process that ends at a given change on the disk; return its status and how many there were."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        changes = 0

        def hear(event, given):
            nonlocal changes
            changed = event in ("os.rename", "os.link", "os.remove", "os.mkdir", "sqlite3.connect")
            changed |= event == "open" and bool((given[2] or 0) & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            if changed and changes >= 0:
                changes += 1
                if changes == kill_at:
                    os._exit(KILLED)

        status = 1
        try:
            sys.addaudithook(hear)
            work()
            os.write(write, str(changes).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(write)
    _, ended = os.waitpid(child, 0)
    with os.fdopen(read) as told:
        return os.waitstatus_to_exitcode(ended), int(told.read() or 0)
