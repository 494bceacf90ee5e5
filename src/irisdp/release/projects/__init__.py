"""A project file: settings of a table that commands apply to every question."""

from ...facades import when_used

with when_used(__name__):
    from .project import Project, Told, check_columns, currency_with, find_project, give_limit, limit_to_set, tell
    from .template import init_project
    from .unlisted import say_unlisted

__all__ = [
    "Project",
    "Told",
    "check_columns",
    "currency_with",
    "find_project",
    "give_limit",
    "init_project",
    "limit_to_set",
    "say_unlisted",
    "tell",
]
