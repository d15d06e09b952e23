"""Compiled jobs, made once for all tests of the team."""

from __future__ import annotations

import pytest
from team_entries import Entries, compiled


@pytest.fixture(scope="session")
def entries(tmp_path_factory: pytest.TempPathFactory) -> Entries:
    return compiled(tmp_path_factory.mktemp("entries"))
