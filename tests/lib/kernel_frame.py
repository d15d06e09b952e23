"""One function of a kernel's source, walked for one sample."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from kernel_calls import Vector
from kernel_numbers import Fault, Number

if TYPE_CHECKING:
    from kernel_oracle import Declared, Oracle

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


@dataclass(frozen=True)
class Table:
    """A table argument, to be indexed."""

    array: np.ndarray


class Leave(Exception):
    """A break, a continue or a return, on its way out."""

    def __init__(self, how: str, value: Any = None) -> None:
        self.how, self.value = how, value


class Frame:
    """One function being evaluated, with its variables."""

    def __init__(self, oracle: Oracle, names: dict[str, Any], declared: Mapping[str, Declared]) -> None:
        self.oracle, self.names, self.declared = oracle, names, declared
        self.numbers, self.calls = oracle.numbers, oracle.calls
        self.joins: dict[ast.stmt, dict[str, Any]] = {}
        self.steps = 0

    def function(self, node: ast.FunctionDef) -> Any:
        self.joins, result = self.oracle.types(node, self.names, self.declared)
        try:
            self.block(node.body)
        except Leave as leave:
            return leave.value if leave.value is None else self.calls.unified(leave.value, result)
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
        self.block(node.body if self.holds(node.test) else node.orelse)
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
        if bounds[2:] == [0]:
            raise Fault(ZeroDivisionError)
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
        """Give variables that two paths may have left differently the type both have together."""
        for name, value in self.joins.get(node, {}).items():
            if name in self.names:
                self.names[name] = self.calls.unified(self.names[name], value)

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
        return self.numbers.to(node.value, self.numbers.real) if isinstance(node.value, float) else node.value

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
        return self.numbers.operator(OPERATORS[type(op)], a, b)

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
        before, self.numbers.lenient = self.numbers.lenient, True
        try:
            return self.calls.unified(value, self.value(other))
        finally:
            self.numbers.lenient = before

    def of_Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        owner, indices = self.value(node.value), self.indices(node.slice)
        if isinstance(owner, tuple):
            return owner[indices[0]]
        if isinstance(owner, Vector):
            return owner.at(indices)
        for index, size in zip(indices, owner.array.shape, strict=False):
            if not 0 <= index < size:
                self.numbers.fault(IndexError)
                return owner.array.dtype.type(1)
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
        return self.calls.call(function, values)
