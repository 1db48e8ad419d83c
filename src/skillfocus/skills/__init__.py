"""Sets of skills: their policies, what they were rewarded for, and their files."""

from __future__ import annotations

from skillfocus.skills.skills import Skills

__all__ = ["Skills"]
