"""The page's compiled kernel: the pull of a point mass on each of a batch of positions, added to what is there."""

from __future__ import annotations

from cuda.core import Program, ProgramOptions

from eagle.plugin import Argument, Kernel
from eagle_cuda import ARTIFACT_DIALECT, Artifact
from eagle_cuda.device import device

__all__ = ["gravity"]

SOURCE = """
extern "C" __global__ void gravity(double* out, long long out_row, const double* position, long long row, double mu,
                                   unsigned char* terminated, long long samples) {
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= samples || terminated[i] != 0) return;
    const double x = position[i], y = position[i + row], z = position[i + 2 * row];
    const double r2 = x * x + y * y + z * z;
    const double scale = -mu / (r2 * sqrt(r2));
    out[i] += scale * x;
    out[i + out_row] += scale * y;
    out[i + 2 * out_row] += scale * z;
}
"""


def gravity() -> Kernel:
    """Return the kernel, compiled for the first device."""
    image = bytes(Program(SOURCE, "c++", ProgramOptions(arch=device(0).arch, fma=False)).compile("cubin").code)
    arguments = (
        Argument(name="out", role="sample", mode="rw", dtype="float64", shape=(3,)),
        Argument(name="position", role="sample", mode="r", dtype="float64", shape=(3,)),
        Argument(name="mu", role="param", mode="r", dtype="float64"),
        Argument(name="terminated", role="mask", mode="rw", dtype="bool"),
    )
    code = Artifact(image=image, entry="gravity")
    return Kernel(name="gravity", arguments=arguments, dialect=ARTIFACT_DIALECT, code=code, fingerprint="gravity")
