"""Settings of Spark's: which decide nothing, what a session of our own has, and how others enter a question's name.

Spark has hundreds, and each release adds some: ancient rules of parsing, of casts, of files. So none is trusted by
name. A session made by Iris drops all settings of the cluster that do not affect only speed and place. In a session of
the caller's, each of them is part of the engine's name, so that no answer is refined under other settings.
"""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

__all__ = ["fix_settings", "settings_name"]

_OWN = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
    "spark.sql.parser.escapedStringLiterals": "false",
    # '${env:HOME}' in a statement would be what the environment of a cluster says.
    "spark.sql.variable.substitute": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.mapKeyDedupPolicy": "EXCEPTION",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    # A date of long ago would else end a question in an error.
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInRead": "CORRECTED",
    "spark.sql.parquet.int96TimestampConversion": "false",
    # One reader of Parquet, whose conversions are those that `spark_files` knows; statistics are other records.
    "spark.sql.parquet.enableVectorizedReader": "true",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.aggregatePushdown": "false",
    "spark.sql.files.ignoreCorruptFiles": "false",
    "spark.sql.files.ignoreMissingFiles": "false",
}
"""What is said in a session of our own, whatever a release or an environment takes for usual."""

_SPEED_AND_PLACE = (
    "spark.sql.adaptive.",
    "spark.sql.artifact.",
    "spark.sql.autoBroadcastJoinThreshold",
    "spark.sql.broadcastTimeout",
    "spark.sql.catalog.",
    "spark.sql.catalogImplementation",
    "spark.sql.defaultCatalog",
    "spark.sql.execution.arrow.max",
    "spark.sql.execution.arrow.pyspark.enabled",
    "spark.sql.files.max",
    "spark.sql.files.min",
    "spark.sql.hive.metastore",
    "spark.sql.queryExecutionListeners",
    "spark.sql.repl.",
    "spark.sql.shuffle.",
    "spark.sql.streaming.",
    "spark.sql.ui.",
    "spark.sql.warehouse.dir",
)
"""What such settings begin with; how many tasks a question takes, and where tables are, change no reading."""

_USUAL = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.parser.escapedStringLiterals": "false",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
    "spark.sql.caseSensitive": "false",
    "spark.sql.timestampType": "TIMESTAMP_LTZ",
}
"""Settings that an environment or a habit often says, and their usual values: these are asked for by name."""

_WITHOUT_SAY = ("spark.sql.session.timeZone", "spark.sql.variable.substitute")
"""Settings of the caller's session that statements are written around: instants are UTC, and no text stands in them."""


def fix_settings(session: Any) -> None:
    """Make a session of our own: what is neither speed nor place is as Spark has it from the start, or as said here."""
    for name in _said(session):
        if name not in _OWN and session.conf.isModifiable(name):
            session.conf.unset(name)
    for name, value in _OWN.items():
        if session.conf.get(name) != value:  # a usual one is frowned at where it is said
            session.conf.set(name, value)


def settings_name(session: Any) -> str:
    """Return a name for a session's unusual settings, 12 hex digits of their digest; empty where there are none.

    Values may hold a secret, so they are not shown.
    """
    said = _said(session) | {name: str(session.conf.get(name, usual)) for name, usual in _USUAL.items()}
    unusual = sorted(
        f"{name}={value}"
        for name, value in said.items()
        if name not in _WITHOUT_SAY and value.lower() != _USUAL.get(name, "").lower()
    )
    return blake2b(repr(unusual).encode(), digest_size=6).hexdigest() if unusual else ""


def _said(session: Any) -> dict[str, str]:
    """Return what a session says of reading, by name."""
    said = session.conf.getAll
    found = dict(said() if callable(said) else said)
    return {
        name: str(value)
        for name, value in found.items()
        if name.startswith("spark.sql.") and not name.startswith(_SPEED_AND_PLACE)
    }
