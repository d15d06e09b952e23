"""Kernels that are compiled already: `LoadedVector`, a file of machine code or PTX with its description beside it.

The names here are those of the plugin that loads such files, eagle-cuda.
"""

from eagle.plugin.doors import door

__getattr__ = door(__name__, "eagle-cuda")
