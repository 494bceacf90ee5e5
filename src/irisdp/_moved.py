"""Where public names of earlier versions are today; a home with an underscore is internal and may change."""

PACKAGES = frozenset(
    [
        "cells",
        "cli",
        "comparison",
        "design.counts",
        "design.databases",
        "design.programs",
        "design.quantiles",
        "design.rainbows",
        "design.winners",
        "exact",
        "explorer",
        "families",
        "linprog",
        "peers",
        "queries",
        "reading",
        "release",
        "release.batches",
        "release.projects",
        "release.runs",
        "reports",
        "sampling",
    ]
)
"""Packages that are no more."""

_HOMES = {
    "accounting": {
        "privacy": "Gaussian",
    },
    "cells": {
        "_measurements": (
            "ANSWER_COLUMNS ASSURED BinNodes CategoryNodes CountNodes DesignedAnswers "
            "EachRecord GapNodes GaussianNoise GeometricNoise HIGH LOW LargestCategories "
            "LargestCategory MeanFromCentre MeanFromEnds MeanNodes MeanOfAll NO_BOUNDARY "
            "NoisyBands NoisySums PROBABILITY PartitionSelection PlacedNodes QuantileBin "
            "RecordNodes ShapeNoise SizeNodes SizesShape SortedSizes SpreadNoise "
            "StaircaseNoise USUAL_CONFIDENCE band_names least_distance longer noise_for "
            "padded_size share_of surely_within"
        ),
        "_measurements.means": "NoisyMeans",
        "_measurements.rankings": "named_together",
    },
    "comparison": {
        "": "compare",
        "baselines": "Compared Comparison Objective QUESTIONS",
    },
    "design": {
        "consumers": "Consumer OptimalReading loss_of_reading optimal_reading posterior",
    },
    "design.counts": {
        "design": "derivation nearest_reading side_by_side",
    },
    "design.databases": {
        "design": "best_path_bound path_bound relaxations",
    },
    "design.programs": {
        "design": "add_digest repair",
    },
    "design.quantiles": {
        "design": "RankError exponential_base ladder quantile read_share",
    },
    "design.rainbows": {
        "design": "compare compare_lexicographically curves turning_points",
    },
    "design.winners": {
        "design": "plurality ranking top winner",
    },
    "exact": {
        "_exact": (
            "Enclosure Rational Table ball checked counts decimal_above dyadic_above "
            "dyadic_below enclosure_of ends entries entry_reader exp_below file_path "
            "float_above in_short integer json_bytes json_line json_list log_above log_below "
            "log_near meant_decimal nearest_float numbers parse_json percent_below plain_text "
            "rational rational_text read_json short_above short_below short_text shown_above "
            "shown_below so_many table told_above told_below told_exactly working_precision"
        ),
        "_files": "NoRegularFile is_there open_regular",
    },
    "explorer": {
        "_explorer": "serve",
        "_explorer.app": "create_app",
    },
    "families": {
        "mechanisms": (
            "HistogramMechanism MinimaxRisk PartitionMechanism expected_changes minimax_risk "
            "noise_risk release_column release_largest"
        ),
    },
    "peers": {
        "baselines": (
            "ComparedCounts DiscreteGaussian ExponentialScore ExponentialSide GeometricCount "
            "GeometricMaximum GeometricSide JointExponential LaplaceMaximum LaplaceSide "
            "PeeledExponential PeerDecision PeerOrder PermutedFlips Powers Rate "
            "RoundedLaplace RoundedStaircase SortedNoise ToldAlone as_fraction "
            "discrete_gaussian enclose_closely rank_scores records_off"
        ),
    },
    "queries": {
        "": "Cost",
        "_measurements": "CountNodes NO_BOUNDARY",
        "_queries": (
            "Band CATEGORIES Count Groups NOT_OPTIMAL_TOGETHER Query UnreleasedKeys "
            "applies_a_file apply_words as_asked cell_relation check_apart "
            "check_list check_records_chosen columns_about "
            "counts_every_person describe_unit entry_of enumerate_keys find_keys groups_file "
            "independent_parts is_in_parts keep_contribution part_groups read_by "
            "read_contribution read_groups read_per_unit read_query total_cost"
        ),
        "_queries.apply": "Apply",
        "_queries.category_sizes": "Sizes",
        "_queries.clipped_values": "StepTotals",
        "_queries.column": "EachCategory",
        "_queries.count_distinct": "CountDistinct",
        "_queries.derived_columns": "Bins read_bins",
        "_queries.histogram": "Histogram",
        "_queries.majority": "Majority",
        "_queries.neighbouring_relation": "moves",
        "_queries.plurality": "Plurality",
        "_queries.quantile": "Median Quantile",
        "_queries.ranking": "Ranking Top",
        "_queries.reading": "QUERIES",
        "_queries.statistics": "Statistics count_records",
        "_queries.sum_and_mean": "Mean Sum",
        "_queries.threshold": "AtLeast AtMost",
        "_tables.column_types": "load_types types_file",
        "_tables.columns": "Column Derivation NO_HEADER Note names_are_public",
        "_tables.expressions": "Condition read_condition",
        "_tables.json_lines": "is_json_lines",
        "_tables.locations": "Location counted_from is_address locate note_of_partition",
        "_tables.table": "HOW_TO_OPEN Table explaining_index open_table",
    },
    "reading": {
        "": "interpret",
        "interpretation": "Estimates Interpretation JointInterpretation NoisyCount Posterior read_release",
    },
    "release": {
        "": (
            "Answers Audience BatchPlan BatchPublication Cost Ledger Plan Project Publication "
            "Release RunOutlook RunPublication Session batch init_project interpret plan "
            "plan_batch publish run"
        ),
        "_ledger.fingerprints": "fingerprint",
        "interpretation": "Interpretation NoisyCount read_release",
    },
    "release.batches": {
        "": "BatchPlan BatchPublication batch plan_batch",
        "_release.batch_noise": "Composition GaussianCounts NoiseKind OwnNoise choices compose_questions",
    },
    "release.projects": {
        "": "Project init_project",
        "_release": "limit_to_set",
        "_release.project": "check_columns currency_with find_project give_limit say_unlisted",
    },
    "release.runs": {
        "": "RunOutlook RunPublication run",
        "_release": "Answered Expected LedgerOutlook",
    },
    "reports": {
        "": "report",
    },
    "sampling": {
        "_sampling": ("BitSource add_geometric clamped_geometric coarsen draw draw_brackets draw_ranks refine"),
        "_sampling.bits": "DrawnLaw OperatingSystemBits ScriptedBits law_of",
        "_sampling.geometric_noise": "one_sided_geometric",
        "_sampling.tables": "draw_events",
        "mechanisms": (
            "HistogramMechanism MinimaxRisk PartitionMechanism expected_changes minimax_risk "
            "noise_risk release_column release_largest"
        ),
    },
}

MOVED = {
    **{
        f"{old}.{name}".lstrip("."): f"{new}.{name}".lstrip(".")
        for old, homes in _HOMES.items()
        for new, names in homes.items()
        for name in names.split()
    },
    "Entry": "LedgerEntry",
    "Promise": "LedgerScope",
    "PromiseRefused": "ScopeRefused",
    "Relation": "NeighbouringRelation",
    "Settlement": "ChargedAnswer",
    "accounting.concentration": "accounting.zcdp_rho",
    "accounting.least_mean": "accounting.gaussian_dp_mu",
    "cells.Assurance": "_measurements.ConfidenceStatement",
    "cells.CellMechanism": "_measurements.Measurement",
    "cells.ClassNodes": "_measurements.DecisionDistances",
    "cells.DepthClasses": "_measurements.DecisionMeasurement",
    "cells.GroupCounts": "_measurements.GroupCountNodes",
    "cells.Link": "_measurements.ChainLink",
    "cells.NamedCounts": "_measurements.NoisyCountSelection",
    "cells.NamesGroups": "_measurements.SelectsPartitions",
    "cells.Nodes": "_measurements.MeasurementInput",
    "cells.SpeaksOfUnits": "_measurements.ExplainsPrivacyUnit",
    "cells.Steps": "_measurements.Grid",
    "cells.TellsMore": "_measurements.HasAuxiliaryOutput",
    "cells.UniversalNoise": "_measurements.UniversalNoiseMeasurement",
    "certify.LossLaw": "certify.PrivacyLossDistribution",
    "certify.SteppedVerdict": "certify.DepthMechanismVerdict",
    "certify.certify_stepped": "certify.certify_depth_mechanism",
    "certify.seal": "certify.add_digest",
    "comparison.Question": "baselines.ComparableQuery",
    "consumers.asymmetric": "consumers.pinball",
    "design.Plurality": "design.PluralityMechanism",
    "design.Quantile": "design.QuantileMechanism",
    "design.quantiles.Quantile": "design.QuantileMechanism",
    "design.winners.Plurality": "design.PluralityMechanism",
    "design.seal": "design.add_digest",
    "design.tailored": "design.optimal_mechanism",
    "mechanisms.Objective": "mechanisms.StatedObjective",
    "mechanisms.Stepped": "mechanisms.DepthMechanism",
    "noise.NoiseLaw": "noise.NoiseDistribution",
    "noise.ShapeLaw": "noise.UniversalDistribution",
    "peers.PeerNoise": "baselines.BaselineNoise",
    "peers.PeerWinner": "baselines.BaselineArgmax",
    "queries.Choices": "_queries.ColumnChoices",
    "queries.ClassNodes": "_measurements.DecisionDistances",
    "queries.Contribution": "_queries.ContributionBounds",
    "queries.Kind": "_tables.columns.ColumnType",
    "queries.Move": "_queries.neighbouring_relation.NeighbourMove",
    "queries.PerUnit": "_queries.PerUnitRule",
    "queries.Relation": "NeighbouringRelation",
    "queries.Stepped": "_queries.clipped_values.ClippedColumn",
    "queries.Unit": "_queries.PrivacyUnit",
    "queries.read_relation": "graphs._neighbouring.parse_relation",
    "release.Entry": "LedgerEntry",
    "release.PrivateCells": "_release.pipeline.GroupStatistics",
    "release.Promise": "LedgerScope",
    "release.Selector": "_measurements.PartitionSelection",
    "release.Settlement": "ChargedAnswer",
    "release.foresee_run": "_release.dry_run_plan",
    "release.projects.Told": "_release.project.ProjectDefaults",
    "release.projects.tell": "_release.project.apply_project",
    "release.read_cells": "_release.pipeline.read_statistics",
    "release.runs.foresee_run": "_release.dry_run_plan",
    "release.secret_beside": "_ledger.fingerprints.secret_key_path",
}
"""From old names to those of today, without `irisdp.`"""

GONE = {
    "exact.write_json": "irisdp._files.write_outputs",
    "mechanisms.to_document": "Mechanism.to_document()",
    "release.ClassRespondent": "irisdp._measurements.DecisionMeasurement",
    "release.CountRespondent": "irisdp._measurements.GeometricNoise",
    "sampling.draw_mechanism": "Mechanism.draw_positions",
    "sampling.draw_exponential": "Exponential.draw_positions",
}
"""Names without a successor, and what says the same today."""
