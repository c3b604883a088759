"""Every mutant of a module: one small change of its source, at one place.

Type annotations, docstrings and text with blanks (messages, cards) have no mutants: they compute nothing. Everything
else that an operator below applies to has, in every line of a module.
"""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
}
ARITHMETIC: dict[type[ast.operator], str] = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "/",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "*",
    ast.Pow: "*",
    ast.BitAnd: "|",
    ast.BitOr: "&",
    ast.BitXor: "&",
    ast.LShift: ">>",
    ast.RShift: "<<",
}
CALLS = {
    "min": "max",
    "max": "min",
    "any": "all",
    "all": "any",
    "sorted": "list",
    "reversed": "list",
    "fsum": "sum",
    "ceil": "floor",
    "floor": "ceil",
}
"""A function that is called, and the one that is called instead."""


class Mutant(NamedTuple):
    """A change of one module, and where it is."""

    file: str
    function: str
    """The outermost function that holds it, such as `Contingency.add`; empty if it runs when the module is imported."""
    line: int
    kind: str
    before: str
    """The line as it is; the first one of several."""
    after: str
    """The same line as mutated."""
    source: str
    """The whole mutated module."""
    repeat: int = 0
    """How many earlier mutants of the module have the same texts."""

    @property
    def name(self) -> str:
        """Identifies the mutant, wherever its line moves."""
        return f"{self.file} | {self.function} | {self.before} | {self.after} | {self.repeat}"


class _Change(NamedTuple):
    node: ast.AST
    kind: str
    text: str


def mutants(path: Path, name: str) -> list[Mutant]:
    """All mutants of a file that others know by `name`."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    data, starts = source.encode(), _starts(source)
    made: list[Mutant] = []
    seen: dict[str, int] = {}
    for function, change in _changes(tree, ""):
        begin, end = (
            starts[getattr(change.node, f"{side}lineno") - 1] + getattr(change.node, f"{side}col_offset")
            for side in ("", "end_")
        )
        mutated = (data[:begin] + change.text.encode() + data[end:]).decode()
        line: int = getattr(change.node, "lineno", 0)
        before, after = source.splitlines()[line - 1].strip(), mutated.splitlines()[line - 1].strip()
        if before == after:  # the change is on a later line of its node
            after = f"{after} ... {change.text}"
        one = Mutant(name, function, line, change.kind, before, after, mutated)
        repeat = seen.get(one.name, 0)
        seen[one.name] = repeat + 1
        made.append(one._replace(repeat=repeat))
    return made


def _starts(source: str) -> list[int]:
    starts, place = [], 0
    for line in source.split("\n"):
        starts.append(place)
        place += len(line.encode()) + 1
    return starts


def _changes(node: ast.AST, function: str, scope: str = "") -> Iterator[tuple[str, _Change]]:
    """All changes below a node, with the function that they are in."""
    for change in _of_node(node):
        yield function, change
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        inner = f"{scope}{node.name}"
        inside = function or (inner if isinstance(node, ast.FunctionDef) else "")
        if isinstance(node, ast.FunctionDef):  # defaults and decorators run where the function is made
            for outside in (*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)):
                yield from _changes(outside, function, scope)
        for statement in node.body:
            if not _is_text(statement):
                yield from _changes(statement, inside, f"{inner}.")
        return
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_text(child):
                yield from _changes(child, function, scope)


def _is_text(node: ast.AST) -> bool:
    """Docstrings of attributes and modules, and text for people."""
    if isinstance(node, ast.Expr):
        node = node.value
        return isinstance(node, ast.Constant) and isinstance(node.value, str)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value


def _of_node(node: ast.AST) -> Iterator[_Change]:
    """The changes of one node itself."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            for other in COMPARISONS[type(op)]:
                yield _Change(node, "comparison", f"({ast.unparse(left)}) {other} ({ast.unparse(right)})")
        case ast.Compare(left=left, ops=ops, comparators=rights):
            for place, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    words = [other if place == at else _symbol(one) for at, one in enumerate(ops)]
                    rest = " ".join(f"{word} ({ast.unparse(right)})" for word, right in zip(words, rights, strict=True))
                    yield _Change(node, "comparison", f"({ast.unparse(left)}) {rest}")
        case ast.BinOp(left=left, op=op, right=right) if type(op) in ARITHMETIC:
            yield _Change(node, "arithmetic", f"(({ast.unparse(left)}) {ARITHMETIC[type(op)]} ({ast.unparse(right)}))")
        case ast.AugAssign(target=target, op=op, value=value):
            text = f"{ast.unparse(target)} {ARITHMETIC[type(op)]}= {ast.unparse(value)}"
            yield _Change(node, "arithmetic", text)
            yield _Change(node, "statement removed", "pass")
        case ast.BoolOp(op=op, values=values):
            other = "or" if isinstance(op, ast.And) else "and"
            yield _Change(node, "boolean", "(" + f" {other} ".join(f"({ast.unparse(one)})" for one in values) + ")")
            for place in range(len(values)):
                others = [f"({ast.unparse(one)})" for at, one in enumerate(values) if at != place]
                yield _Change(node, "operand removed", f"({f' {_symbol(op)} '.join(others)})")
        case ast.UnaryOp(op=ast.Not() | ast.USub() | ast.Invert(), operand=operand):
            yield _Change(node, "sign", f"({ast.unparse(operand)})")
        case ast.If(test=test) | ast.While(test=test):
            yield _Change(test, "condition", f"(not ({ast.unparse(test)}))")
        case ast.IfExp(test=test, body=body, orelse=orelse):
            yield _Change(node, "one branch", f"({ast.unparse(body)})")
            yield _Change(node, "one branch", f"({ast.unparse(orelse)})")
        case ast.comprehension(ifs=ifs):
            for test in ifs:
                yield _Change(test, "condition", f"(not ({ast.unparse(test)}))")
                yield _Change(test, "filter removed", "True")
        case ast.Constant(value=bool(value)):
            yield _Change(node, "constant", str(not value))
        case ast.Constant(value=int() | float() as value):
            yield _Change(node, "constant", str(value + 1))
        case ast.Constant(value=str(value)):
            yield _Change(node, "constant", repr(f"XX{value}"))
        case ast.Call(func=func, args=args, keywords=keywords):
            yield from _of_call(node, func, args, keywords)
        case ast.Expr() | ast.Raise() | ast.Delete():
            yield _Change(node, "statement removed", "pass")
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield _Change(node, "statement removed", "pass")
        case ast.Break():
            yield _Change(node, "loop", "continue")
        case ast.Continue():
            yield _Change(node, "loop", "break")


def _of_call(node: ast.Call, func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[_Change]:
    called = func.id if isinstance(func, ast.Name) else func.attr if isinstance(func, ast.Attribute) else ""
    if called in CALLS:
        other = ast.Call(ast.Name(CALLS[called]), args, [])
        # `list` knows no key, and `sum` of `math` is Python's own.
        keep = keywords if CALLS[called] in ("min", "max") else []
        yield _Change(node, "call", ast.unparse(ast.Call(other.func, args, keep)))
    for keyword in keywords:
        if keyword.arg is not None:
            rest = ast.Call(func, args, [one for one in keywords if one is not keyword])
            yield _Change(node, "keyword removed", ast.unparse(rest))


def _symbol(op: ast.cmpop | ast.boolop) -> str:
    names: dict[type[ast.AST], str] = {
        ast.And: "and",
        ast.Or: "or",
        ast.Lt: "<",
        ast.LtE: "<=",
        ast.Gt: ">",
        ast.GtE: ">=",
        ast.Eq: "==",
        ast.NotEq: "!=",
        ast.In: "in",
        ast.NotIn: "not in",
        ast.Is: "is",
        ast.IsNot: "is not",
    }
    return names[type(op)]
