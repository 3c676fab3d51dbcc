"""A message that invites people to a survey, in the languages that the questionnaire has words in.

It makes no promise that the survey does not keep: what protects people is said in the words of its own strength.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple
from urllib.parse import quote

from deniable_protocol import Document
from deniable_server.wording import Strength, strength

SECONDS = 20
"""For each question: the first screen of the questionnaire reckons with as many."""


@dataclass(frozen=True)
class Message:
    """A message in one language; ``name`` is what its readers call it."""

    language: str
    name: str
    direction: str
    subject: str
    body: str

    @property
    def mailto(self) -> str:
        """Opens a mail program with the message."""
        return f"mailto:?subject={quote(self.subject)}&body={quote(self.body)}"


class Words(NamedTuple):
    """What a message says. ``protects`` by the strength of a survey; the rest with values in braces."""

    name: str
    hello: str
    asks: str
    anonymous: str
    takes: str
    protects: dict[Strength, str]
    openly: str
    link: str
    code: str
    contact: str
    thanks: str


WORDS = {
    "en": Words(
        "English",
        "Hello,",
        "{asked_by} asks you to take part in a survey: {title}.",
        "we ask you to take part in a survey: {title}.",
        "It takes about {minutes} min.",
        {
            "fair": "Your device mixes chance into your answers before it sends anything. From what is sent, nobody "
            "can be sure what you answered. Not even us.",
            "weak": "Your device mixes chance into your answers before it sends anything. But they are only weakly "
            "protected: what is sent may give them away.",
            "hardly": "Your device mixes chance into your answers before it sends anything. But they are hardly "
            "protected: what is sent gives them away nearly always.",
        },
        "Only what is asked about you at the end is sent unchanged.",
        "Here is the survey:",
        "You need your personal invitation code to answer.",
        "Questions? {contact}",
        "Thank you!",
    ),
    "es": Words(
        "Español",
        "Hola:",
        "{asked_by} le pide que participe en una encuesta: {title}.",
        "Le pedimos que participe en una encuesta: {title}.",
        "Se tarda unos {minutes} min.",
        {
            "fair": "Su dispositivo mezcla el azar con sus respuestas antes de enviar nada. Por lo que se envía, nadie "
            "puede estar seguro de lo que usted respondió, ni siquiera nosotros.",
            "weak": "Su dispositivo mezcla el azar con sus respuestas antes de enviar nada. Pero solo quedan "
            "débilmente protegidas: lo que se envía puede delatarlas.",
            "hardly": "Su dispositivo mezcla el azar con sus respuestas antes de enviar nada. Pero apenas quedan "
            "protegidas: lo que se envía las delata casi siempre.",
        },
        "Solo lo que se pregunta sobre usted al final se envía sin cambios.",
        "Esta es la encuesta:",
        "Para responder necesita su código de invitación personal.",
        "¿Preguntas? {contact}",
        "¡Gracias!",
    ),
    "fr": Words(
        "Français",
        "Bonjour,",
        "{asked_by} vous invite à répondre à une enquête : {title}.",
        "nous vous invitons à répondre à une enquête : {title}.",
        "Cela prend environ {minutes} min.",
        {
            "fair": "Votre appareil mêle du hasard à vos réponses avant d’envoyer quoi que ce soit. D’après ce qui est "
            "envoyé, personne ne peut être sûr de ce que vous avez répondu, pas même nous.",
            "weak": "Votre appareil mêle du hasard à vos réponses avant d’envoyer quoi que ce soit. Mais elles ne sont "
            "que faiblement protégées : ce qui est envoyé peut les trahir.",
            "hardly": "Votre appareil mêle du hasard à vos réponses avant d’envoyer quoi que ce soit. Mais elles ne "
            "sont guère protégées : ce qui est envoyé les trahit presque toujours.",
        },
        "Seul ce qui est demandé sur vous à la fin est envoyé sans changement.",
        "Voici l’enquête :",
        "Pour répondre, il vous faut votre code d’invitation personnel.",
        "Des questions ? {contact}",
        "Merci !",
    ),
    "de": Words(
        "Deutsch",
        "Guten Tag,",
        "{asked_by} bittet Sie, an einer Umfrage teilzunehmen: {title}.",
        "wir bitten Sie, an einer Umfrage teilzunehmen: {title}.",
        "Sie dauert etwa {minutes} Min.",
        {
            "fair": "Ihr Gerät mischt Zufall in Ihre Antworten, bevor es etwas sendet. Aus dem, was gesendet wird, "
            "kann niemand sicher wissen, was Sie geantwortet haben, auch wir nicht.",
            "weak": "Ihr Gerät mischt Zufall in Ihre Antworten, bevor es etwas sendet. Sie sind aber nur schwach "
            "geschützt: Was gesendet wird, kann sie verraten.",
            "hardly": "Ihr Gerät mischt Zufall in Ihre Antworten, bevor es etwas sendet. Sie sind aber kaum geschützt: "
            "Was gesendet wird, verrät sie fast immer.",
        },
        "Nur was am Ende über Sie gefragt wird, wird unverändert gesendet.",
        "Hier ist die Umfrage:",
        "Zum Antworten brauchen Sie Ihren persönlichen Einladungscode.",
        "Fragen? {contact}",
        "Vielen Dank!",
    ),
    "ar": Words(
        "العربية",
        "مرحبًا،",
        "تدعوك {asked_by} إلى المشاركة في استبيان: {title}.",
        "ندعوك إلى المشاركة في استبيان: {title}.",
        "المدة التقريبية: {minutes} دقيقة.",
        {
            "fair": "يمزج جهازك إجاباتك بالصدفة قبل أن يرسل أي شيء. ومما يُرسل، لا يمكن لأحد أن يتأكد مما أجبت به، ولا "
            "حتى نحن.",
            "weak": "يمزج جهازك إجاباتك بالصدفة قبل أن يرسل أي شيء. لكن حمايتها ضعيفة: فما يُرسل قد يكشفها.",
            "hardly": "يمزج جهازك إجاباتك بالصدفة قبل أن يرسل أي شيء. لكنها تكاد تكون بلا حماية: فما يُرسل يكشفها في كل "
            "مرة تقريبًا.",
        },
        "وحده ما يُسأل عنك في النهاية يُرسل دون تغيير.",
        "رابط الاستبيان:",
        "تحتاج إلى رمز دعوتك الشخصي كي تجيب.",
        "هل لديك أسئلة؟ {contact}",
        "شكرًا لك!",
    ),
}


def messages(document: Document, link: str) -> list[Message]:
    """One for each language of the survey that there are words for; in English where there are none."""
    tags = {tag: tag.lower().split("-")[0] for tag in document.survey.languages}
    known = {tag: primary for tag, primary in tags.items() if primary in WORDS}
    return [_message(document.in_language(tag), primary, link) for tag, primary in (known or {"": "en"}).items()]


def _message(document: Document, language: str, link: str) -> Message:
    survey, words = document.survey, WORDS[language]
    asked = max(len(document.asked(booklet)) for booklet in range(len(document.booklets))) + len(survey.segments)
    asks = words.asks if survey.asked_by else words.anonymous
    protects = words.protects[strength(document.account)]
    first = " ".join(
        [
            asks.format(asked_by=survey.asked_by, title=survey.title),
            words.takes.format(minutes=max(1, ceil(asked * SECONDS / 60))),
        ]
    )
    paragraphs = [
        words.hello,
        first,
        survey.notice,
        f"{protects} {words.openly}" if survey.segments else protects,
        f"{words.link}\n{link}",
        words.code if survey.invitations else None,
        words.contact.format(contact=survey.contact) if survey.contact else None,
        words.thanks,
    ]
    body = "\n\n".join(paragraph for paragraph in paragraphs if paragraph)
    return Message(language, words.name, "rtl" if language == "ar" else "ltr", survey.title, body)
