"""The page that respondents see: the questionnaire, and what is shown where it cannot run.

The page is the same for every visitor who has the same link: ``?lang=es`` has it in Spanish.

May not: set a cookie, log or keep anything about a visitor, or load anything from elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Blueprint, Response, render_template, request
from flask.typing import ResponseReturnValue

from deniable_protocol.languages import best_language
from deniable_server.web.context import here
from deniable_server.web.routes import route

respondent = Blueprint("respondent", __name__, template_folder="templates")

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)

MODES = ("kiosk", "one-page")
"""Attributes of the questionnaire that an address may ask for: /s/campus-health?kiosk."""

TEXTS: dict[str, dict[str, str]] = {
    "en": {
        "missing": "There is no survey at this address",
        "missing_text": "Part of the link may be missing. Please open it again from where you got it, or ask the "
        "person who sent it to you.",
        "no_script": "This page needs JavaScript",
        "no_script_text": "Your answers are randomised on your own device, by a small program that this page loads. "
        "Without it, only your true answers could be sent, and we do not do that. Please turn on JavaScript, or skip "
        "this survey.",
        "failed": "The survey cannot be shown: a part of this page did not arrive. Please load the page again.",
        "test_run": "Test run. These answers are deleted when the survey is published.",
    },
    "es": {
        "missing": "No hay ninguna encuesta en esta dirección",
        "missing_text": "Puede que falte una parte del enlace. Vuelva a abrirlo desde donde lo recibió o pregunte a la "
        "persona que se lo envió.",
        "no_script": "Esta página necesita JavaScript",
        "no_script_text": "Sus respuestas se mezclan con el azar en su propio dispositivo, mediante un pequeño "
        "programa que carga esta página. Sin él solo se podrían enviar sus respuestas verdaderas, y eso no lo hacemos. "
        "Active JavaScript o no responda a esta encuesta.",
        "failed": "No se puede mostrar la encuesta: falta una parte de esta página. Vuelva a cargarla.",
        "test_run": "Prueba. Estas respuestas se borran cuando se publique la encuesta.",
    },
    "fr": {
        "missing": "Il n’y a pas d’enquête à cette adresse",
        "missing_text": "Il manque peut-être une partie du lien. Ouvrez-le de nouveau là où vous l’avez reçu, ou "
        "demandez à la personne qui vous l’a envoyé.",
        "no_script": "Cette page a besoin de JavaScript",
        "no_script_text": "Vos réponses sont mêlées de hasard sur votre propre appareil, par un petit programme que "
        "cette page charge. Sans lui, seules vos vraies réponses pourraient être envoyées, et nous ne le faisons pas. "
        "Activez JavaScript, ou ne répondez pas à cette enquête.",
        "failed": "L’enquête ne peut pas s’afficher : une partie de cette page n’est pas arrivée. Rechargez la page.",
        "test_run": "Essai. Ces réponses seront supprimées à la publication de l’enquête.",
    },
    "de": {
        "missing": "Unter dieser Adresse gibt es keine Umfrage",
        "missing_text": "Vielleicht fehlt ein Teil des Links. Bitte öffnen Sie ihn noch einmal dort, wo Sie ihn "
        "bekommen haben, oder fragen Sie die Person, die ihn geschickt hat.",
        "no_script": "Diese Seite braucht JavaScript",
        "no_script_text": "Ihre Antworten werden auf Ihrem eigenen Gerät mit Zufall vermischt, von einem kleinen "
        "Programm, das diese Seite lädt. Ohne das Programm könnten nur Ihre wahren Antworten gesendet werden, und das "
        "tun wir nicht. Bitte schalten Sie JavaScript ein, oder lassen Sie diese Umfrage aus.",
        "failed": "Die Umfrage kann nicht angezeigt werden: Ein Teil dieser Seite ist nicht angekommen. Bitte laden "
        "Sie die Seite neu.",
        "test_run": "Testlauf. Diese Antworten werden gelöscht, wenn die Umfrage veröffentlicht wird.",
    },
    "ar": {
        "missing": "لا يوجد استبيان في هذا العنوان",
        "missing_text": "ربما ينقص جزء من الرابط. يُرجى فتحه مرة أخرى من المكان الذي حصلت عليه منه، أو سؤال من أرسله "
        "إليك.",
        "no_script": "تحتاج هذه الصفحة إلى JavaScript",
        "no_script_text": "تُمزج إجاباتك بالصدفة على جهازك أنت، بواسطة برنامج صغير تحمّله هذه الصفحة. ومن دونه لا "
        "يمكن إلا إرسال إجاباتك الحقيقية، ونحن لا نفعل ذلك. يُرجى تشغيل JavaScript أو ترك هذا الاستبيان.",
        "failed": "لا يمكن عرض الاستبيان: لم يصل جزء من هذه الصفحة. يُرجى إعادة تحميل الصفحة.",
        "test_run": "تجربة. تُحذف هذه الإجابات عند نشر الاستبيان.",
    },
}
"""What the page says by itself, by language; everything else is the questionnaire's."""


@route(respondent, "GET", "/s/<survey>", "The page with the questionnaire, for respondents.", gives="text/html")
def survey_page(survey: str) -> ResponseReturnValue:
    published = here().storage.find(survey)
    if published is None:
        return _page(404, [tag for tag, _ in request.accept_languages], document=None)
    document = published.document
    languages = document.survey.languages
    asked = request.args.get("lang")
    language = asked if asked in languages or asked in TEXTS else None
    document = document.in_language(language or "")
    modes = [mode for mode in MODES if mode in request.args]
    wanted = [language] if language else languages
    return _page(200, wanted, document=document, modes=modes, asked=language, tested=published.draft)


def _page(status: int, wanted: Sequence[str], **values: Any) -> Response:
    """The page in the first of these languages that it has, or in English."""
    html = render_template("respondent.html", logo=here().logo, **page_texts(wanted), **values)
    response = Response(html, status, content_type="text/html; charset=utf-8")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Cache-Control"] = "no-store"
    response.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    return response


def page_texts(wanted: Sequence[str]) -> dict[str, Any]:
    """What the template says by itself, in the first of these languages that there is, or in English."""
    language = best_language(wanted, [*TEXTS]) or "en"
    direction = "rtl" if language == "ar" else "ltr"
    return {"language": language, "direction": direction, "texts": TEXTS[language], "every_text": TEXTS}
