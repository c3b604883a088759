"""The errors in karat's source: all rules, their messages, and usage errors.

Rules are objects, taken from the modules that declare them. Messages are only in the code that applies a rule, so they
are read from there, with `…` in place of what is known only at run time.
"""

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import NamedTuple

import karat
from karat.families import MEASURES
from karat.formats import FORMATS
from karat.plugin import Format
from karat.problems import Rule, Severity
from karat.registry import Registry

ANYTHING = "…"


class Entry(NamedTuple):
    """A row of the catalogue of errors."""

    code: str
    severity: Severity | None
    """None for usage errors."""
    messages: tuple[str, ...]
    hints: tuple[str, ...]
    modules: tuple[str, ...]
    """Where it is declared."""


@cache
def modules() -> tuple[ModuleType, ...]:
    """Every module of karat, and of other packages that offer a format or a measure."""
    own = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(karat.__path__, "karat.", onerror=lambda _: None)
        # `karat.testing` has no rules, and needs an extra.
        if not found.name.startswith("karat.testing") and not found.name.endswith(".__main__")
    ]
    added = [sys.modules[family.measures.__module__] for _, family in MEASURES]
    added += [module_of(format_) for _, format_ in FORMATS]
    return tuple(dict.fromkeys([karat, *own, *added]))


def module_of(format_: Format) -> ModuleType:
    """The module that defines a format; one of another package may have read it from elsewhere."""
    own = (module for module in [*sys.modules.values()] if vars(module).get("FORMAT") is format_)
    return next(own, sys.modules[format_.read.__module__])


@cache
def tree(module: ModuleType) -> ast.Module:
    """The source of a module."""
    return ast.parse(inspect.getsource(module))


def declared(module: ModuleType) -> list[Rule]:
    """The rules that a module declares, in order, without those that it imports."""
    names = [
        target.id
        for statement in tree(module).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name)
    ]
    found = [getattr(module, name) for name in names]
    return [value for value in found if isinstance(value, Rule)]


@cache
def rules() -> tuple[Entry, ...]:
    """Every rule, by code; two that share a code (one in a format, one for all) are two entries."""
    messages: dict[int, list[str]] = {}
    for module in modules():
        for rule, message in _applied(module):
            messages.setdefault(id(rule), []).extend(message)
    entries = [
        Entry(
            rule.code,
            rule.severity,
            tuple(dict.fromkeys(messages.get(id(rule), ()))),
            (rule.hint,),
            (module.__name__,),
        )
        for module in modules()
        for rule in declared(module)
    ]
    return tuple(sorted(entries))


@cache
def usage_errors() -> tuple[Entry, ...]:
    """Every usage error, by code."""
    found: dict[str, list[tuple[list[str], list[str], str]]] = {}
    registries = [value for module in modules() for value in vars(module).values() if isinstance(value, Registry)]
    listing = {registry.noun: registry.listed_by for registry in registries if registry.listed_by is not None}
    for module in modules():
        for call, scope in _calls(module):
            if isinstance(call.func, ast.Name) and call.func.id == "UsageError" and len(call.args) >= 2:
                (code,), messages, hints = (
                    scope.templates(call.args[0]),
                    scope.templates(call.args[1]),
                    scope.templates(call.args[2]) if len(call.args) > 2 else [],
                )
                # The error of a registry is one error per noun.
                for noun in sorted(listing) if ANYTHING in code else [ANYTHING]:
                    texts = [message.replace(ANYTHING, noun, 1) for message in messages]
                    lists = [hint.replace(f"`{ANYTHING}`", f"`{listing.get(noun)}`") for hint in hints]
                    found.setdefault(code.replace(ANYTHING, noun), []).append((texts, lists, module.__name__))
    return tuple(
        Entry(
            code,
            None,
            tuple(dict.fromkeys(text for messages, _, _ in calls for text in messages if text != ANYTHING)),
            tuple(dict.fromkeys(text for _, hints, _ in calls for text in hints if text != ANYTHING)),
            tuple(dict.fromkeys(module for _, _, module in calls)),
        )
        for code, calls in sorted(found.items())
    )


def of_format(format_: Format) -> list[Rule]:
    """The rules that a format applies: those named in its module and in the private modules that it imports.

    Rules for any file (missing, compressed, not UTF-8) and shared rules that the format does not use are not included.
    """
    found: dict[str, Rule] = {}
    waiting, seen = [module_of(format_)], {"karat.formats._text"}
    while waiting:
        here = waiting.pop()
        seen.add(here.__name__)
        found |= {rule.code: rule for rule in vars(here).values() if isinstance(rule, Rule)}
        imports = [node for node in ast.walk(tree(here)) if isinstance(node, ast.ImportFrom) and node.module]
        parts = {node.module for node in imports if node.module}
        parts |= {
            f"karat.formats.{name.name}" for node in imports if node.module == "karat.formats" for name in node.names
        }
        private = sorted(name for name in parts if name.rpartition(".")[2].startswith("_") and name not in seen)
        waiting += [importlib.import_module(name) for name in private]
    elsewhere = {rule.code for rule in declared(importlib.import_module("karat.formats._text"))}
    return [rule for code, rule in sorted(found.items()) if code not in elsewhere]


def remarks(module: ModuleType, name: str) -> str:
    """The string below an assignment at the top of a module, which documents that name."""
    return _remarks(tree(module).body).get(name, "")


def field_remarks(type_: type) -> dict[str, str]:
    """The strings below the fields of a class."""
    module = importlib.import_module(type_.__module__)
    for node in tree(module).body:
        if isinstance(node, ast.ClassDef) and node.name == type_.__name__:
            return _remarks(node.body)
    return {}


def _remarks(body: list[ast.stmt]) -> dict[str, str]:
    found = {}
    for statement, below in pairwise(body):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
        text = below.value.value if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant) else None
        if isinstance(target, ast.Name) and isinstance(text, str):
            found[target.id] = inspect.cleandoc(text)
    return found


def _applied(module: ModuleType) -> Iterator[tuple[Rule, list[str]]]:
    """Where rules are applied, `RULE.error(message)` or `report(RULE, ..., message)`, and with which messages."""
    names = {name: value for name, value in vars(module).items() if isinstance(value, Rule)}
    calls = list(_calls(module)) if names else []
    for call, scope in calls:
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is not None and call.args and (rules := scope.rules(owner, names)):
            texts = _messages(call.args[0], scope, calls)
        elif rules := [rule for argument in call.args for rule in scope.rules(argument, names)]:
            texts = next((found for one in reversed(call.args) if (found := _told(scope.templates(one)))), [])
        for rule in rules:
            yield rule, _told(texts)


def _messages(node: ast.expr, scope: "_Scope", calls: list[tuple[ast.Call, "_Scope"]]) -> list[str]:
    """The texts of a message; one that is a parameter is what the function is called with."""
    if not isinstance(node, ast.Name) or node.id not in scope.parameters:
        return scope.templates(node)
    position = scope.parameters.index(node.id) - ("self" in scope.parameters)
    return [
        text
        for call, caller in calls
        if getattr(call.func, "attr", getattr(call.func, "id", None)) == scope.name and len(call.args) > position
        for text in caller.templates(call.args[position])
    ]


def _told(texts: list[str]) -> list[str]:
    """Texts that say something; a suggestion at the end ("Did you mean ...?") is not part of a message."""
    short = [text.removesuffix(f". {ANYTHING}") for text in texts]
    return [text for text in short if text.strip(f"{ANYTHING} .")]


class _Scope(NamedTuple):
    """The scope of a call: its function, what that assigns, and the functions of the module."""

    name: str
    parameters: tuple[str, ...]
    assigned: dict[str, list[tuple[int, ast.expr]]]
    functions: dict[str, ast.FunctionDef]
    line: int

    def templates(self, node: ast.expr) -> list[str]:
        """The texts that an expression may produce, with `…` for what is unknown."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr():
                return ["".join(self._piece(piece) for piece in node.values)]
            case ast.IfExp():
                return self.templates(node.body) + self.templates(node.orelse)
            case ast.BinOp(op=ast.Add()):
                return [self._one(node.left) + self._one(node.right)]
            case ast.BinOp(left=ast.Constant(value=str(text)), op=ast.Mult()):
                return [f"({text})"]
            case ast.Name(id=name) if before := [at for at in self.assigned.get(name, ()) if at[0] < self.line]:
                line, value = max(before, key=lambda at: at[0])
                return self._replace(line=line).templates(value)
            case ast.Call(func=ast.Name(id=name)) if name in self.functions:
                return _returned(self.functions[name], self.functions)
        return [ANYTHING]

    def rules(self, node: ast.expr, names: dict[str, Rule]) -> list[Rule]:
        """The rules that an expression may stand for."""
        match node:
            case ast.Name(id=name) if name in names:
                return [names[name]]
            case ast.Name(id=name) if len(self.assigned.get(name, ())) == 1 and self.assigned[name][0][0] < self.line:
                ((line, value),) = self.assigned[name]
                return self._replace(line=line).rules(value, names)
            case ast.IfExp():
                return self.rules(node.body, names) + self.rules(node.orelse, names)
        return []

    def _piece(self, node: ast.expr) -> str:
        return self._one(node.value if isinstance(node, ast.FormattedValue) else node)

    def _one(self, node: ast.expr) -> str:
        found = self.templates(node)
        return found[0] if len(found) == 1 else ANYTHING


def _returned(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> list[str]:
    returns = [node for node in ast.walk(function) if isinstance(node, ast.Return)]
    scope = _scope(function, functions)
    return [text for node in returns if node.value for text in scope._replace(line=node.lineno).templates(node.value)]


def _scope(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> _Scope:
    parameters = tuple(parameter.arg for parameter in function.args.args)
    return _Scope(function.name, parameters, _assigned(function), functions, function.lineno)


def _calls(module: ModuleType) -> Iterator[tuple[ast.Call, _Scope]]:
    """Every call in the functions of a module, with what surrounds it."""
    defined = [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef)]
    functions = {node.name: node for node in tree(module).body if isinstance(node, ast.FunctionDef)}
    seen: set[int] = set()
    for function in reversed(defined):  # functions inside others come later, and know their own names
        scope = _scope(function, functions)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and id(node) not in seen:
                seen.add(id(node))
                yield node, scope._replace(line=node.lineno)


def _assigned(function: ast.FunctionDef) -> dict[str, list[tuple[int, ast.expr]]]:
    found: dict[str, list[tuple[int, ast.expr]]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append((node.lineno, node.value))
    return found
