"""Where eagle deliberately does other than the specification's page says."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

import eagle
from eagle.busy import CallGuard
from eagle.graph import opaque

ON = eagle.SkipGuard.nonzero(np.ones(1))


def test_conditionals_nest_and_bodies_take_several_parts_where_the_page_refuses_them() -> None:
    x = np.zeros(1)
    bump = opaque(lambda: np.add(x, 1, out=x), reads={"x": x}, writes={"x": x})
    step = eagle.skippable((bump, eagle.repeat_while((bump, bump), ON, 2)), ON)
    eagle.Graph().add_node(step).build().launch()
    assert x[0] == 5


def test_reduce_has_min_and_any_too_and_takes_strided_planes() -> None:
    x, least = np.array([3.0, -9.0, 1.0, -9.0]), np.zeros(1)
    flags, some = np.array([False, True]), np.zeros(1, bool)
    eagle.Graph().add_node(eagle.reduce(x[::2], least, "min")).add_node(
        eagle.reduce(flags, some, "any")
    ).build().launch()
    assert (least[0], some[0]) == (1.0, True)


def test_a_label_is_in_node_labels_and_the_schedule_has_one_word_per_stage() -> None:
    g = eagle.Graph().add_node(opaque(lambda: None), name="model").build()
    assert g.schedule == ("work_share",)
    assert g.node_labels() == ("model",)


class OnDevice:
    """An array that only says where it is on a CUDA device."""

    __cuda_array_interface__ = {"shape": (8,), "typestr": "<f8", "data": (1 << 40, False), "version": 3}  # noqa: RUF012


def test_one_copy_may_cross_devices_where_the_page_refuses_to_mix_them(without_cuda: None) -> None:
    host = np.zeros(8)
    g = eagle.Graph().add_node(eagle.copy(host, into=OnDevice())).add_node(opaque(lambda: None, reads=OnDevice()))
    with pytest.raises(eagle.BackendUnavailable, match="CUDA device memory"):  # not: the graph mixes
        g.build()


def test_hints_name_our_distributions(without_cuda: None) -> None:
    with pytest.raises(eagle.BackendUnavailable, match="Install the distribution eagle-cuda"):
        eagle.Graph().add_node(opaque(lambda: None)).build("gpu")


def test_the_guard_is_python_and_atomic() -> None:
    guard = CallGuard("Graph")

    def reenter() -> None:
        with pytest.raises(eagle.Busy):
            guard.hold(lambda: None)

    guard.hold(reenter)
    assert guard.hold(lambda: 3) == 3


def test_the_schema_of_register_node_kind_is_no_test() -> None:
    blocks = tomllib.loads((Path(__file__).parent / "blocks.toml").read_text())["block"]
    assert [b["file"] for b in blocks if b["waits_for"] == "nothing: schema"] == ["graph_08_register_node_kind.py"]
