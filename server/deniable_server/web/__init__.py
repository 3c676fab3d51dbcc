"""Everything that speaks HTTP to programs: routes, access, errors, middleware. Pages for people are in ``pages``."""
