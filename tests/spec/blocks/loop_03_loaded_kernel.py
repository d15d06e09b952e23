import pathlib

import cupy as cp
import numpy as np

from eagle.loaded import LoadedVector
from eagle.pipeline import GraphPipeline

FIXTURES = pathlib.Path("../_fixtures").resolve()
force = LoadedVector(FIXTURES / "gravity.ptx")
