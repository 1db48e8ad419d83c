"""The row type of result tables, shared by metrics and runs."""

from __future__ import annotations

Row = tuple[str, int | None, float | None]
"""`(metric, step, value)`. What `step` counts depends on the metric: skills, episodes, lengths of
chains. It is None for a metric of the whole run; `value` is None where the metric is undefined."""
