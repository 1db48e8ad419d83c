"""Reports: a main page and further pages of blocks, written as HTML, Markdown and JSON."""
