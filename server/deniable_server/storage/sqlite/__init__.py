"""Storage in one SQLite file."""
