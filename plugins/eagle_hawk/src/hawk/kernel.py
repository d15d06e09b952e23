"""The decorator, and the kernel it makes of a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any, NoReturn, cast, overload

from eagle.plugin import Argument, Kernel
from eagle_ir import Function, Type, to_kernel
from hawk.annotations import Annotation
from hawk.describe import described
from hawk.errors import KernelError, KernelUseError
from hawk.lowering.whole import lower
from hawk.signature import annotations_of, returned
from hawk.source import Source, source_of

__all__ = ["KernelFunction", "kernel"]


class KernelFunction:
    """A function over one sample, which eagle runs over many. Made by `kernel`.

    Constants of its surroundings are read when it is first lowered, and then kept.

    Attributes
    ----------
    name : str
    function : FunctionType
        The function that was decorated. It is read, never run.
    annotations : mapping of str to Annotation
        Of its arguments, in order.
    returns : tuple of Annotation
        Of what it returns, where it says so.
    definition : Source
    fma : bool
        Whether sums of products are fused.
    """

    def __init__(self, function: FunctionType, names: Mapping[str, object], *, fma: bool = False) -> None:
        self.function = function
        self.name = function.__name__
        self.fma = fma
        self.definition: Source = source_of(function)
        self.annotations: Mapping[str, Annotation] = annotations_of(function, self.definition, names)
        self.returns: tuple[Annotation, ...] = returned(function, self.definition, names)
        self.__name__, self.__doc__ = function.__name__, function.__doc__
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self.__wrapped__ = function
        self._frozen: dict[tuple[FunctionType, str], object] = {}
        self._kernels: dict[str, Kernel] = {}

    def __eagle_kernel__(self, scalar: str = "float64") -> Kernel:
        """Return the kernel for plans of a float type, made once for each.

        Parameters
        ----------
        scalar : {"float64", "float32"}

        Raises
        ------
        KernelError
            The function is outside the language.
        """
        if scalar not in ("float64", "float32"):
            raise KernelUseError(f"the scalar type is 'float64' or 'float32', not {scalar!r}")
        if scalar not in self._kernels:
            made = lower(self, Type(scalar), self._frozen)
            self._kernels.setdefault(scalar, to_kernel(made))  # of several threads the first one counts
        return self._kernels[scalar]

    @property
    def signature(self) -> tuple[Argument, ...]:
        """Its arguments in a float64 plan, outputs last."""
        return self.__eagle_kernel__().arguments

    @property
    def source(self) -> str:
        """Its source, decorators included."""
        return inspect.cleandoc("\n" + self.definition.text) + "\n"

    @property
    def code(self) -> Function:
        """Its IR in a float64 plan."""
        return cast(Function, self.__eagle_kernel__().code)

    def __repr__(self) -> str:
        try:
            return described(self.name, self.signature, self.annotations)
        except KernelError as error:
            return f"<kernel {self.name}, which does not compile: {error.msg}>"

    def __reduce__(self) -> str:
        return self.__qualname__

    def __call__(self, *values: object, **named: object) -> NoReturn:
        """Refuse: a kernel is deployed, or called from another kernel."""
        raise KernelUseError(
            f"the kernel {self.name} is not called as a function",
            fix=f"Run it by eagle.deploy({self.name}).run(...) or eagle.simulate({self.name}, ...); "
            "inside another kernel it can be called",
        )


@overload
def kernel(function: Callable[..., Any], /) -> KernelFunction: ...
@overload
def kernel(*, fma: bool = False) -> Callable[[Callable[..., Any]], KernelFunction]: ...
def kernel(
    function: Callable[..., Any] | None = None, /, *, fma: bool = False
) -> KernelFunction | Callable[[Callable[..., Any]], KernelFunction]:
    """Make a kernel of a function over one sample.

    Parameters
    ----------
    function : function
        Its arguments are annotated with `Scalar`, `Mutable[...]` and the like.
    fma : bool
        Rewrite ``a*b + c``, ``a*b - c`` and ``c - a*b`` to `hawk.math.fma` where the product is a float: of two
        products that are added the left one is fused. Functions that are called are rewritten alike.

    Raises
    ------
    KernelError
        The function has no source, or an argument no annotation. What its body does is looked at when it is deployed.
    """
    names = dict(inspect.currentframe().f_back.f_locals)  # type: ignore[union-attr]

    def make(function: Callable[..., Any]) -> KernelFunction:
        if isinstance(function, KernelFunction):
            raise KernelUseError(f"{function.name} is a kernel already", fix="Use @hawk.kernel once")
        if not isinstance(function, FunctionType):
            raise KernelUseError(
                f"@hawk.kernel takes a function, not {type(function).__name__}", fix="Write it with def"
            )
        return KernelFunction(function, names, fma=fma)

    return make if function is None else make(function)
