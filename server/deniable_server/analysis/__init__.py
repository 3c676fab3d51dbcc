"""The one way to ask a survey something: a ``Source`` and a query go in, a result comes out.

HTTP, pages and the command line all call ``estimates``, ``compare``, ``crosstab`` and ``regress``, each in the module
of its name. May not: know of HTTP.
"""
