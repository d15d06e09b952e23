"""``eagle.loaded``: kernels that are compiled already, from files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from eagle.plugin import GraphError, GraphTypeError, Kernel, Plan
from eagle_cuda.artifact_files import read_artifact
from eagle_cuda.artifacts import artifact_of, load
from eagle_cuda.driver import why_not
from eagle_cuda.launching_here import launch_here

__all__ = ["LoadedVector"]


class LoadedVector(Plan):
    """A kernel from a file of PTX or machine code, with its description beside it; nothing of it is compiled here.

    It is a plan like that of `eagle.deploy`: it can be bound, and the bound plan be launched or added to a graph.
    `launch` is for the steps of an `eagle.GraphPipeline`.

    Parameters
    ----------
    path : path
        Of the image, ``gravity.ptx`` or ``gravity.cubin``; the description is ``gravity.json`` beside it, as
        `eagle_cuda.save_artifact` writes it.

    Attributes
    ----------
    path : pathlib.Path

    Raises
    ------
    ArtifactNotFound
        One of the two files is not there.
    ArtifactError
        The description cannot be used, or is of another image.
    BuildError
        The driver does not take the image: it is for another architecture, newer than the driver, the entry is not in
        it or takes other parameters. It is loaded now if there is a device that can run it; without one it can be
        looked at, and not launched.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        super().__init__(read_artifact(path), steps=1)
        self.path = Path(path)
        if why_not() is None:
            load(self.kernel)

    @property
    def signature(self) -> str:
        """The kernel's arguments with what has to be bound to each, one a line; what launches add to is said so."""
        artifact = artifact_of(self.kernel)
        adding = () if artifact is None else artifact.accumulates
        lines = zip(self.kernel.arguments, super().signature.splitlines(), strict=True)
        return "\n".join(
            f"{line.removesuffix('updated')}added to" if argument.name in adding else line for argument, line in lines
        )

    def launch(self, /, *misplaced: Any, **planes: Any) -> None:
        """Queue one launch over these arrays and numbers, captured or not, and do not wait for it.

        It goes to the stream of the code that is captured, else to the current one of the imported libraries. The
        arrays are to be kept until it is over, and where it is captured as long as the graph is launched.

        Parameters
        ----------
        **planes : array or number
            One per argument of the kernel, as `signature` says.

        Raises
        ------
        GraphTypeError
            Something was passed by position.
        PlaneError
            Something missing, unknown, of another dtype, shape, length or device, misaligned, read-only where it is
            written, or overlapping.
        BuildError
            The driver does not take the image.
        """
        if misplaced:
            names = ", ".join(f"{one.name}=" for one in self.kernel.arguments)
            raise GraphTypeError(
                f"kernel {self.name!r} is launched with arguments by name, and {len(misplaced)} came by position",
                fix=f"Say {names}.",
            )
        launch_here(self.bind(**planes))

    def __eagle_kernel__(self, scalar: str = "float64") -> Kernel:
        if scalar == "float32" and any(one.dtype == "float64" for one in self.kernel.arguments):
            raise GraphError(f"kernel {self.name!r} is made for float64", fix="Leave scalar= out.")
        return self.kernel

    def __repr__(self) -> str:
        return f"<eagle.LoadedVector of kernel {self.name!r} from {self.path}>"
