"""Where eagle deliberately does other than the specification's page says."""

from __future__ import annotations

import numpy as np

import eagle
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
