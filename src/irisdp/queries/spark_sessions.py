"""Sessions of our own on a cluster of Spark's: in this process, or on a server of Spark Connect.

Each statement has a session in which no caller has set anything; what a cluster's configuration says of reading is
taken back (`fix_settings`). A caller's own session, default or environment is never changed by one of ours.
"""

from __future__ import annotations

import os
import socket
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from ..errors import BadInput
from .engine import guarded, release_of
from .spark_settings import fix_settings

__all__ = ["CONNECT", "check_master", "own_session"]

CONNECT = "sc://"
"""What the address of a server of Spark Connect begins with."""
_STANDALONE = "spark://"
"""What the address of a cluster of Spark's own begins with."""
_PATIENCE = 15
"""Seconds within which a server or a cluster must answer; Spark itself would try for minutes."""
_JOINING = 30
"""Seconds within which a cluster of Spark's own must let a program in, from when Java runs. Spark's own start is half
of them where the machine is busy."""
_STEP, _LOOK = 5, 0.1
"""Seconds to wait for what should take none, and between two looks at it."""
_LOCK = threading.Lock()


def check_master(master: str | None) -> None:
    """Refuse a server of Spark Connect where its client is not installed; nobody is called up."""
    if _remote(master) is not None:
        _connect_client()


@contextmanager
def own_session(master: str | None) -> Iterator[Any]:
    """Start a session, which may take some seconds, and end it.

    Parameters
    ----------
    master : str, optional
        The address of a cluster; what this machine is configured for unless given. ``sc://…`` is a server's.

    Raises
    ------
    BadInput
        For a server that does not answer, refuses, or is of another release; and where a session of this program runs
        on another cluster.
    """
    remote = _remote(master)
    with _LOCK:
        session = _session_here(master) if remote is None else _session_on_server(remote)
    try:
        fix_settings(session)
        yield session
    finally:
        if remote is not None:
            session.client.release_session()
            session.client.close()


def _remote(master: str | None) -> str | None:
    found = os.environ.get("SPARK_REMOTE") if master is None else master
    return found if found is not None and found.startswith(CONNECT) else None


def _session_here(master: str | None) -> Any:
    from pyspark.sql import SparkSession

    builder: Any = SparkSession.builder.appName("irisdp").config("spark.ui.showConsoleProgress", "false")
    if "SPARK_CONNECT_MODE_ENABLED" in os.environ:  # then this would be the caller's session on a server, or none
        rule = "is not named, and this program has a session of Spark Connect"
        if master is not None:
            rule = "is another cluster than that on which a session of this program runs"
        raise BadInput("master", rule, f"name the address of its server: {CONNECT}HOST:PORT")
    alone = SparkSession.getActiveSession() is None
    if alone and master is not None:
        _call_up(master)
    rule, remedy = "is spark, which could not be started as this machine is configured", "check Java: 17 or newer"
    if master is not None:
        rule, remedy = "is a cluster on which Spark could not be started", "check its address, and Java: 17 or newer"
    chosen = builder if master is None else builder.master(master)
    with _quiet(wanted=alone):
        if alone and master is not None and master.startswith(_STANDALONE):
            _join(chosen, rule, remedy)
        first = guarded(chosen.getOrCreate, rule, remedy, "engine" if master is None else "master")
    if master is not None and first.sparkContext.master != master:
        rule = "is another cluster than that on which a session of this program runs"
        raise BadInput("master", rule, "stop that session, or leave it out")
    if alone:  # a failing task would write what it read into the log
        first.sparkContext.setLogLevel("OFF")
    return first.newSession()


def _call_up(master: str) -> None:
    """Refuse a cluster of Spark's own none of whose machines takes calls: Spark would try for two minutes."""
    if not master.startswith(_STANDALONE):
        return
    places = master.removeprefix(_STANDALONE).split(",")
    for place in places:
        try:
            found = urlsplit(f"//{place}")
            socket.create_connection((found.hostname or "", found.port or 0), _PATIENCE / len(places)).close()
        except (OSError, ValueError, OverflowError):
            continue
        return
    raise BadInput("master", "is a cluster that does not answer", "check its address, and that it runs")


def _join(builder: Any, rule: str, remedy: str) -> None:
    """Start a session on a cluster of Spark's own, and end a Java that waits in vain: something else may listen there.

    Spark asks three times to be let in, for twenty seconds each, and nothing sets that otherwise. A Java of the
    caller's is not ended, and so asks as long as it likes.
    """
    from pyspark import SparkContext

    context: Any = SparkContext
    if context._gateway is not None:
        return
    ended: list[BaseException | None] = []

    def start() -> None:
        try:
            builder.getOrCreate()
            ended.append(None)
        except BaseException as error:  # which is told where the others are
            ended.append(error)

    trial = threading.Thread(target=start, daemon=True)
    trial.start()
    try:
        while trial.is_alive() and context._gateway is None:  # until there is a Java, however slow the machine is
            trial.join(_LOOK)
        trial.join(_JOINING)
    except BaseException:  # whoever waits has waited long enough
        _end_java(context, trial)
        raise
    if trial.is_alive():
        _end_java(context, trial)
        told = f"is an address that answers, and lets no program in within {_JOINING} seconds"
        raise BadInput("master", told, "check that a Spark master of this release listens there")
    if ended[0] is not None:
        guarded(partial(_raise, ended[0]), rule, remedy, "master")


def _end_java(context: Any, trial: threading.Thread) -> None:
    """End the Java that this process started, and let another be started."""
    gateway = context._gateway
    with suppress(Exception):
        gateway.proc.kill()
        gateway.proc.wait(_STEP)
    trial.join(_STEP)
    with suppress(Exception):
        gateway.shutdown()
    context._gateway = context._jvm = None


def _raise(error: BaseException) -> None:
    raise error


@contextmanager
def _quiet(*, wanted: bool) -> Iterator[None]:
    """Start a Java without the terminal, to which it would write pages; what goes wrong is said in one line."""
    if not wanted:
        yield
        return
    try:
        kept = os.dup(2)
    except OSError:  # there is no terminal to spare
        yield
        return
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _session_on_server(address: str) -> Any:
    import pyspark

    session_of, channel_of, grpc = _connect_client()
    how = "write for example sc://host:15002"
    builder = guarded(lambda: channel_of(address), "is no address of a server of Spark Connect", how, "master")
    channel = guarded(builder.toChannel, "is no address of a server of Spark Connect", how, "master")
    rule, remedy = "is a server of Spark Connect that does not answer", "check its address, and that it runs"
    try:
        guarded(lambda: grpc.channel_ready_future(channel).result(timeout=_PATIENCE), rule, remedy, "master")
    finally:
        channel.close()
    rule, remedy = "is a server of Spark Connect that refuses", "check what its address says of tokens and users"
    session = guarded(lambda: session_of(connection=builder), rule, remedy, "master")
    there, here = (
        release_of(str(guarded(lambda: session.version, rule, remedy, "master"))),
        release_of(pyspark.__version__),
    )
    if there != here:  # the release is part of a question, and a plan asks no server
        session.client.close()
        raise BadInput("master", f"is a server of Spark {there}, and Spark {here} is here", f"install pyspark {there}")
    return session


def _connect_client() -> tuple[Any, Any, Any]:
    """Return the session and the builder of channels of Spark's client, and gRPC."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Pandas, which is not asked here
            import grpc
            from pyspark.sql.connect.client import DefaultChannelBuilder
            from pyspark.sql.connect.session import SparkSession
    except ImportError:
        rule = "is a server of Spark Connect, whose client is not installed"
        raise BadInput("master", rule, 'pip install "pyspark[connect]"') from None
    return SparkSession, DefaultChannelBuilder, grpc
