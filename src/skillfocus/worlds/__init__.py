"""Worlds: built-in grid worlds, map files, and adapters for foreign environments.

`registry.make` makes any of them by name.
"""
