"""torch without a device has no streams to keep in order, and stands in nobody's way."""

from __future__ import annotations

import pytest
import torch

from eagle.errors import GraphTypeError
from eagle.plugin import stream_handle, streams

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="this torch has a device")


def test_there_is_nothing_to_wait_for() -> None:
    known = streams()["torch"]
    assert known.current(("cuda", 0)) is None
    assert known.current(("cpu", 0)) is None
    with known.use(("cuda", 0), 7):
        assert known.current(("cuda", 0)) is None


def test_no_object_is_a_stream_of_its() -> None:
    assert streams()["torch"].handle(object()) is None
    with pytest.raises(GraphTypeError, match="cannot find the handle"):
        stream_handle(object())
