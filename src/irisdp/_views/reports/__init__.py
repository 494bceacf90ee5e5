"""Reports: a release as one page to hand over, made of what was published and nothing else."""

from typing import TYPE_CHECKING

from ..._lazy import exports

if TYPE_CHECKING:
    from .blocks import bullets, document, section, table
    from .headline import cost_in_short, meant, probability, result, same_probability
    from .inputs import Given, given_in, given_of, given_when_written
    from .page import AnswersTable, answers_table, for_whom, release_page, subject, unit_of
    from .sentences import asked, expected, how_to_read, not_to_conclude, odds_of, protected
    from .writing import report

exports(__name__)
