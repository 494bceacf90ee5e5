"""Draws whatever can be drawn: a result, or the file that holds one."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from .._exact import checked, file_path, read_json
from .._files import open_regular
from .._ledger import Ledger
from .._release import Publication, Session, read_labels
from ..certify import PrivacyProfile
from ..design import Sweep
from ..errors import BadInput
from ..graphs import ColouredGraph, DatasetGraph
from ..interpretation import ChoiceInterpretation, Estimates, Interpretation, Posterior
from ..mechanisms import FactoredMechanism, Mechanism, read_document
from ..privacy import Gaussian, Privacy
from ._ledgers import ledger_picture
from ._mechanisms import bars, graph_picture, heat_map
from ._picture import Picture
from ._posteriors import estimates_picture, names_read, posterior_picture, readings
from ._privacy_curves import privacy_profiles, trade_off_curves
from ._publications import PublishedAnswers, published, read_published
from ._sweeps import sweep_curves

FORMS = ("heat-map", "bars", "trade-off", "profile")
"""Of a mechanism; the last two also of privacy."""

_OF_PRIVACY: dict[str, Callable[[Any], Picture]] = {"trade-off": trade_off_curves, "profile": privacy_profiles}
_DRAWN_BY: tuple[tuple[Any, dict[str, Callable[[Any], Picture]]], ...] = (
    ((Mechanism, FactoredMechanism), {"heat-map": heat_map, "bars": bars, **_OF_PRIVACY}),
    (PrivacyProfile, dict(reversed(_OF_PRIVACY.items()))),
    ((Privacy, Gaussian), _OF_PRIVACY),
    ((ColouredGraph, DatasetGraph), {"": graph_picture}),
    ((Publication, PublishedAnswers), {"": published}),
    (Interpretation, {"": readings}),
    (ChoiceInterpretation, {"": names_read}),
    (Estimates, {"": estimates_picture}),
    (Posterior, {"": posterior_picture}),
    (Sweep, {"": sweep_curves}),
    (Ledger, {"": ledger_picture}),
    (Session, {"": lambda session: ledger_picture(session.ledger)}),
)
"""What there is → how it is drawn, by form; the first unless another is asked for."""

_SQLITE = b"SQLite format 3\0"


@checked
def plot(
    thing: Any,
    *,
    form: str | None = None,
    title: str | None = None,
    labels: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    positions: Mapping[Any, Any] | None = None,
) -> Picture:
    """Draw a result, or what a file holds.

    Parameters
    ----------
    thing : object or path
        A mechanism, guarantee, profile, graph, coloured graph, sweep, publication, interpretation, ledger or session.
        Or a file: a mechanism, published answers, their release file or data package, or a ledger.
    form : {"heat-map", "bars", "trade-off", "profile"}, optional
        The kind of picture of a mechanism (a heat map by default) or of privacy (a trade-off curve by default). A
        privacy profile is always drawn as one.
    title : str, optional
        The heading of the picture.
    labels : path or mapping, optional
        Of published answers: words that readers see instead of names, as for `irisdp.publish`.
    positions : mapping, optional
        Of a graph: where every node is drawn, as {node: (x, y)}; a layout of NetworkX is one.

    Returns
    -------
    Picture
        With `save`, which writes .svg, .png, .pdf or .html.

    Raises
    ------
    BadInput
        For any other object, too large a graph, and a form that the object does not have.

    Examples
    --------
    >>> from irisdp import Privacy, design
    >>> plot(design.geometric(1, Privacy(ratio=2)), form="bars").title
    'Probability of each answer, input by input'
    """
    if form is not None and form not in FORMS:
        raise BadInput("form", "is not a form that Iris draws", f"choose {' or '.join(FORMS)}")
    words = read_labels(labels, title)
    subject = _read(file_path(thing, "file")) if isinstance(thing, str | os.PathLike) else thing
    if isinstance(subject, Publication | PublishedAnswers):
        subject = published(subject, words)
    elif labels is not None:
        raise BadInput("labels", "are for published answers, and this is something else", "leave them out")
    if positions is None:
        picture = _drawn(subject, form, thing)
    elif form is None and isinstance(subject, ColouredGraph | DatasetGraph):
        picture = graph_picture(subject, positions=positions)
    else:
        raise BadInput("positions", "are for graphs, which have no form, and this is something else", "leave them out")
    return picture if title is None or picture.title == title else picture.titled(title)


def _drawn(subject: Any, form: str | None, thing: Any) -> Picture:
    if isinstance(subject, Picture):
        forms: dict[str, Callable[[Any], Picture]] = {"": lambda drawn: drawn}
    else:
        forms = next((forms for kinds, forms in _DRAWN_BY if isinstance(subject, kinds)), {})
    chosen = next(iter(forms), None) if form is None else form
    if chosen in forms:
        return forms[chosen](subject)
    if "" in forms:
        raise BadInput("form", "is for mechanisms and privacy, and this is neither", "leave it out")
    if forms:
        raise BadInput("form", "is for mechanisms, and this is not one", f"choose {' or '.join(forms)}")
    raise BadInput("thing", f"is a {type(thing).__name__}, of which there is no picture", _REMEDY)


_REMEDY = "give a mechanism, guarantee, graph, sweep, publication, interpretation or ledger, or the file of one"


def _read(path: Path) -> Any:
    """Read a file by what it begins with; a ledger that is not there is not made."""
    try:
        with open_regular(path) as file:
            start = file.read(len(_SQLITE))
    except OSError as error:
        raise BadInput("file", f"{path} cannot be read ({error.strerror})", "name a file that is there") from None
    if start == _SQLITE:
        return Ledger(path)
    if _sidecar(path).exists() or path.name.endswith((".release.json", ".datapackage.json")):
        return read_published(path)
    if path.suffix.lower() != ".json":
        raise BadInput("file", f"{path.name} is no mechanism, release or ledger", _REMEDY)
    document = read_json(path, "file")
    if isinstance(document, dict) and str(document.get("format", "")).startswith("irisdp/release/"):
        return read_published(path)
    return read_document(document).mechanism()


def _sidecar(path: Path) -> Path:
    return path.with_name(f"{path.name}.release.json")
