"""``python -m eagle_cpu --cmake-dir``: what C++ programs need to find ``eagle::exec``."""

from __future__ import annotations

import argparse

from eagle_cpu import cmake_dir


def main() -> None:
    """Print what is asked for."""
    parser = argparse.ArgumentParser(prog="python -m eagle_cpu", description="Where eagle_cpu keeps its C++ library.")
    parser.add_argument(
        "--cmake-dir",
        action="store_true",
        required=True,
        help="print the folder for CMake's eagle_exec_DIR or CMAKE_PREFIX_PATH",
    )
    parser.parse_args()
    print(cmake_dir())


main()
