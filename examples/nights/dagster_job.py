"""Publish the plan every night with Dagster: `dagster dev -f dagster_job.py`.

The run fails on a refusal and on bad input, where another try would end the same way. It is tried again where a ledger
or a folder is out of reach, and where answers were charged and not written: charged answers are free.
"""

import os
from pathlib import Path

import dagster

import irisdp
from irisdp.errors import BadInput, NotShown, Refusal, Unavailable

PLAN = Path(os.environ.get("IRISDP_PLAN", Path(__file__).with_name("plan.toml")))


@dagster.asset(name="private_answers")
def private_answers(context):
    """Publish the questions of the plan; answered ones are free."""
    try:
        published = irisdp.run(PLAN)
    except (Unavailable, NotShown) as error:
        raise dagster.RetryRequested(max_retries=2, seconds_to_wait=300) from error
    except (Refusal, BadInput) as error:
        raise dagster.Failure(description=str(error), allow_retries=False) from error
    charged = {str(place): str(cost) for place, cost in published.charged.items()}
    context.log.info(f"charged {charged}")
    metadata = {"charged": charged, "files": [str(path) for path in published.out], "repeated": published.repeated}
    return dagster.MaterializeResult(metadata=metadata)


every_night = dagster.ScheduleDefinition(
    job=dagster.define_asset_job("publish_every_night", selection=["private_answers"]), cron_schedule="15 2 * * *"
)
definitions = dagster.Definitions(assets=[private_answers], schedules=[every_night])
