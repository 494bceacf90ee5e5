"""One of every picture, of things with names that try to be markup, and of a table whose every value would be known."""

from functools import partial

HOSTILE = "</script><b>' \"\u202e"
"""Begins as if the script it stands in ended, and turns the direction of what follows."""

CANARIES = ("canary", "31337", "27182", "16180")
"""What the table behind published things holds, and nothing but the table can say."""


def make_table(folder):
    """Write a table of canaries, and return where."""
    path = folder / "table.csv"
    lines = [f"north,{age},canary" for age in (31337, 27182, 16180)] * 30 + ["south,16180,canary"] * 20
    path.write_text("region,income,note\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def publish(folder, *words, **options):
    """Publish of that table, by its groups and one that is not in it."""
    import irisdp

    options = {"by": "region", "groups": ["north", "south", HOSTILE], "epsilon": 1} | options
    ledger = folder / "ledger.db"
    return irisdp.publish(make_table(folder), *words, out=folder / "out.csv", ledger=ledger, **options)


def _draw(name, make, folder):
    from irisdp import plots

    return getattr(plots, name)(make(folder))


def _mechanism(folder):
    from irisdp import Privacy, design

    return design.geometric(4, Privacy(ratio=2))


def _named(folder):
    from fractions import Fraction

    from irisdp import Mechanism, Privacy, graphs

    rows = [[Fraction(2, 3), Fraction(1, 3)], [Fraction(1, 3), Fraction(2, 3)]]
    return Mechanism.from_matrix(rows, privacy=Privacy(ratio=2), outputs=(HOSTILE, "other"), graph=graphs.Path(2))


def _count(folder):
    return publish(folder, "count", "income > 20000")


def _majority(folder):
    return publish(folder, "majority", "income > 20000")


def _ledger(folder):
    from irisdp import Ledger

    publish(folder, "count", "income > 20000")
    return Ledger(folder / "ledger.db")


def _read(folder):
    import irisdp

    return irisdp.interpret(_count(folder))


def _rainbow(folder):
    from irisdp import Privacy, plots

    return plots.rainbow_curves(["1/2", "3/10", "1/5"], Privacy(ratio=2), farthest=12)


def _errors(folder):
    from irisdp import plots

    return plots.error_against_epsilon("majority", epsilons=["1/2", 1, 2], objective="lead-5")


def _sweep(folder):
    from irisdp import Privacy, design

    over = {"loss": {HOSTILE: "absolute", "other": "squared"}, "privacy": [Privacy(ratio=2), Privacy(ratio=3)]}
    return design.sweep(design.consumer, over, n=2)


def _trade_off(folder):
    return _named(folder).plot(form="trade-off")


def _profile(folder):
    from irisdp import Privacy

    return Privacy(epsilon=1, delta="1e-5").plot(form="profile")


PICTURES = {
    "heat_map": partial(_draw, "heat_map", _mechanism),
    "heat_map of names": partial(_draw, "heat_map", _named),
    "published": partial(_draw, "published", _count),
    "published names": partial(_draw, "published", _majority),
    "ledger_picture": partial(_draw, "ledger_picture", _ledger),
    "readings": partial(_draw, "readings", _read),
    "rainbow_curves": _rainbow,
    "error_against_epsilon": _errors,
    "sweep_curves": partial(_draw, "sweep_curves", _sweep),
    "trade_off_curves": _trade_off,
    "privacy_profiles": _profile,
}
"""Name of what draws it, and of what → what makes it in an empty folder."""
