"""Runs eagle graphs over host arrays."""
