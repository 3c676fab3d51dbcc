"""What a proxy's configuration says about its logs."""

from __future__ import annotations

import pytest

from deniable_server.checks.proxy_logs import judge

QUIET = "{\n\tlog {\n\t\tinclude tls\n\t}\n}\n"
SITE = "survey.example.org {\n\treverse_proxy 127.0.0.1:8000\n}\n"


def states(text: str) -> dict[str, str]:
    return {verdict.check: verdict.state for verdict in judge(text)}


@pytest.mark.parametrize(
    ("config", "access", "errors"),
    [
        ("access_log off; error_log stderr emerg; server { location / { proxy_pass http://x; } }", "ok", "ok"),
        ("server { access_log off; error_log /dev/null crit; proxy_pass http://x; }", "ok", "ok"),
        ("server { access_log off; error_log /var/log/e crit; proxy_pass http://x; }", "ok", "warning"),
        ("server { access_log off; error_log stderr; proxy_pass http://x; }", "ok", "warning"),
        ("server { access_log off; proxy_pass http://x; }", "ok", "warning"),
        ("error_log stderr emerg; server { access_log off; error_log e.log; proxy_pass http://x; }", "ok", "warning"),
        ("error_log stderr emerg; error_log e.log error; access_log off; grpc_pass x;", "ok", "warning"),
        # Braces and semicolons in quotation marks are no syntax, and neither is what a comment says.
        ("server { return 503 '}{; access_log x;'; access_log off; proxy_pass http://x; }", "ok", "warning"),
        ('server { # access_log off;\n return 503 "access_log off;"; proxy_pass http://x; }', "problem", "warning"),
        (QUIET + SITE, "ok", "ok"),
        (SITE, "ok", "warning"),
        (QUIET.replace("include tls", "exclude http.log.error") + SITE, "ok", "ok"),
        (QUIET.replace("include tls", "output discard") + SITE, "ok", "ok"),
        (QUIET.replace("include tls", "include tls http") + SITE, "ok", "warning"),
        (QUIET.replace("include tls", "include http.log.error") + SITE, "ok", "warning"),
        (QUIET.replace("include tls", "level ERROR") + SITE, "ok", "warning"),
        (QUIET.replace("include tls", "include tls\n\t\tlevel debug") + SITE, "ok", "warning"),
        (QUIET.replace("log {", "debug\n\tlog {") + SITE, "ok", "warning"),
        (QUIET.replace("log {", "log other {") + SITE, "ok", "warning"),
        (QUIET + SITE.replace("\treverse", "\tlog\n\treverse"), "problem", "ok"),
        (QUIET + SITE.replace("\treverse", "\thandle {\n\t\tlog {\n\t\t}\n\t}\n\treverse"), "problem", "ok"),
        # Braces of a placeholder open nothing, and neither do those of a text.
        (QUIET + "{$SITE} {\n\trespond /x `{ log }` 200\n\treverse_proxy {$SERVERS:a b}\n}\n", "ok", "ok"),
    ],
)  # fmt: skip
def test_logs_that_tell_are_found(config: str, access: str, errors: str) -> None:
    """An access log is a problem; an error log that quotes clients when something fails is pointed out."""
    assert states(config) == {"access log": access, "error log": errors}


def test_another_file_is_not_taken_for_clean() -> None:
    """What is no configuration of nginx or Caddy is said to be none."""
    assert states("print({'a': 1})") == {"access log": "warning"}
