"""Spend, draw, write down: the ledger, plans, and publishing."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .accuracy import error_table
    from .answers import Answers, answers_bytes, csv_cell, rows_in, rows_of
    from .audiences import Audience, read_confidence
    from .batch_plan import BatchPlan, plan_batch
    from .batching import batch, dry_run_batch
    from .data_package import PACKAGE_FORMAT
    from .declared_table import ColumnSettings, TableSettings, ledger_of, save_settings, table_settings
    from .dry_run import (
        IF_UNCHANGED,
        Case,
        DryRun,
        Expected,
        LedgerOutlook,
        Outlook,
        RunOutlook,
        dry_run_plan,
        dry_run_question,
        refusal_condition,
    )
    from .labels import Labels, read_labels
    from .options import PlanOptions, options_of
    from .output_files import Released, page_path
    from .pipeline import publish
    from .plan_file import QUESTION_KEYS, PlanText, check_plan, in_keys
    from .planning import plan
    from .plans import Plan
    from .progress import listen_to_notices, listen_to_progress, say_anew
    from .project import Project, limit_to_set
    from .project_edits import Change
    from .project_template import init_project
    from .publication import Answered, BatchPublication, Publication, RunPublication
    from .release_file import SIDECAR_FORMAT, Batch, ReleaseFile
    from .risk import delta_means, risk_of
    from .running import run, run_as_shown
    from .session import Session
    from .table_check import check_data

exports(__name__)
