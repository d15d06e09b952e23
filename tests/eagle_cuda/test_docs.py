"""Every block marked ``python gpu`` of the pages runs on the device, in the order of its file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from page_blocks import ROOT, pages_with, run_blocks

PAGES = [
    ROOT / "docs" / "compiled_kernels.md",
    ROOT / "docs" / "gpu.md",
    ROOT / "plugins" / "eagle_cuda" / "README.md",
]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(seed: int, cupy: Any, page: Path, tmp_path: Path) -> None:
    run_blocks(page, "gpu", tmp_path)


def test_no_page_has_a_block_that_nobody_runs() -> None:
    assert pages_with("gpu") == set(PAGES)
