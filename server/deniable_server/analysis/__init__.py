"""How an analyst asks a survey something: one way for HTTP, pages and the command line."""
