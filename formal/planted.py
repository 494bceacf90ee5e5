"""Errors that ``make proofs`` must refuse: each is planted in a copy of the files, which is then proved as usual."""

import shutil
import tempfile
from pathlib import Path

from checks import Refused, assumptions, check_texts, compile_one, needs

PLANTED = [
    (
        "the operator as printed",
        "Operator",
        [("(1 - (1 - s - d) / r)).", "(1 - (1 - s) / r + d)).")],
        "Operator.v is refused",
    ),
    (
        "closeness in one direction only",
        "Laws",
        [("(hockey_stick r p q <= d) && (hockey_stick r q p <= d).", "(hockey_stick r p q <= d).")],
        "Laws.v is refused",
    ),
    (
        "an operator T that changes nothing",
        "RankOrder",
        [("raised p i.+1 - raised p i.", "p i.")],
        "RankOrder.v is refused",
    ),
    (
        "a checker of one direction only",
        "Checker",
        [("one_way rd P Q && one_way rd Q P) pairs", "one_way rd P Q) pairs")],
        "Checker.v is refused",
    ),
    (
        "a bound that begins below 1 where no row is given",
        "FirstChoices",
        [("else unit | gr", "else zero | gr")],
        "FirstChoices.v is refused",
    ),
    (
        "first choices up to any slack",
        "FirstChoices",
        [("proper slack && le slack (most_slack f)", "proper slack && proper slack")],
        "FirstChoices.v is refused",
    ),
    (
        "a bound by universality where delta is above 0",
        "Readings",
        [("~~ le rd.1 unit && equal rd.2 zero else", "~~ le rd.1 unit && equal rd.2 rd.2 else")],
        "Readings.v is refused",
    ),
    (
        "a bound by universality for losses that fall at the truth",
        "Readings",
        [("sorted le (drop i row).", "sorted le (drop i.+1 row).")],
        "Readings.v is refused",
    ),
    (
        "an oracle whose rows are not raised",
        "Rows",
        [("let after := f sum in", "let after := sum in")],
        "Rows.v is refused",
    ),
    (
        "depths that leave their class",
        "Layers",
        [("eqn (class x) (class y) && nth false layer y", "nth false layer y")],
        "Layers.v is refused",
    ),
    (
        "universality for losses that fall",
        "OtherLosses",
        [("<= 2%:R * (\\sum_v l v * M i v).", "<= (1 + a ^+ N) * (\\sum_v l v * M i v).")],
        "OtherLosses.v is refused",
    ),
    (
        "an exchange that moves the lead by one",
        "Queries",
        [("else Some (lead_depth t)./2).", "else Some (lead_depth t)).")],
        "Queries.v is refused",
    ),
    (
        "two rows a step too far apart",
        "TwoRows",
        [("iter t u (prefix p k)) -> possible p q.", "iter t.+1 u (prefix p k)) -> possible p q.")],
        "TwoRows.v is refused",
    ),
    (
        "staircase noise for inputs too far apart",
        "Staircase",
        [("(distance i j <= m)%N ->", "(distance i j <= m.+1)%N ->")],
        "Staircase.v is refused",
    ),
    (
        "rounds that are all bounded as the first one is",
        "Dominating",
        [("(@independent W a n m.+1)", "(@independent W a n m)")],
        "Dominating.v is refused",
    ),
    (
        "a dominating pair with the profile of every pair",
        "DominatingExists",
        [("  exists i, hockey_stick r (p i) (q i) =", "  forall i, hockey_stick r (p i) (q i) =")],
        "DominatingExists.v is refused",
    ),
    (
        "pull from the top that errs half as often",
        "PullBest",
        [("(pulls a b c) <= 2%:R / (r + 2%:R).", "(pulls a b c) <= 1 / (r + 2%:R).")],
        "PullBest.v is refused",
    ),
    (
        "a proof left open",
        "PartitionSelection",
        [("Proof. exact: u_sound (named_bounds n). Qed.", "Admitted.")],
        "Admitted leaves something unproved",
    ),
    (
        "a listed theorem that is gone",
        "PartitionSelection",
        [("Theorem selection_private", "Theorem selection_close")],
        "selection_private is listed, and not stated",
    ),
    (
        "an axiom that does not say so",
        "PartitionSelection",
        [
            ("Section PartitionSelection.", "Context (absurd : False). Section PartitionSelection."),
            ("Proof. exact: u_sound (named_bounds n). Qed.", "Proof. by case: absurd. Qed."),
        ],
        "rest on what axioms.txt does not list: PartitionSelection.absurd",
    ),
]
"""What is planted, the file, what is replaced by what, and the words with which it must be refused."""


def refuse_planted_errors(folder, build):
    """Plant each error; raise `Refused` if one is not caught."""
    for what, file, changes, words in PLANTED:
        with tempfile.TemporaryDirectory() as place:
            copy = Path(place)
            for path in [*folder.glob("*.v"), *folder.glob("*.txt")]:
                shutil.copy(path, copy)
            text = (copy / f"{file}.v").read_text(encoding="utf-8")
            for right, wrong in changes:
                if text.count(right) != 1:
                    raise Refused(f"planted error: {file}.v does not have {right!r} once")
                text = text.replace(right, wrong)
            (copy / f"{file}.v").write_text(text, encoding="utf-8")
            try:
                prove_again(copy, build, file)
            except Refused as refused:
                if words not in str(refused):
                    raise Refused(f"planted error: {what} is refused for another reason: {refused}") from refused
                print(f"refused, as it must be: {what}: {words}", flush=True)
                continue
        raise Refused(f"planted error was not refused: {what} in {file}.v")


def prove_again(copy, build, changed):
    """Prove what rests on the changed file; take the rest as it was compiled."""
    check_texts(copy)
    below, again = needs(copy), [changed]
    for name in below:
        if not reaches(below, name, changed):
            shutil.copy(build / f"{name}.vo", copy)
    while waiting := [name for name in below if reaches(below, name, changed) and name not in again[1:]]:
        ready = [name for name in waiting if not any(other in waiting for other in below[name])]
        for name in ready:
            compile_one(copy, name)
            again.append(name)
    assumptions(copy, copy)


def reaches(below, name, goal):
    """Say whether a file is ``goal`` or needs it."""
    return name == goal or any(reaches(below, other, goal) for other in below[name])
