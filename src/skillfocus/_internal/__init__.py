"""Helpers without a public interface: atomic file writes, versions, Gymnasium ids."""
