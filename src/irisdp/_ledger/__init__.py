"""The ledger of what was charged and answered: stores, limits, scope, history."""

from typing import TYPE_CHECKING

from .._lazy import exports

if TYPE_CHECKING:
    from .addresses import address_of
    from .audience_limits import (
        AudienceCost,
        AudienceSpending,
        draw_of,
        is_audience,
        same_audience,
        say_unlimited,
        unlimited_in,
    )
    from .bindings import DeclaredLedger, LedgerChoice, bind, choose_ledger, is_same, whole_place
    from .changed_tables import change_columns
    from .charging import ChargeRequest, Quote, as_noted
    from .column_changes import ColumnChange, check_declared, pinned_columns
    from .discovery import (
        TableFingerprint,
        TableVersion,
        check_known,
        check_ledger,
        check_neighbours,
        data_location,
        find_ledger,
        fingerprint_of_table,
        ledgers_beside,
        match_fingerprint,
        names_of_data,
        place_of_table,
        reason_anew,
        remember,
        remember_head,
        remembered,
        secret_key_file,
        stamp_of_part,
    )
    from .doctor import Finding, examine
    from .entries import (
        ChargedAnswer,
        LedgerEntry,
        hash_of,
        last_version,
        read_limit,
        read_object,
        read_spending,
        read_spent,
    )
    from .fingerprints import SECRET_BYTES, secret_file, secret_key_path, secrets_in, unit_key
    from .forecasts import forecast, is_below, metrics
    from .ledger import Ledger
    from .limits import check_most, named_limit
    from .partitions import Partition, Spending, check_protected, check_spelling
    from .period_limits import PERIODS
    from .releases import Release, lines_as_html, list_releases, to_build_on
    from .same_records import find_answer, version_to_charge, versions_of
    from .scope import LedgerScope, scope_in_advance
    from .simulation import SimulatedStore, simulated
    from .store import Damaged, currency_of
    from .summary import HEADINGS, charge_of, groups_in_words, ledger_facts, release_cells

exports(__name__)
