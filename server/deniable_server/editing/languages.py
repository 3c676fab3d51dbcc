"""What languages are called, in English."""

from __future__ import annotations

LANGUAGES = {
    "ar": "Arabic", "bn": "Bengali", "bg": "Bulgarian", "ca": "Catalan", "zh": "Chinese", "hr": "Croatian",
    "cs": "Czech", "da": "Danish", "nl": "Dutch", "en": "English", "et": "Estonian", "fa": "Persian", "fi": "Finnish",
    "fr": "French", "de": "German", "el": "Greek", "he": "Hebrew", "hi": "Hindi", "hu": "Hungarian",
    "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ko": "Korean", "lv": "Latvian", "lt": "Lithuanian",
    "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian", "ru": "Russian", "sr": "Serbian",
    "sk": "Slovak", "sl": "Slovenian", "es": "Spanish", "sw": "Swahili", "sv": "Swedish", "tr": "Turkish",
    "uk": "Ukrainian", "ur": "Urdu", "vi": "Vietnamese",
}  # fmt: skip
"""The languages that the editor offers. A file can name any other."""


def language_name(tag: str) -> str:
    """The name of a language, in English."""
    primary, _, rest = tag.partition("-")
    return f"{LANGUAGES.get(primary, primary)} ({rest})" if rest else LANGUAGES.get(primary, primary)
