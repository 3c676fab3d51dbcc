"""The logo of a server: what is taken, how it is served, and that the respondents' page names it."""

from __future__ import annotations

from pathlib import Path

import pytest

from deniable_server import create_app
from deniable_server.errors import SettingError
from deniable_server.serving.run import serve
from deniable_server.settings import Settings
from tests.helpers.servers import free_port, storage_of

PNG = b"\x89PNG\r\n\x1a\n"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("content", "content_type"),
    [
        (PNG + b"rest", "image/png"),
        (b"\xff\xd8\xff\xe0rest", "image/jpeg"),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image/webp"),
        (PNG + b"<script>alert(1)</script>".ljust(199_992), "image/png"),
    ],
)
def test_a_logo_is_a_picture_and_nothing_else(
    tmp_path: Path, example: bytes, content: bytes, content_type: str
) -> None:
    """It has the type of its first bytes, whatever its name; a browser may not guess another one, or run any of it."""
    file = tmp_path / "logo.html"
    file.write_bytes(content)
    app = create_app(Settings(database=str(tmp_path / "a.db"), base_path="/base", logo=str(file)))
    storage_of(app).publish(example)
    http = app.test_client()
    assert 'logo="/base/logo"' in http.get("/base/s/campus-health").text
    sent = http.get("/base/logo")
    assert (sent.data, sent.content_type) == (content, content_type)
    assert sent.headers["X-Content-Type-Options"] == "nosniff"
    assert sent.headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "sandbox" in sent.headers["Content-Security-Policy"]
    assert http.get("/base/logo", headers={"If-None-Match": sent.headers["ETag"]}).status_code == 304
    storage_of(app).close()


def test_without_a_logo_there_is_none(tmp_path: Path, example: bytes) -> None:
    """The page does not name one, and its address is not found."""
    app = create_app(Settings(database=str(tmp_path / "a.db")))
    storage_of(app).publish(example)
    assert app.test_client().get("/logo").status_code == 404
    assert "logo=" not in app.test_client().get("/s/campus-health").text
    storage_of(app).close()


@pytest.mark.parametrize("content", [SVG, b"\xef\xbb\xbf" + SVG, b"GIF89a", b"", PNG.ljust(200_001), None])
def test_what_is_no_logo_keeps_the_server_from_starting(tmp_path: Path, content: bytes | None) -> None:
    """An SVG, another type, a picture that is too large and a missing file are refused before anything runs."""
    file = tmp_path / "logo.png"
    if content is not None:
        file.write_bytes(content)
    database = tmp_path / "a.db"
    settings = Settings(database=str(database), bind=f"127.0.0.1:{free_port()}", logo=str(file))
    with pytest.raises(SettingError, match="PNG, JPEG or WebP" if content is not None else "No such file"):
        serve(settings, workers=1, threads=1)
    assert not database.exists()
