"""Side-effect penalties and measures of the safety literature (docs/safety.md)."""
