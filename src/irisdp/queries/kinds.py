"""Which kind each part of a condition is read as, found from the condition alone.

Parts that meet (the two sides of `=`, the branches of a CASE) share a type variable. It takes its kind from whatever in
it has one: a typed column, a number, an arithmetic sign. Variables are unified by union-find, in any order alike.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import BadInput
from .columns import Kind, Note, list_names, shorten_type
from .instants import read_date
from .letters import compared_by_letters

__all__ = ["CASTABLE", "CASTS", "WHOLE", "TypeVariable", "is_canonical_number", "letter_by_letter"]

WHOLE = ("TINYINT", "SMALLINT", "INT", "BIGINT")
"""Types that hold whole numbers alone."""

CASTS = {
    **dict.fromkeys((*WHOLE, "FLOAT", "DOUBLE", "DECIMAL"), Kind.NUMBER),
    **dict.fromkeys(("VARCHAR", "TEXT"), Kind.TEXT),
    "BOOLEAN": Kind.BOOLEAN,
    **dict.fromkeys(("DATE", "TIMESTAMP", "TIMESTAMPNTZ"), Kind.DATE),
}
"""The types that an expression may cast to, and what their values are."""

CASTABLE = {
    Kind.TEXT: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN, Kind.DATE},
    Kind.NUMBER: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN},
    Kind.BOOLEAN: {Kind.TEXT, Kind.NUMBER, Kind.BOOLEAN},
    Kind.DATE: {Kind.TEXT, Kind.DATE},
}
"""What each kind can be cast to."""


class TypeVariable:
    """The shared kind of some parts of a condition, if known."""

    __slots__ = (
        *("_by_size", "_checked", "_codes", "_columns", "_compared", "_firm", "_kind", "_literals", "_parent"),
        *("_stated", "_type_name"),
    )

    def __init__(
        self,
        kind: Kind | None = None,
        *,
        column: str | None = None,
        literal: str | None = None,
        stated: bool = True,
        type_name: str = "",
    ) -> None:
        self._type_name = type_name
        self._parent: TypeVariable | None = None
        self._kind = kind
        # A kind that only the place asks for is not stated: `NOT x` does not say that x is true or false.
        self._stated = stated and kind is not None
        self._columns = [] if column is None else [column]
        # Quoted text is evidence for text, but a weak one: beside a date it is read as a date.
        self._literals = [] if literal is None else [literal]
        self._compared = self._by_size = self._checked = self._codes = False
        self._firm = kind is not None

    @classmethod
    def of_number(cls, written: str) -> TypeVariable:
        """Return the variable of a number without quotes, which may turn out to be a code, such as 01234."""
        variable = cls(Kind.NUMBER)
        variable._firm, variable._codes = False, not is_canonical_number(written)
        return variable

    def join(self, other: TypeVariable) -> None:
        """Let two variables be one."""
        first, second = self._root(), other._root()
        kind = first._kind or second._kind
        if second._kind not in (None, kind) or (kind is not None and kind.is_opaque):
            first._refuse(second._kind or Kind.TEXT, second._columns, second._type_name)
        if first is second:
            return
        second._parent, first._kind = first, kind
        first._stated = first._stated or second._stated
        first._columns += second._columns
        first._literals += second._literals
        first._compared, first._by_size = first._compared or second._compared, first._by_size or second._by_size
        first._firm, first._codes = first._firm or second._firm, first._codes or second._codes

    def compare(self, *, by_size: bool) -> None:
        """Say that values are compared with each other, perhaps by which is larger."""
        root = self._root()
        root._compared, root._by_size = True, root._by_size or by_size

    def require(self, kind: Kind) -> None:
        """Let the variable be of a kind, and take that for what it holds."""
        self.join(TypeVariable(kind))

    def expect_truth(self) -> None:
        """Let the variable be true or false, where something else must say so of its columns."""
        self.join(TypeVariable(Kind.BOOLEAN, stated=False))

    @property
    def stated(self) -> Kind | None:
        """The kind that a schema, a literal, a comparison or a function gives to the variable; None without any."""
        root = self._root()
        return root._kind if root._stated else None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that share the variable."""
        return tuple(dict.fromkeys(self._root()._columns))

    @property
    def has_evidence(self) -> bool:
        """Tell whether anything in the condition says what the variable is read as."""
        root = self._root()
        return root._kind is not None or bool(root._literals)

    @property
    def kind(self) -> Kind:
        """The kind in the end: what the evidence says, text without any."""
        root = self._root()
        return root._kind or Kind.TEXT

    def settle_codes(self) -> None:
        """Read untyped columns as text where they only equal numbers, and one is written as no number prints."""
        root = self._root()
        if root._codes and root._columns and not root._firm and not root._by_size:
            root._kind = Kind.TEXT

    def check(self) -> None:
        """Refuse quoted text that turned out to be read as something else, and truth that nothing states."""
        root = self._root()
        if root._checked:  # each of a long list would look at all of it again
            return
        root._checked = True
        if root._kind is Kind.BOOLEAN and not root._stated and root._columns:
            name = root._columns[0]
            rule = f"takes the column {list_names(root.columns)} for true or false, and nothing says that it is"
            raise BadInput(
                "expression", rule, f"compare it, as in lower({name}) = 'true', or {name} > 64 if it holds numbers"
            )
        if root._literals and root.kind is Kind.DATE:
            for literal in root._literals:
                read_date(literal)
        elif root._literals and root.kind is not Kind.TEXT:
            root._refuse(Kind.TEXT, [])

    def check_order(self) -> None:
        """Refuse to compare by size what nothing says the kind of, and truth."""
        if not self.has_evidence:
            raise BadInput(
                "expression",
                "compares untyped columns by size, and 10 < 9 as text",
                "write CAST(column AS DOUBLE) or CAST(column AS VARCHAR)",
            )
        if self.kind is Kind.BOOLEAN:
            raise BadInput("expression", "compares truth values by size", "use = or IS")

    @property
    def note(self) -> Note | None:
        """Notes on quoted text that looks like a date or a number and is compared as text."""
        root = self._root()
        if root.kind is not Kind.TEXT or not root._compared:
            return None
        return compared_by_letters(self.columns, root._literals, by_size=root._by_size, typed=root._kind is not None)

    def _root(self) -> TypeVariable:
        variable = self
        while variable._parent is not None:
            variable = variable._parent
        return variable

    def _refuse(self, kind: Kind, columns: list[str], type_name: str = "") -> None:
        named = list_names(list(dict.fromkeys([*self._columns, *columns])))
        subject = f"the column {named}" if named else "one value"
        if any(found is not None and found.is_opaque for found in (self._kind, kind)):
            shown = shorten_type(self._type_name if self._kind is not None and self._kind.is_opaque else type_name)
            type_is = f"its type, {shown}," if shown else "its type"
            rule = f"asks more of {subject} than IS NULL, and {type_is} is neither text, number, truth value nor date"
            raise BadInput("expression", rule, "use another column, or convert this one in the data")
        raise BadInput(
            "expression",
            f"uses {subject} both as {self.kind} and as {kind}",
            "compare like with like, or write TRY_CAST(... AS DOUBLE), VARCHAR or DATE around one side",
        )


def is_canonical_number(written: str) -> bool:
    """Tell whether a number is written as the double is printed: 1234 and 0.5 are; 01234, 1E2, 5. and +5 are not."""
    number = float(written)
    return written in (repr(number), str(int(number)))


def letter_by_letter(variables: Iterable[TypeVariable]) -> tuple[Note, ...]:
    """Return the notes about quoted texts, each once."""
    roots = dict.fromkeys(variable._root() for variable in variables)
    return tuple(dict.fromkeys(found for root in roots if (found := root.note) is not None))
