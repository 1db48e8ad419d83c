"""Reports: a list of blocks, written as one self-contained HTML page and as Markdown."""
