"""What answers are charged, whatever they answer: a price knows no table and no question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..accounting import Charge, Currency
from ..exact import checked
from ..privacy import Guarantee, Privacy
from ..queries import Relation, total_cost
from .chain import earlier_links
from .ledger import Release

__all__ = ["Price"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """What a release costs, which follows from what its cells keep and from how many of them a neighbour moves.

    Attributes
    ----------
    privacy : Privacy or Gaussian
        Of each cell of the most accurate audience.
    relation, grouped, public_membership, exchange_steps, selection, delta
        As for `irisdp.queries.total_cost`.
    chain : str or None
        The chain of counts that the release is a link of: an earlier link of it was paid for.
    """

    privacy: Guarantee
    relation: Relation
    grouped: bool
    public_membership: bool
    exchange_steps: int
    selection: Privacy | None
    delta: Fraction
    chain: str | None

    @checked
    def at(self, currency: Currency, privacy: Guarantee | None = None) -> Charge:
        """Return the whole price in a currency; with `privacy`, what it would be if the cells kept that."""
        return total_cost(
            self.privacy if privacy is None else privacy,
            self.relation,
            grouped=self.grouped,
            public_membership=self.public_membership,
            exchange_steps=self.exchange_steps,
            selection=self.selection,
            currency=currency,
            delta=self.delta,
        )

    def after(self, earlier: Sequence[Release], currency: Currency) -> Charge:
        """Charge what the chain costs at its most accurate link, less what it was charged already."""
        cost = self.at(currency)
        links = earlier_links(self.chain, earlier)
        return cost.beyond(self.at(currency, links[0][0])) if links else cost
