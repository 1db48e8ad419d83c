"""Results kept and read again; a report written to files."""

from __future__ import annotations

import io
from pathlib import Path

import polars as pl

from skillfocus._internal.atomic_io import write_atomically
from skillfocus.core.progress import Progress, no_progress
from skillfocus.errors import UserError
from skillfocus.experiments.cases import COSTS, RESULTS
from skillfocus.experiments.report import TITLE
from skillfocus.figures.saving import save_figure
from skillfocus.report.document import Block, Picture, to_html, to_markdown

FILES = {"results.parquet": RESULTS, "costs.parquet": COSTS}


def keep(folder: Path, frame: pl.DataFrame, costs: pl.DataFrame) -> None:
    """Condensed results, small enough to stand beside the code."""
    folder.mkdir(parents=True, exist_ok=True)
    for (name, _), table in zip(FILES.items(), (frame, costs), strict=True):
        buffer = io.BytesIO()
        compact = table.with_columns(pl.col(pl.Float64).cast(pl.Float32))
        compact.write_parquet(buffer, compression="zstd", compression_level=19)
        write_atomically(folder / name, buffer.getvalue())


def kept(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What `keep` kept."""
    tables = []
    for name, schema in FILES.items():
        try:
            table = pl.read_parquet(folder / name)
        except FileNotFoundError:
            raise UserError(
                f"there is no {name} in {folder}; --from takes a folder of kept results, such as "
                f"the project's `results`"
            ) from None
        except (OSError, pl.exceptions.PolarsError) as error:
            raise UserError(f"cannot read {folder / name}: {error}") from None
        if list(table.columns) != list(schema):
            raise UserError(f"{folder / name} holds other columns than kept results have")
        tables.append(table.cast(schema))  # pyright: ignore[reportArgumentType]
    return tables[0], tables[1]


def write_report(blocks: list[Block], folder: Path, report: Progress = no_progress) -> Path:
    """report.html, report.md, and every figure as PNG, SVG and PDF."""
    figures = folder / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    pictures = [block for block in blocks if isinstance(block, Picture)]
    for place, picture in enumerate(pictures):
        report(place / (len(pictures) + 1), f"saving {picture.name}")
        write_atomically(figures / f"{picture.name}.png", picture.png)
        for suffix in (".svg", ".pdf"):
            save_figure(picture.figure, figures / f"{picture.name}{suffix}")
    write_atomically(folder / "report.md", to_markdown(blocks, "figures").encode())
    page = folder / "report.html"
    write_atomically(page, to_html(blocks, TITLE).encode())
    return page


def write_twin(blocks: list[Block], path: Path) -> None:
    """The Markdown alone, its pictures in a folder of the same name beside it, and no others."""
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    pictures = [block for block in blocks if isinstance(block, Picture)]
    for picture in pictures:
        write_atomically(folder / f"{picture.name}.png", picture.png)
    for left in {*folder.glob("*.png")} - {folder / f"{p.name}.png" for p in pictures}:
        left.unlink()
    write_atomically(path, to_markdown(blocks, folder.name).encode())
