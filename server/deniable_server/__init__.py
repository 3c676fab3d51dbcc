"""Deniable's server side: the command line, and the tools that check what the clients do.

May not: see an answer. Everything here works on surveys, published documents and randomised reports; the audit and
the demo make up their own answers.
"""
