"""A Python model of dbt with DuckDB: models/voters_private.py publishes counts of the model `voters`.

The model is built from the records in the warehouse, and holds private answers alone. Building it again over the same
records costs nothing; new records are charged again. Keep the ledger and its secret outside the dbt target folder.
"""

import os

import irisdp

LEDGER = os.environ.get("IRISDP_LEDGER", "voters.ledger")


def model(dbt, session):
    """Return the private number of voters by education."""
    dbt.config(materialized="table")
    records = dbt.ref("voters")
    published = irisdp.publish(
        records,
        "count",
        "vote = 1",
        by="educ",
        groups=[1, 2, 3, 4, 5, 6, 7],
        epsilon="1/4",
        ledger=LEDGER,
        secret=f"{LEDGER}.key",
        table="voters",
    )
    return published.to_arrow()
