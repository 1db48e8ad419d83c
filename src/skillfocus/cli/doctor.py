"""`skillfocus doctor`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.output import print_json, print_table


@dataclass(frozen=True)
class Doctor:
    """Versions, cores, the compiler's cache: what a bug report should say."""

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        from skillfocus.cli.health import examine

        findings, healthy = examine()
        if self.json:
            print_json({"healthy": healthy, **findings})
        else:
            rows = [[name, str(value)] for name, value in findings.items()]
            print_table("skillfocus doctor", ["what", "found"], rows)
        if not healthy:
            raise SystemExit(1)
