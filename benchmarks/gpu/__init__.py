"""What eagle costs on a GPU, beside the device's floors and other programs: ``python -m benchmarks.gpu``."""
