"""Figures and terminal tables: generic drawing. Experiments draw their own figures with it."""
