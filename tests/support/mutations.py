"""Small mistakes in a program's text, one at a time: what a tired hand might write instead.

Comparisons move by one or turn around, arithmetic takes another sign, numbers change by one, directions of rounding are
exchanged, conditions are turned, statements are left out. Annotations, texts and the lists of names stay as they are.
"""

import ast
import copy
from dataclasses import dataclass

OTHER = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE), ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Add,), ast.Div: (ast.Mult,),
    ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.FloorDiv,), ast.Pow: (ast.Mult,), ast.LShift: (ast.RShift,),
    ast.RShift: (ast.LShift,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.And: (ast.Or,),
    ast.Or: (ast.And,),
}  # fmt: skip
PAIRS = (
    ("min", "max"),
    ("any", "all"),
    ("floor", "ceil"),
    ("lower", "upper"),
    ("minimum", "maximum"),
    ("argmin", "argmax"),
    ("dyadic_below", "dyadic_above"),
    ("log_below", "log_above"),
    ("bisect_left", "bisect_right"),
    ("first", "last"),
    ("low", "high"),
    ("up", "down"),
    ("rows", "columns"),
)
NAMES = {one: other for pair in PAIRS for one, other in (pair, pair[::-1])}
"""Names that are easily taken for each other; as a bare name only where both are bound."""


@dataclass(frozen=True)
class Mutant:
    """One mistake: where it stands, what stood there, and what stands there now."""

    line: int
    was: str
    now: str
    right: ast.Module
    path: tuple
    other: ast.AST

    @property
    def tree(self) -> ast.Module:
        """The whole with this mistake."""
        changed = copy.deepcopy(self.right)
        _put(changed, self.path, ast.copy_location(copy.deepcopy(self.other), _at(changed, self.path)))
        return ast.fix_missing_locations(changed)


def mutants_of(source: str) -> list[Mutant]:
    """Return every mistake that these rules know, in the order of the text."""
    tree = ast.parse(source)
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} | {"min", "max", "any", "all"}
    bound |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    found: list[Mutant] = []
    for path in _places(tree, ()):
        node = _at(tree, path)
        for other in _others(node, bound):
            found.append(Mutant(node.lineno, _text(node), _text(other), tree, path, other))
    return found


def _text(node):
    return " ".join(ast.unparse(node).split())[:100]


def _places(node, path):
    """Yield the way to every node that may be mistaken, leaving out what says nothing when it runs."""
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params", "type_comment"):
            continue
        parts = list(enumerate(value)) if isinstance(value, list) else [(None, value)]
        for place, part in parts:
            if not isinstance(part, ast.AST):
                continue
            if isinstance(part, ast.Assign) and any(getattr(target, "id", "") == "__all__" for target in part.targets):
                continue
            if isinstance(part, ast.If) and getattr(part.test, "id", "") == "TYPE_CHECKING":
                continue
            if isinstance(part, ast.JoinedStr):
                continue
            if isinstance(part, ast.Raise | ast.Import | ast.ImportFrom):  # what is said is not looked at, only whether
                yield (*path, (field, place))
                continue
            if hasattr(part, "lineno"):
                yield (*path, (field, place))
            yield from _places(part, (*path, (field, place)))


def _at(tree, path):
    for field, place in path:
        tree = getattr(tree, field) if place is None else getattr(tree, field)[place]
    return tree


def _put(tree, path, node):
    *before, (field, place) = path
    holder = _at(tree, before)
    if place is None:
        setattr(holder, field, node)
    else:
        getattr(holder, field)[place] = node


def _others(node, bound):  # noqa: PLR0912  (one case for each kind of mistake)
    """Yield what might stand there by mistake."""
    match node:
        case ast.Compare(ops=ops):
            for place, operation in enumerate(ops):
                for other in OTHER[type(operation)]:
                    yield _with(node, ops=[*ops[:place], other(), *ops[place + 1 :]])
        case ast.BinOp(op=operation) if type(operation) in OTHER and not _is_text(node):
            yield from (_with(node, op=other()) for other in OTHER[type(operation)])
        case ast.AugAssign(op=operation) if type(operation) in OTHER:
            yield from (_with(node, op=other()) for other in OTHER[type(operation)])
            yield ast.Pass()
        case ast.BoolOp(op=operation):
            yield _with(node, op=OTHER[type(operation)][0]())
        case ast.UnaryOp(op=ast.USub() | ast.Not() | ast.Invert(), operand=inner):
            yield inner
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() as value):
            yield ast.Constant(value + 1)
            if value > 0:
                yield ast.Constant(value - 1)
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.Compare | ast.UnaryOp):
            yield _with(node, test=ast.UnaryOp(ast.Not(), test))
        case ast.IfExp(body=body, orelse=orelse):
            yield from (body, orelse)
        case ast.Name(id=name, ctx=ast.Load()) if NAMES.get(name) in bound:
            yield _with(node, id=NAMES[name])
        case ast.Attribute(attr=name, ctx=ast.Load()) if name in NAMES:
            yield _with(node, attr=NAMES[name])
        case ast.Raise() | ast.Break() | ast.Continue():
            yield ast.Pass()
        case ast.Expr(value=ast.Call()):
            yield ast.Pass()


def _is_text(node):
    return any(
        isinstance(side, ast.JoinedStr) or isinstance(getattr(side, "value", None), str)
        for side in (node.left, node.right)
    )


def _with(node, **parts):
    other = copy.copy(node)
    for name, value in parts.items():
        setattr(other, name, value)
    return other
