"""Names of version 0.1 that have changed: each still works, and says what it is called now."""

import importlib

import pytest

import irisdp
from irisdp import accounting
from irisdp.renamed import renamed_names

NAMES = {
    "irisdp.certify.SteppedVerdict": "irisdp.certify.DepthMechanismVerdict",
    "irisdp.certify.certify_stepped": "irisdp.certify.certify_depth_mechanism",
    "irisdp.mechanisms.Stepped": "irisdp.mechanisms.DepthMechanism",
    "irisdp.design.tailored": "irisdp.design.optimal_mechanism",
    "irisdp.design.readings.losses.asymmetric": "irisdp.design.readings.losses.pinball",
    "irisdp.queries.Cost": "irisdp.accounting.Cost",
    "irisdp.release.Cost": "irisdp.accounting.Cost",
}


def found(name):
    home, _, last = name.rpartition(".")
    return getattr(importlib.import_module(home), last)


@pytest.mark.parametrize(("old", "new"), NAMES.items())
def test_old_names_lead_to_the_new(old, new):
    with pytest.warns(DeprecationWarning, match=f"^{old} is {new} since version 0.2$"):
        assert found(old) is found(new)


def test_documents_have_one_verb():
    with pytest.warns(DeprecationWarning, match=r"Cost\.document\(\) is to_document\(\) since version 0\.2") as warned:
        assert accounting.Cost(1).document() == accounting.Cost(1).to_document()
    assert warned[0].filename == __file__


def test_what_never_was_is_an_attribute_error():
    for module in (irisdp.queries, irisdp.release):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            module.nothing  # noqa: B018 (the access is what is tested)
    with pytest.raises(AttributeError, match="module 'm' has no attribute 'x'"):
        renamed_names("m", {})("x")
