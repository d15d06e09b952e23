"""The emulated CUDA device for the graph suite: arrays in its memory, operations in CUDA C++ of our own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cuda_frame
import numpy as np
from cuda_arrays import DeviceArray

SOURCE = """
// One element of a strided array a thread. As NumPy does it: what is read is read before anything is written, also
// where the arrays overlap.
__device__ inline double& at(double* data, long long stride, int i) { return *(double*)((char*)data + i * stride); }

extern "C" __global__ void set(double* out, long long step, double value) { at(out, step, threadIdx.x) = value; }

extern "C" __global__ void scale(const double* a, long long a_step, double factor, double* out, long long step) {
    const double value = at((double*)a, a_step, threadIdx.x) * factor;
    __syncthreads();
    at(out, step, threadIdx.x) = value;
}

extern "C" __global__ void shift(const double* a, long long a_step, double by, double* out, long long step) {
    const double value = at((double*)a, a_step, threadIdx.x) + by;
    __syncthreads();
    at(out, step, threadIdx.x) = value;
}

extern "C" __global__ void add(const double* a, long long a_step, const double* b, long long b_step, double* out,
                               long long step) {
    const double value = at((double*)a, a_step, threadIdx.x) + at((double*)b, b_step, threadIdx.x);
    __syncthreads();
    at(out, step, threadIdx.x) = value;
}
"""


class CudaDevice:
    """Arrays of float64 in the memory of the device, at most one axis long where an operation touches them."""

    name = "gpu"

    def array(self, values: Any, dtype: Any = np.float64) -> DeviceArray:
        return DeviceArray(np.array(values, dtype))

    def put(self, values: Any) -> DeviceArray:
        return DeviceArray(np.array(values))

    def write(self, array: DeviceArray, values: Any) -> None:
        array.fill_from(values)

    def view(self, array: DeviceArray, *key: Any) -> DeviceArray:
        return array[key]

    def to_numpy(self, array: Any) -> np.ndarray[Any, Any]:
        """A copy of an array of the tests', or of one that eagle made beside them."""
        return array.to_numpy() if isinstance(array, DeviceArray) else np.asarray(array)

    def fill(self, out: DeviceArray, value: float) -> Callable[[], object]:
        return self.operation("set", out, np.float64(value))

    def add(self, a: DeviceArray, b: DeviceArray, out: DeviceArray) -> Callable[[], object]:
        return self.operation("add", a, b, out)

    def scale(self, a: DeviceArray, factor: float, out: DeviceArray) -> Callable[[], object]:
        return self.operation("scale", a, np.float64(factor), out)

    def shift(self, a: DeviceArray, by: float, out: DeviceArray) -> Callable[[], object]:
        return self.operation("shift", a, np.float64(by), out)

    def operation(self, name: str, *arguments: Any) -> Callable[[], object]:
        """A callable that launches a kernel; it is compiled and loaded now, because a capture cannot."""
        kernel = cuda_frame.compiled(SOURCE, name)
        flat: list[Any] = []
        for argument in arguments:
            is_array = isinstance(argument, DeviceArray)
            flat += [argument.address, np.int64(argument.strides[0])] if is_array else [argument]
        count = next(len(one) for one in arguments if isinstance(one, DeviceArray))

        def run() -> tuple[Any, ...]:
            cuda_frame.run(kernel, *flat, threads=count)
            return arguments  # kept alive by being here

        return run
