"""Puts the module that EAGLE_SANITIZED names in place of the installed ``eagle_cpu._native``, in children too."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import Any


class Sanitized(MetaPathFinder):
    """Finds one module, before any other finder is asked."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if fullname != "eagle_cpu._native":
            return None
        return importlib.util.spec_from_file_location(fullname, os.environ["EAGLE_SANITIZED"])


sys.meta_path.insert(0, Sanitized())
