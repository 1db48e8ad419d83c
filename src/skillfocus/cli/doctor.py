"""`skillfocus doctor`"""

from __future__ import annotations

from dataclasses import dataclass

from skillfocus.cli.output import print_json, print_table, say


@dataclass(frozen=True)
class Doctor:
    """Check the installation: versions, cores, compiled kernels. Include it in bug reports.

    Exit status 1 if something that is needed does not work.
    """

    json: bool = False
    """Print one JSON document."""

    def run(self) -> None:
        """Check the installation and print the findings."""
        from skillfocus.cli.health import check_installation

        say("compiling the kernels, which takes up to a minute the first time")
        findings, healthy = check_installation()
        if self.json:
            print_json({"healthy": healthy, **findings})
        else:
            rows = [[name, str(value)] for name, value in findings.items()]
            print_table("skillfocus doctor", ["what", "found"], rows)
        if not healthy:
            raise SystemExit(1)
