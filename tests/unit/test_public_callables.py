"""Every public callable: a keyword misspelt, an argument missing, too many, or of the wrong kind is bad input."""

import inspect
import tempfile
from pathlib import Path

import numpy as np
import pytest

import irisdp
from irisdp import BadInput, IrisError, Privacy, certify, consumers, design, graphs, interop, mechanisms, noise
from irisdp import mechanisms as families

PRIVACY, PATH = Privacy(ratio=2), graphs.Path(3)
GEOMETRIC = design.geometric(2, PRIVACY)
READER = consumers.Consumer(2, "absolute")
OBJECTS = {
    "Privacy": PRIVACY,
    "Mechanism": GEOMETRIC,
    "FactoredMechanism": mechanisms.FactoredMechanism(privacy=PRIVACY, n=4),
    "DepthMechanism": mechanisms.balanced_line(PRIVACY),
    "Consumer": READER,
    "Loss": consumers.absolute(),
    "OptimalReading": consumers.optimal_reading(GEOMETRIC, READER),
    "Path": PATH,
    "Interpretation": irisdp.interpret(GEOMETRIC, 1),
    "PrivacyProfile": certify.privacy_profile(GEOMETRIC),
    "Ledger": irisdp.Ledger(Path(tempfile.mkdtemp(), "some.ledger")),
    "PartitionMechanism": families.PartitionMechanism(total=5, privacy=PRIVACY),
    "HistogramMechanism": families.HistogramMechanism(total=5, types=2, privacy=PRIVACY),
    "Continuous": design.continuous(lambda x: x, PRIVACY, lower=0, upper=1),
    "Morphism": graphs.morphism(PATH, PATH, [0, 0, 1]),
    "DominatingPair": certify.dominating_pair(certify.privacy_profile(GEOMETRIC)),
    "Exponential": design.safe_exponential([[0, 1, 2]] * 3, PATH, PRIVACY),
    "PluralityMechanism": design.plurality(3, PRIVACY),
    "QuantileMechanism": design.quantile(3, PRIVACY),
    "ColouredGraph": graphs.colour(PATH, ["red", "blue", "blue"]),
}
"""Whose methods are called as well."""

MADE = {
    *(
        "Consumer", "Tail", "Loss", "StatedObjective", "FactoredMechanism", "Mechanism", "DepthMechanism", "Ledger",
        "Session",
    ),
    *("Path", "Cycle", "Complete", "Hamming", "Histograms", "SortedHistograms", "Product", "Goal", "Gaps"),
    *("PartitionMechanism", "HistogramMechanism", "Privacy", "Cost"),
}  # fmt: skip
"""Classes that callers make themselves; the others are results."""

INNER = {"Loss.at", "Path.adjacent", "Path.distance", "Path.distances", "Path.distances_from", "Path.neighbours"}
"""Asked millions of times, by the library, for positions that it made itself."""

WRONG = [None, "x", "", b"x", True, -1, 1.5, float("nan"), np.zeros(3), np.array(1), object(), [], [None], {}, {1}, int]


def callables():
    for room in (irisdp, design, consumers, families, graphs, mechanisms, certify, noise, interop):
        for name in room.__all__:
            found = getattr(room, name)
            if inspect.isfunction(found) or (inspect.isclass(found) and name in MADE):
                yield pytest.param(found, id=f"{room.__name__}.{name}")
    for name, thing in OBJECTS.items():
        for part in dir(type(thing)):
            if not part.startswith("_") and inspect.ismethod(getattr(thing, part)) and f"{name}.{part}" not in INNER:
                yield pytest.param(getattr(thing, part), id=f"{name}.{part}")


def parameters(function):
    return list(inspect.signature(function).parameters.values())


@pytest.mark.parametrize("function", list(callables()))
def test_what_was_not_asked_for_is_refused_by_name(function):
    kinds = {part.kind for part in parameters(function)}
    if inspect.Parameter.VAR_KEYWORD not in kinds and kinds:
        with pytest.raises(BadInput, match=r"^nonsense: is no option; "):
            function(nonsense=1)
    if inspect.Parameter.VAR_POSITIONAL not in kinds and kinds:
        with pytest.raises(BadInput, match=r"^\w+: (are too many|must )"):
            function(*range(20))
    needed = [part.name for part in parameters(function) if part.default is part.empty and part.kind not in (2, 4)]
    if needed:
        with pytest.raises(BadInput, match=f"^{needed[0]}: is missing; "):
            function()


@pytest.mark.parametrize("function", list(callables()))
def test_arguments_of_any_kind_end_in_an_answer_or_a_refusal(function, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parts = [part for part in parameters(function) if part.kind not in (2, 4)]
    for part in parts:
        for wrong in WRONG:
            given = {other.name: wrong for other in parts if other.default is other.empty}
            try:
                function(**given | {part.name: wrong})
            except IrisError as refusal:
                assert "\n" not in str(refusal)
                assert " at 0x" not in str(refusal)
