"""The report: what was found, as one page of HTML and the same in Markdown."""
