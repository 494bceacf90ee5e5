"""What researchers wrote in a first trial, and what they meant: an answer, or a sentence with the remedy."""

import pytest

from irisdp import BadInput, Privacy, audit, design
from irisdp.certify import privacy_profile

P = Privacy(epsilon=1)


def test_a_prior_may_be_a_mapping_by_count():
    listed = design.consumer(3, "absolute", P, prior=[0, "1/2", 0, "1/2"])
    assert design.consumer(3, "absolute", P, prior={1: "1/2", 3: "1/2"}) == listed
    with pytest.raises(BadInput, match=r"key '4', which is no count from 0 to 3"):
        design.consumer(3, "absolute", P, prior={4: 1})


@pytest.mark.parametrize("prior", [[1, 2, 3, 4], {0: 1, 1: 2, 2: 3, 3: 4}])
def test_whole_weights_are_no_prior_and_the_message_gives_their_sum(prior):
    with pytest.raises(
        BadInput, match="must be probabilities that sum to 1, and these sum to 10; divide every entry by the sum"
    ):
        design.consumer(3, "absolute", P, prior=prior)


def test_a_profile_takes_one_epsilon():
    made = design.consumer(3, "absolute", P)
    with pytest.raises(BadInput, match=r"must be one number, not a list; write \[profile.delta_at\(epsilon=x\)"):
        privacy_profile(made).delta_at(epsilon=[1, 2])
    assert audit(made).private


@pytest.mark.parametrize("more", [{}, {"seed": None}])
def test_a_simulation_without_a_seed_says_which_call_draws(more):
    with pytest.raises(BadInput, match=r"give seed=1; draws without a seed are made by draw\(\)"):
        design.geometric(3, P).simulate(0, 3, **more)
