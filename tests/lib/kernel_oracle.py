"""What a kernel has to compute, read off its source: the tree is walked for one sample at a time.

It shares no code with the front end, the IR or an engine. Only `kernel_numbers` computes.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, NamedTuple

import numpy as np
from kernel_calls import Calls, Vector
from kernel_numbers import Arithmetic, Fault, Number

LONGEST = 100_000
OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
OF_BOOLS = ("&", "|", "^", "==", "!=")
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
}


class Failure(NamedTuple):
    """The lowest sample that faulted, and how."""

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


@dataclass(frozen=True)
class Table:
    """A table argument, to be indexed."""

    array: np.ndarray


class Leave(Exception):
    """A break, a continue or a return, on its way out."""

    def __init__(self, how: str, value: Any = None) -> None:
        self.how, self.value = how, value


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
        self.kernel = self.functions[name]
        self.fuses = "fma=True" in map(ast.unparse, _keywords(self.kernel))
        self.arguments = [self._declared(argument) for argument in self.kernel.args.args]

    def run(self, arrays: Mapping[str, np.ndarray], params: Mapping[str, Any], samples: int) -> Failure | None:
        """Run over all samples, in place. A sample that faults stores nothing; the lowest one is returned."""
        first: Failure | None = None
        for sample in range(samples):
            try:
                self.run_sample(arrays, params, sample)
            except Fault as fault:
                first = first or Failure(sample, fault.kind)
        return first

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
        """What a return writes: ``out``, or the names of a returned tuple."""
        (names,) = {
            tuple(ast.unparse(item) for item in node.value.elts) if isinstance(node.value, ast.Tuple) else ("out",)
            for node in ast.walk(self.kernel)
            if isinstance(node, ast.Return) and node.value is not None
        }
        return dict(zip(names, value if isinstance(value, tuple) else (value,), strict=True))

    def _store(self, array: np.ndarray, value: Any, sample: int) -> None:
        if isinstance(value, Vector):
            array[:, sample] = [self.numbers.to(item, array.dtype.type) for item in value.items]
        else:
            array[sample] = self.numbers.to(value, array.dtype.type)


def _keywords(kernel: ast.FunctionDef) -> list[ast.keyword]:
    return [keyword for one in kernel.decorator_list if isinstance(one, ast.Call) for keyword in one.keywords]


class Frame:
    """One function being evaluated, with its variables."""

    def __init__(self, oracle: Oracle, names: dict[str, Any], declared: Mapping[str, Declared]) -> None:
        self.oracle, self.names, self.declared = oracle, names, declared
        self.numbers, self.calls = oracle.numbers, oracle.calls
        self.steps = 0

    def function(self, node: ast.FunctionDef) -> Any:
        try:
            self.block(node.body)
        except Leave as leave:
            return leave.value
        return None

    # statements

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            getattr(self, f"do_{type(statement).__name__}")(statement)

    def do_Pass(self, node: ast.Pass) -> None:  # noqa: N802 - named for the node
        pass

    def do_Expr(self, node: ast.Expr) -> None:  # noqa: N802
        if not isinstance(node.value, ast.Constant):
            self.value(node.value)

    def do_Assign(self, node: ast.Assign) -> None:  # noqa: N802
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_AnnAssign(self, node: ast.AnnAssign) -> None:  # noqa: N802
        assert node.value is not None
        self.assign(node.target, self.value(node.value))

    def do_AugAssign(self, node: ast.AugAssign) -> None:  # noqa: N802
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        self.assign(node.target, self.of_BinOp(ast.BinOp(read, node.op, node.value)))

    def do_If(self, node: ast.If) -> None:  # noqa: N802
        try:
            self.block(node.body if self.holds(node.test) else node.orelse)
        finally:
            self.settle(node)

    def do_While(self, node: ast.While) -> None:  # noqa: N802
        self.settle(node)
        while self.holds(node.test):
            if not self.iteration(node.body):
                return
            self.settle(node)
        self.block(node.orelse)

    def do_For(self, node: ast.For) -> None:  # noqa: N802
        assert isinstance(node.iter, ast.Call)
        bounds = [int(self.numbers.to(self.value(argument), np.int64)) for argument in node.iter.args]
        self.settle(node)
        for number in range(*bounds):
            self.assign(node.target, np.int64(number))
            if not self.iteration(node.body):
                return
            self.settle(node)
        self.block(node.orelse)

    def do_Break(self, node: ast.Break) -> None:  # noqa: N802
        raise Leave("break")

    def do_Continue(self, node: ast.Continue) -> None:  # noqa: N802
        raise Leave("continue")

    def do_Return(self, node: ast.Return) -> None:  # noqa: N802
        raise Leave("return", None if node.value is None else self.value(node.value))

    def iteration(self, body: Sequence[ast.stmt]) -> bool:
        """Run a loop's body once; whether the loop goes on."""
        self.steps += 1
        if self.steps > LONGEST:
            raise RuntimeError("this kernel does not end")
        try:
            self.block(body)
        except Leave as leave:
            if leave.how == "return":
                raise
            return leave.how == "continue"
        return True

    def settle(self, node: ast.stmt) -> None:
        """A whole number that two paths may have set differently has a type from there on: Index."""
        for one in ast.walk(node):
            if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                value = self.names.get(one.id)
                if isinstance(value, int) and not isinstance(value, bool):
                    self.names[one.id] = self.numbers.to(value, np.int64)

    def assign(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Tuple | ast.List):
            items = value.items if isinstance(value, Vector) else value
            for one, item in zip(target.elts, items, strict=True):
                self.assign(one, item)
        elif isinstance(target, ast.Subscript):
            assert isinstance(target.value, ast.Name)
            changed = self.names[target.value.id].replaced(self.indices(target.slice), value)
            self.assign(target.value, self.calls.vector(changed.items, changed.shape))
        else:
            assert isinstance(target, ast.Name)
            declared = self.declared.get(target.id)
            self.names[target.id] = self.oracle.converted(value, declared) if declared else value

    # expressions

    def value(self, node: ast.expr) -> Any:
        return getattr(self, f"of_{type(node).__name__}")(node)

    def holds(self, node: ast.expr) -> bool:
        return bool(self.value(node) != 0)

    def of_Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        return self.numbers.real(node.value) if isinstance(node.value, float) else node.value

    def of_Name(self, node: ast.Name) -> Any:  # noqa: N802
        if node.id in self.names:
            return self.names[node.id]
        if node.id in self.oracle.functions:
            return self.oracle.functions[node.id]
        if node.id in self.oracle.namespace:
            return self.constant(self.oracle.namespace[node.id])
        return getattr(builtins, node.id)

    def of_Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        owner = self.value(node.value)
        if isinstance(owner, Vector):
            assert node.attr == "T"
            return owner.transposed
        return self.constant(getattr(owner, node.attr))

    def constant(self, thing: object) -> Any:
        """Something from around the kernel: whole numbers are literals, a float is the plan's, an array is a vector."""
        if isinstance(thing, bool | np.bool_):
            return bool(thing)
        if isinstance(thing, int | np.integer):
            return int(thing)
        if isinstance(thing, float | np.floating):
            return self.numbers.to(thing, self.numbers.real)
        if isinstance(thing, np.ndarray):
            return Vector(thing.shape, [item[()] for item in thing.ravel()])
        if isinstance(thing, tuple | list):
            items = [self.constant(item) for item in thing]
            return tuple(items) if isinstance(thing, tuple) else self.calls.vector(items)
        return thing

    def of_Tuple(self, node: ast.Tuple) -> Any:  # noqa: N802
        return tuple(self.value(item) for item in node.elts)

    def of_List(self, node: ast.List) -> Any:  # noqa: N802
        return self.calls.vector([self.value(item) for item in node.elts])

    def of_UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        if isinstance(node.op, ast.Not):
            return np.bool_(not self.holds(node.operand))
        return self.calls.elementwise(lambda item: self.unary(node.op, item), self.value(node.operand))

    def unary(self, op: ast.unaryop, value: Number) -> Number:
        if isinstance(op, ast.UAdd):
            return value if isinstance(value, int) else self.numbers.together(value)[0]
        if isinstance(op, ast.Invert):
            return ~value if type(value) is int else self.numbers.apply("~", value, bools=True)
        return -value if isinstance(value, int) else self.numbers.apply("neg", value)

    def of_BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        if self.oracle.fuses and isinstance(node.op, ast.Add | ast.Sub):
            minus = isinstance(node.op, ast.Sub)
            if isinstance(node.left, ast.BinOp) and isinstance(node.left.op, ast.Mult):
                a, b, c = (self.value(one) for one in (node.left.left, node.left.right, node.right))
                return self.calls.elementwise(lambda x, y, z: self.fused(x, y, z, False, minus), a, b, c)
            if isinstance(node.right, ast.BinOp) and isinstance(node.right.op, ast.Mult):
                c, a, b = (self.value(one) for one in (node.left, node.right.left, node.right.right))
                return self.calls.elementwise(lambda x, y, z: self.fused(x, y, z, minus, False), a, b, c)
        return self.operator(node.op, self.value(node.left), self.value(node.right))

    def fused(self, a: Number, b: Number, c: Number, negate: bool, minus: bool) -> Number:
        """``±(a * b) ± c``: rounded once where the product is a float's."""
        if not any(isinstance(one, np.floating) for one in (a, b)):
            product = self.binary(ast.Mult(), a, b)
            first, second = (c, product) if negate else (product, c)
            return self.binary(ast.Sub() if negate or minus else ast.Add(), first, second)
        a, b, c = self.numbers.together(a, b, c)
        return self.numbers.apply("fma", -a if negate else a, b, -c if minus else c)

    def operator(self, op: ast.operator, a: Any, b: Any) -> Any:
        if isinstance(op, ast.MatMult):
            return self.calls.matmul(a, b)
        return self.calls.elementwise(lambda x, y: self.binary(op, x, y), a, b)

    def binary(self, op: ast.operator | ast.cmpop, a: Number, b: Number) -> Number:
        if isinstance(op, ast.Pow):
            return self.numbers.power(a, b)
        if isinstance(op, ast.Div):
            return self.numbers.real_apply("/", a, b)
        name = OPERATORS[type(op)]
        if isinstance(a, int) and isinstance(b, int):
            if name in ("//", "%") and b == 0:
                raise Fault(ZeroDivisionError)
            return PYTHON[name](a, b)
        return self.numbers.apply(name, a, b, bools=name in OF_BOOLS)

    def of_Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.value(right_node)
            if not self.binary(op, left, right):
                return np.bool_(False)
            left = right
        return np.bool_(True)

    def of_BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        decides = isinstance(node.op, ast.Or)
        return np.bool_(decides if any(self.holds(one) == decides for one in node.values) else not decides)

    def of_IfExp(self, node: ast.IfExp) -> Any:  # noqa: N802
        """One of two, in the type both have together: the other is looked at for its type alone."""
        chosen, other = (node.body, node.orelse) if self.holds(node.test) else (node.orelse, node.body)
        value = self.value(chosen)
        try:
            return self.calls.unified(value, self.value(other))
        except Fault:
            return value

    def of_Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        owner, indices = self.value(node.value), self.indices(node.slice)
        if isinstance(owner, tuple):
            return owner[indices[0]]
        if isinstance(owner, Vector):
            return owner.at(indices)
        for index, size in zip(indices, owner.array.shape, strict=False):
            if not 0 <= index < size:
                raise Fault(IndexError)
        return Vector(found.shape, list(found)) if (found := owner.array[indices]).ndim else found

    def indices(self, node: ast.expr) -> tuple[Any, ...]:
        parts = node.elts if isinstance(node, ast.Tuple) else [node]
        return tuple(self.index(part) for part in parts)

    def index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(
                *(None if one is None else int(self.value(one)) for one in (node.lower, node.upper, node.step))
            )
        return int(self.value(node))

    def of_Call(self, node: ast.Call) -> Any:  # noqa: N802
        function = self.value(node.func)
        values = [self.value(argument) for argument in node.args]
        named = {keyword.arg or "": self.value(keyword.value) for keyword in node.keywords}
        if isinstance(function, ast.FunctionDef):
            result, written = self.oracle.call(function, values, named)
            given = dict(zip([one.arg for one in function.args.args], node.args, strict=False))
            for name, value in written.items():
                self.assign(given[name], value)
            return result
        return self.calls.call(function, values, named)
