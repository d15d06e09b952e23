"""What the driver refuses, and compiled kernels that cannot be used, as exceptions."""

from __future__ import annotations

from eagle.plugin import BuildError, EagleError

__all__ = ["ArtifactError", "ArtifactNotFound", "CudaError"]


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


class ArtifactError(BuildError):
    """A compiled kernel, or the file of one, that cannot be what it says it is."""


class ArtifactNotFound(ArtifactError, FileNotFoundError):
    """A file of a compiled kernel that is not there."""
