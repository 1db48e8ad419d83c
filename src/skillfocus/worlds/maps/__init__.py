"""Worlds from map files (docs/maps.md): grammar of lines, parser of files, and the world itself."""
