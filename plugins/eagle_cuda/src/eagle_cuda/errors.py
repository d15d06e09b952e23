"""What the driver refuses, as an exception."""

from __future__ import annotations

from eagle.plugin import EagleError

__all__ = ["CudaError"]


class CudaError(EagleError, RuntimeError):
    """A call of the CUDA driver that failed.

    Attributes
    ----------
    function : str
        The function of the driver API.
    code : int
        Its ``CUresult``.
    """

    def __init__(self, what: str, *, why: str = "", fix: str = "", function: str = "", code: int = 0) -> None:
        super().__init__(what, why=why, fix=fix)
        self.function = function
        self.code = code
