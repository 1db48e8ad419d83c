"""Exact planning over tables."""
