"""What a kernel has to compute, read off its source: the tree is walked for one sample at a time.

It shares no code with the front end, the IR or an engine. Only `kernel_numbers` computes.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from kernel_calls import Calls, Vector
from kernel_frame import Frame, Table
from kernel_numbers import Arithmetic, Fault
from kernel_types import Types, signature


class Failure(NamedTuple):
    """A sample that faulted, and how."""

    sample: int
    kind: type[Exception]


@dataclass(frozen=True)
class Declared:
    """An argument as its annotation declares it; `kind` is None for the plan's float type."""

    name: str = ""
    role: str = "sample"
    writes: bool = False
    kind: Any = None
    shape: tuple[int, ...] = ()


class Oracle:
    """Evaluates one kernel of a module's source.

    Parameters
    ----------
    source : str
        The text of the module.
    name : str
        The kernel's name in it.
    namespace : mapping of str to object
        What the names of the module and of closures stand for.
    scalar : {"float64", "float32"}
    functions : mapping of str to callable
        The transcendentals, by name.
    """

    def __init__(
        self,
        source: str,
        name: str,
        namespace: Mapping[str, object],
        scalar: str = "float64",
        functions: Mapping[str, Callable[..., Any]] | None = None,
    ) -> None:
        tree = ast.parse(source)
        self.functions = {node.name: node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        self.namespace = namespace
        self.numbers = Arithmetic(np.dtype(scalar).type, functions or {})
        self.calls = Calls(self.numbers)
        self._types: dict[object, tuple[dict[ast.stmt, dict[str, Any]], Any]] = {}
        self.kernel = self.functions[name]
        self.fuses = "fma=True" in map(ast.unparse, _keywords(self.kernel))
        self.arguments = [self._declared(argument) for argument in self.kernel.args.args]

    def run(self, arrays: Mapping[str, np.ndarray], params: Mapping[str, Any], samples: int) -> list[Failure]:
        """Run over all samples, in place. A sample that faults stores nothing; they are returned in order."""
        failures = []
        for sample in range(samples):
            try:
                self.run_sample(arrays, params, sample)
            except Fault as fault:
                failures.append(Failure(sample, fault.kind))
        return failures

    def run_sample(self, arrays: Mapping[str, np.ndarray], params: Mapping[str, Any], sample: int) -> None:
        """Run one sample, in place; one that is done on entry is left alone."""
        if any(one.role == "mask" and arrays[one.name][sample] for one in self.arguments):
            return
        names = {one.name: self._loaded(one, arrays, params, sample) for one in self.arguments}
        frame = Frame(self, names, {one.name: one for one in self.arguments})
        value = frame.function(self.kernel)
        stored = {one.name: names[one.name] for one in self.arguments if one.writes}
        if value is not None:
            stored |= self._outputs(value)
        for name, result in stored.items():
            self._store(arrays[name], result, sample)

    def call(
        self, node: ast.FunctionDef, values: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Any, dict[str, Any]]:
        """Call another function of the source: what it returns, and what it wrote in place if it is a kernel."""
        parameters = node.args.args
        names = dict(zip([one.arg for one in parameters], values, strict=False)) | dict(named)
        for parameter, default in zip(reversed(parameters), reversed(node.args.defaults), strict=False):
            if parameter.arg not in names:
                names[parameter.arg] = Frame(self, {}, {}).value(default)
        declared = {one.arg: self._declared(one) for one in parameters if one.annotation is not None}
        for name, one in declared.items():
            names[name] = self.converted(names[name], one)
        frame = Frame(self, names, declared)
        result = frame.function(node)
        return result, {name: frame.names[name] for name, one in declared.items() if one.writes}

    def types(
        self, node: ast.FunctionDef, names: Mapping[str, Any], declared: Mapping[str, Declared]
    ) -> tuple[dict[ast.stmt, dict[str, Any]], Any]:
        """Where paths of a function meet, the types of its variables; and the type of what it returns."""
        key = node, tuple((name, signature(value)) for name, value in names.items())
        if key not in self._types:
            found = Types(self, names, declared)
            self._types[key] = found.joins, found.function(node)
        return self._types[key]

    def converted(self, value: Any, declared: Declared) -> Any:
        kind = declared.kind or self.numbers.real
        if declared.role == "table":
            return value
        if declared.shape:
            items = value.items if isinstance(value, Vector) else [value] * prod(declared.shape)
            return Vector(declared.shape, [self.numbers.to(item, kind) for item in items])
        return self.numbers.to(value, kind)

    def _declared(self, argument: ast.arg) -> Declared:
        assert argument.annotation is not None
        return replace(self._annotation(argument.annotation), name=argument.arg)

    def _annotation(self, node: ast.expr) -> Declared:
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            kinds = {"Int32": np.int32, "UInt32": np.uint32, "Index": np.int64, "Bool": np.bool_}
            if name == "Terminated":
                return Declared(role="mask", writes=True, kind=np.bool_)
            role = "param" if name == "Param" else "sample"
            return Declared(role=role, kind=kinds.get(name), shape=(4,) if name == "Quat" else ())
        assert isinstance(node, ast.Subscript)
        outer = node.value.id if isinstance(node.value, ast.Name) else ast.unparse(node.value).split(".")[-1]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if outer in ("Vector", "Matrix"):
            return Declared(shape=tuple(int(Frame(self, {}, {}).value(part)) for part in parts))
        inner = self._annotation(parts[0])
        if outer == "Mutable":
            return replace(inner, writes=True)
        return replace(inner, role={"Table": "table", "Param": "param"}[outer])

    def _loaded(self, one: Declared, arrays: Mapping[str, Any], params: Mapping[str, Any], sample: int) -> Any:
        kind = one.kind or self.numbers.real
        if one.role == "param":
            return self.numbers.to(params[one.name], kind)
        array = arrays[one.name]
        assert array.dtype == kind, f"{one.name} is {array.dtype}"
        if one.role == "table":
            return Table(array)
        if one.shape:
            assert array.shape[0] == prod(one.shape)
            return Vector(one.shape, [item[()] for item in array[:, sample]])
        return array[sample]

    def _outputs(self, value: Any) -> dict[str, Any]:
        """What a return writes, by name."""
        return dict(zip(output_names(self.kernel), value if isinstance(value, tuple) else (value,), strict=True))

    def _store(self, array: np.ndarray, value: Any, sample: int) -> None:
        """Store a result, whose type has to be the plane's, or narrower where another path has another one."""
        items = value.items if isinstance(value, Vector) else [value]
        kind = array.dtype.type
        found = [self.calls.unified(item, kind(0)) for item in items]
        assert all(type(item) is kind for item in found), f"{type(found[0])} in a plane of {array.dtype}"
        array.reshape(len(items), -1)[:, sample] = found


def output_names(kernel: ast.FunctionDef) -> tuple[str, ...]:
    """``out``; for a tuple its variables where every return gives the same ones, else ``out0``, ``out1``, ..."""
    returned = [one.value for one in ast.walk(kernel) if isinstance(one, ast.Return) and one.value is not None]
    if not returned or not isinstance(returned[0], ast.Tuple):
        return ("out",) if returned else ()
    tuples = {tuple(map(ast.unparse, one.elts)) for one in returned if isinstance(one, ast.Tuple)}
    count = len(returned[0].elts)
    names = next(iter(tuples))
    named = len(tuples) == 1 and all(name.isidentifier() for name in names) and len(set(names)) == count
    return names if named else tuple(f"out{number}" for number in range(count))


def _keywords(kernel: ast.FunctionDef) -> list[ast.keyword]:
    return [keyword for one in kernel.decorator_list if isinstance(one, ast.Call) for keyword in one.keywords]
