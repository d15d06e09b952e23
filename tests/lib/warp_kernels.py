"""Kernels of Warp for tests, and what each does with its arrays: "r", "w" or "rw"."""

from typing import Any

import warp as wp

wp.config.quiet = True


@wp.struct
class Pair:
    first: wp.array(dtype=float)
    weight: float


@wp.struct
class Point:
    place: wp.vec3
    mass: float


@wp.kernel
def saxpy(a: float, x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = a * x[i] + y[i]


@wp.kernel
def double(x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64)):
    i = wp.tid()
    y[i] = x[i] + x[i]


@wp.kernel
def scale(a: wp.array(dtype=wp.float64), factor: wp.float64, out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = a[i] * factor


@wp.kernel
def shift(a: wp.array(dtype=wp.float64), by: wp.float64, out: wp.array(dtype=wp.float64)):
    i = wp.tid()
    out[i] = a[i] + by


@wp.kernel
def copy_any(x: wp.array(dtype=Any), y: wp.array(dtype=Any)):
    i = wp.tid()
    y[i] = x[i]


@wp.kernel
def push(points: wp.array(dtype=wp.vec3), by: wp.vec3):
    i = wp.tid()
    points[i] = points[i] + by


@wp.kernel
def heavier(points: wp.array(dtype=Point)):
    i = wp.tid()
    points[i].mass += 1.0


@wp.kernel
def weighted(pair: Pair, out: wp.array(dtype=float)):
    i = wp.tid()
    out[i] = pair.weight * pair.first[i]
    pair.first[i] = 0.0


@wp.kernel
def from_mesh(mesh: wp.uint64, out: wp.array(dtype=float)):
    out[wp.tid()] = 1.0


@wp.kernel
def transposed(x: wp.array2d(dtype=float), y: wp.array2d(dtype=float)):
    i, j = wp.tid()
    y[j, i] = x[i, j]


@wp.kernel
def until_small(x: wp.array(dtype=wp.float64), done: wp.array(dtype=wp.bool), force: wp.array(dtype=wp.float64)):
    i = wp.tid()
    if not done[i]:
        force[i] = wp.float64(-0.5) * x[i]


# what a kernel does with its arrays ----------------------------------------------------------------------------------


@wp.func
def set_first(a: wp.array(dtype=float), value: float):
    a[0] = value


@wp.func
def first(a: wp.array(dtype=float)):
    return a[0]


@wp.func
def through(a: wp.array(dtype=float), b: wp.array(dtype=float)):
    set_first(b, first(a))


@wp.func_native(snippet="a.data[0] = 1.0f;")
def in_c(a: wp.array(dtype=float)): ...


@wp.kernel
def reads_only(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    if i < x.shape[0] and i < len(x):
        y[i] = first(x)


@wp.kernel
def in_place(x: wp.array(dtype=float)):
    i = wp.tid()
    x[i] = x[i] + 1.0


@wp.kernel
def augmented(x: wp.array(dtype=float)):
    x[wp.tid()] += 1.0


@wp.kernel
def adds_up(x: wp.array(dtype=float), total: wp.array(dtype=float)):
    wp.atomic_add(total, 0, x[wp.tid()])


@wp.kernel
def by_functions(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    through(x, y)


@wp.kernel
def by_c(x: wp.array(dtype=float)):
    in_c(x)


@wp.kernel
def by_another_name(x: wp.array(dtype=float)):
    y = x
    y[wp.tid()] = 1.0


@wp.kernel
def by_a_row(x: wp.array2d(dtype=float)):
    row = x[wp.tid()]
    row[0] = 1.0


@wp.kernel
def row_and_element(x: wp.array2d(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = x[i][0]


@wp.kernel
def by_index(order: wp.array(dtype=int), y: wp.array(dtype=float)):
    y[order[wp.tid()]] = 1.0


@wp.kernel
def component(points: wp.array(dtype=wp.vec3), y: wp.array(dtype=float)):
    i = wp.tid()
    y[i] = points[i][0]
    points[i][1] = 2.0


@wp.kernel
def tiles(x: wp.array(dtype=float), y: wp.array(dtype=float)):
    i = wp.tid()
    wp.tile_store(y, wp.tile_load(x, shape=16, offset=i * 16), offset=i * 16)


USES = [
    (reads_only, {"x": "r", "y": "w"}),
    (in_place, {"x": "rw"}),
    (augmented, {"x": "rw"}),
    (adds_up, {"x": "r", "total": "rw"}),
    (by_functions, {"x": "r", "y": "w"}),
    (by_c, {"x": "rw"}),
    (by_another_name, {"x": "rw"}),
    (by_a_row, {"x": "rw"}),
    (row_and_element, {"x": "r", "y": "w"}),
    (by_index, {"order": "r", "y": "w"}),
    (component, {"points": "rw", "y": "w"}),
    (tiles, {"x": "r", "y": "w"}),
    (saxpy, {"x": "r", "y": "rw"}),
    (heavier, {"points": "rw"}),
]
