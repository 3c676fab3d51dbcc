"""Storage in PostgreSQL, for any number of servers."""
