"""Texts that try to be more than text, for everything that shows texts."""

from __future__ import annotations

from typing import Any

HOSTILE = [
    "<script>window.hacked = 1</script>",
    '"><img src=x onerror="window.hacked=1">',
    "' onmouseover='window.hacked=1' x='",
    "<svg/onload=window.hacked=1>",
    "<iframe srcdoc='<script>parent.hacked=1</script>'>",
    "javascript:window.hacked=1",
    "{{ 7 * 7 }}{% raw %}",
    "${window.hacked=1}",
    "</textarea></style></title><b>bold</b>",
    "<!-- --><b>x</b>",
    "&lt;script&gt;window.hacked=1&lt;/script&gt;",
    "שלום <b>live</b> עולם 123 (abc)",
    "\u00e9\u0302\u0303\u0304\u0305" * 20,
    "Supercalifragilisticexpialidocious" * 12,
    "ﷺ" * 40 + "\U0001f469\U0001f469\U0001f467",
    "مرحبا بالعالم <b>x</b>",
]


def hostile_survey(name: str) -> dict[str, Any]:
    """A survey whose every text is one of these."""
    options = [{"code": f"o{i}", "text": text} for i, text in enumerate(HOSTILE)]
    texts = iter(HOSTILE * 3)
    return {
        "id": name,
        "title": next(texts),
        "notice": next(texts),
        "segments": [{"id": "segment", "text": next(texts), "options": options[:3]}],
        "questions": [
            {"id": "one", "type": "choice", "text": next(texts), "epsilon": "4", "options": options},
            {"id": "many", "type": "multi_choice", "text": next(texts), "epsilon": "4", "options": options},
            {"id": "scale", "type": "scale", "text": next(texts), "epsilon": "4", "labels": HOSTILE[:11]},
            {
                "id": "mean",
                "type": "scale",
                "measure": "mean",
                "text": next(texts),
                "epsilon": "4",
                "labels": HOSTILE[5:],
            },
            {
                "id": "number",
                "type": "number",
                "text": next(texts),
                "epsilon": "4",
                "min": 0,
                "max": 9,
                "unit": next(texts),
            },
            {
                "id": "bins",
                "type": "number",
                "measure": "shares",
                "text": next(texts),
                "epsilon": "4",
                "min": 0,
                "max": 9,
                "bins": [3, 6],
                "unit": next(texts),
            },
        ],
    }
