"""Records of skills, taken apart into rows and put together again."""

from __future__ import annotations

from probes import corridor
from skill_sets import random_skills
from skillfocus.metrics.summary import records_of, rows_of, skill_records


def test_rows_become_the_same_records():
    skills = random_skills(0, corridor())
    records = skill_records(skills)
    assert records_of(rows_of(records), skills.targets) == records


def test_only_metrics_of_skills_become_records():
    """Steps of `curve` are no skills; `extra` has a value for each of the three."""
    skills = random_skills(0, corridor())
    records = skill_records(skills)
    rows = [*rows_of(records), *(("curve", n, 0.5) for n in (1, 2, 3, 40)), ("whole", None, 1.0)]
    assert records_of(rows, skills.targets) == records
    rows += [("extra", z, float(z)) for z in range(3)]
    assert [record["extra"] for record in records_of(rows, skills.targets)] == [0.0, 1.0, 2.0]
