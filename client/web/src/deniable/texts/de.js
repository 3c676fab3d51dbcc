// Every text of the questionnaire, in German: the keys and {placeholders} of en.js.

export default {
  loading: "Die Umfrage wird geladen und ihr Schutz geprüft …",
  offline:
    "Der Server ist gerade nicht erreichbar. Dies ist eine Kopie der Umfrage, die auf diesem Gerät gespeichert war. " +
    "Sie wurde noch einmal geprüft.",
  yes: "Ja",
  no: "Nein",
  declined: "Möchte ich nicht sagen",
  none: "Nichts davon",
  quote: "„{text}“",
  point: "{point}: {label}",
  optionYes: "{option}: ja",
  optionNo: "{option}: nein",
  amount: "{number} {unit}",
  range: "{low} bis {high}",
  bin: "{low} bis unter {high}",

  start: {
    picked: "Fragen: {picked} von {total}, per Zufall ausgewählt · etwa {minutes}",
    options: "Fragen: {total}, zu zufällig ausgewählten Antwortmöglichkeiten · etwa {minutes}",
    all: "Fragen: {total} · etwa {minutes}",
    fair:
      "Ihr Gerät wirft eine geheime Münze, bevor es etwas sendet. Aus dem, was gesendet wird, kann niemand sicher " +
      "wissen, was Sie geantwortet haben. Auch wir nicht.",
    weak:
      "Ihr Gerät mischt Zufall in Ihre Antworten, bevor es etwas sendet. Sie sind aber nur schwach geschützt: Was " +
      "gesendet wird, kann sie verraten.",
    hardly:
      "Ihr Gerät mischt Zufall in Ihre Antworten, bevor es etwas sendet. Sie sind aber kaum geschützt: Was gesendet " +
      "wird, verrät sie fast immer.",
    openly: "Nur dies wird unverändert gesendet und zuletzt gefragt: {questions}",
    go: "Starten",
    how: "Wie kann das sein?",
    who: "Wer könnte meine Antworten erfahren?",
    language: "Sprache",
    answer: "Ihre Antwort",
    coin: "Münze",
    sent: "was gesendet wird",
  },

  invitation: {
    title: "Für diese Umfrage brauchen Sie eine Einladung",
    text: "Bitte geben Sie den Code aus Ihrem Brief oder Ihrer Nachricht ein.",
    label: "Einladungscode",
    hint: "14 oder 28 Buchstaben und Ziffern. Striche und Großschreibung spielen keine Rolle.",
    go: "Weiter",
    why: "Warum verrät mich mein persönlicher Link nicht?",
    only: "Der Code zeigt nur, dass Sie teilnehmen dürfen. Er wird nicht mit Ihren Antworten gesendet.",
    blind:
      "Ihr Gerät tauscht ihn gegen eine Marke, die der Server unterschreibt, ohne sie zu sehen. " +
      "Sie zeigt nicht, wem sie gehört.",
    key: "Alle Marken werden mit demselben Schlüssel unterschrieben. Sein Fingerabdruck:",
    format: "Dieser Code ist nicht vollständig. Er hat 14 oder 28 Buchstaben und Ziffern.",
    checksum: "In diesem Code ist ein Tippfehler. Bitte vergleichen Sie ihn mit Ihrem Brief oder Ihrer Nachricht.",
    unknown: "Dieser Code ist nicht gültig oder abgelaufen. Bitte prüfen Sie ihn, oder bitten Sie um einen neuen.",
    used:
      "Dieser Code wurde schon benutzt, vielleicht auf einem anderen Gerät. Wenn Sie das nicht waren, " +
      "bitten Sie um einen neuen.",
  },

  kiosk: {
    note:
      "Auf diesem Gerät antworten viele Menschen. Wenn Sie fertig sind, vergisst es, dass Sie geantwortet haben. " +
      "Bitte antworten Sie deshalb nur einmal: Zwei Einsendungen verraten mehr über Sie als eine.",
    next: "Nächste Person",
    wait: "Bitte lassen Sie diese Seite offen. Die nächste Person kann beginnen, wenn alles gesendet ist.",
  },

  preview: {
    note: "Das ist eine Vorschau. Antworten Sie, was Sie wollen: Nichts wird gesendet.",
    title: "Das ist eine Vorschau. Es wurde nichts gesendet.",
    text: "Wer wirklich antwortet, liest hier den Dank. Darunter steht die Quittung, die man sehen würde.",
    again: "Von vorn beginnen",
  },

  how: {
    title: "Wie kann das sein?",
    coin:
      "Stellen Sie sich eine sehr persönliche Frage vor und eine Münze, die nur Sie sehen. Bei Kopf sagen Sie die " +
      "Wahrheit. Bei Zahl werfen Sie noch einmal, und die Münze antwortet für Sie: Kopf heißt Ja, Zahl heißt Nein.",
    cover:
      "Wer Ihr „Ja“ hört, kann nicht wissen, ob es von Ihnen kommt oder von der Münze. Bekannt ist aber, wie oft " +
      "Münzen Ja sagen, und bei vielen Menschen lässt sich das abziehen.",
    here:
      "Diese Umfrage macht es genauso, mit Zufallszahlen Ihres Geräts. Die Wahrscheinlichkeiten sind aber andere als " +
      "bei dieser Münze. Sie stehen bei jeder Frage.",
    tryCoin: "Probieren Sie es aus: Ihre geheime Antwort (von hier wird nichts gesendet)",
    flip: "Münze werfen",
    heads: "Kopf",
    tails: "Zahl",
    unflipped: "Sie haben die Münze noch nicht geworfen.",
    choose: "Bitte wählen Sie zuerst eine geheime Antwort.",
    truth:
      "Die erste Münze zeigt Kopf, also wird die Wahrheit gesendet: {sent}. Das kann niemand wissen, der es " +
      "empfängt: Menschen mit der anderen Antwort senden in einem von vier Fällen dasselbe.",
    chance: "Die erste Münze zeigt Zahl, also antwortet die zweite. Gesendet wird: {sent}, egal was Sie gewählt haben.",
    crowd: "Probieren Sie es mit vielen Menschen",
    share: "Von 100 Menschen würden in Wahrheit so viele Ja sagen: {count}",
    ask: "1000 Menschen fragen",
    again: "Neu beginnen",
    nobody: "Noch wurde niemand gefragt.",
    result: "Befragte: {people}. Ja gesagt: {said}. Korrigiert: {estimate}. Die Wahrheit: {truth}.",
    correction:
      "Die Korrektur: Für die Hälfte aller Menschen antwortet die zweite Münze, und die Hälfte davon sagt Ja. Das " +
      "ist ein Viertel von allen. Ziehen Sie dieses Viertel von denen ab, die Ja gesagt haben, und verdoppeln Sie " +
      "den Rest.",
  },

  who: {
    title: "Wer könnte meine Antworten erfahren?",
    team: "Das Team, das die Umfrage macht",
    thief: "Jemand, der die Daten dieses Teams stiehlt oder ihre Herausgabe verlangt",
    fair: "Nein. Man kann nur raten.",
    weak: "Man könnte oft richtig raten.",
    hardly: "Fast immer.",
    network: "Jemand, der das Netzwerk überwacht",
    networkSees: "Nur, dass Sie teilnehmen.",
    device: "Jemand, der dieses Gerät nach Ihnen benutzt",
    deviceSees: "Nur, dass diese Umfrage hier beantwortet wurde.",
    website: "Wer diese Website betreibt",
    websiteSees: "Nur durch Betrug: durch ein anderes Programm auf dieser Seite.",
    openly: "Unverändert gesendet und für das Team sichtbar, das die Umfrage macht: {questions}",
    checked: "Das folgt aus dem Schutz der Umfrage ({symbols}). Ihr Gerät hat das selbst geprüft.",
    kept:
      "Der Server speichert eine Zufallszahl, was Ihr Gerät gesendet hat, und wie viele Einsendungen an jedem Tag " +
      "kamen. Er speichert keine Netzwerkadresse, keine Uhrzeit und kein Cookie. Bis die Umfrage geschlossen wird, " +
      "zeigen seine Dateien die Reihenfolge des Eingangs.",
    cheat: "Wie man die Website prüft",
    cheatText:
      "Diese Seite kommt vom Server, und keine Webseite kann beweisen, dass ihr Programm das richtige ist. Alle " +
      "können es mit dem veröffentlichten vergleichen: Das macht der Befehl „deniable verify“. Sicherer ist eine " +
      "installierte App, die andere untersucht haben.",
    digest:
      "Der Fingerabdruck dieser Umfrage. Er ändert sich, wenn sich ein einziger Buchstabe oder eine einzige " +
      "Wahrscheinlichkeit ändert:",
    pinned: "Ihr Link enthält diesen Fingerabdruck. Ihr Browser hat beide verglichen, und sie stimmen überein.",
    unpinned:
      "Ihr Link enthält ihn nicht. Vergleichen Sie ihn mit einem, den Sie von jemandem haben, dem Sie vertrauen.",
  },

  progress: "{done} von {total}",
  answered: "Beantwortet: {done} von {total}",

  followUp: {
    shown: "Darunter kommt noch eine Frage: {question}",
    hidden: "Wird nicht mehr gefragt: {question}",
  },

  section: {
    segments: "Unverändert gesendet",
    segmentNote: "Ohne Zufall: wird genau so gesendet, wie Sie antworten.",
    review: "Prüfen Sie Ihre Antworten",
    reviewHint: "Es wurde noch nichts gesendet.",
    openly: "Was sonst noch gesendet wird",
    total: "Was all das zusammen verrät",
  },

  hint: {
    multiChoice: "Wählen Sie alles, was zutrifft, oder „Nichts davon“.",
    number: "Eine Zahl von {low} bis {high}",
    numberUnit: "Eine Zahl von {low} bis {high} {unit}",
  },

  button: {
    next: "Weiter",
    back: "Zurück",
    review: "Antworten prüfen",
    send: "Senden",
    change: "Ändern",
    changeWhat: "Ändern: {question}",
    save: "Gesendetes speichern",
    print: "Drucken",
    see: "Ansehen, was gesendet wurde",
    remove: "Von diesem Gerät entfernen",
    removeNow: "Entfernen",
    keep: "Behalten",
    again: "Noch einmal versuchen",
    answers: "Zurück zu Ihren Antworten",
    close: "Verstanden",
  },

  error: {
    summary: "Es fehlen noch Antworten",
    why: "Jede Frage braucht eine Antwort. Eine leere könnte Sie verraten.",
    choose: "Bitte wählen Sie eine Antwort. Eine leere könnte Sie verraten.",
    chooseOrDecline: "Bitte wählen Sie eine Antwort oder „Möchte ich nicht sagen“. Eine leere könnte Sie verraten.",
    chooseSome: "Bitte wählen Sie, was zutrifft, oder „Nichts davon“. Eine leere Antwort könnte Sie verraten.",
    chooseSegment: "Bitte wählen Sie etwas aus.",
    numberMissing: "Bitte geben Sie eine Zahl ein. Eine leere Antwort könnte Sie verraten.",
    numberOrDecline:
      "Bitte geben Sie eine Zahl ein oder wählen Sie „Möchte ich nicht sagen“. Eine leere Antwort könnte Sie verraten.",
    notNumber:
      "Das können wir nicht als Zahl lesen. Schreiben Sie zum Beispiel 1200 oder 12,5, ohne Punkte bei Tausendern.",
    outside: "Bitte geben Sie eine Zahl von {low} bis {high} ein.",
  },

  line: {
    bit: "Geschützt: In mindestens {count} von {total} Fällen sendet Ihr Gerät das Gegenteil.",
    single: "Geschützt: In mindestens {count} von {total} Fällen sendet Ihr Gerät eine andere Antwort.",
    set:
      "Geschützt: Ihr Gerät sendet eine Auswahl von {size} der {options} Antworten. In mindestens {count} von " +
      "{total} Fällen ist Ihre nicht dabei.",
    range:
      "Geschützt: Ihr Gerät sendet einen groben Bereich, nicht Ihre Antwort. In mindestens {count} von {total} " +
      "Fällen liegt Ihre Antwort nicht darin.",
    point:
      "Geschützt: In mindestens {count} von {total} Fällen sendet Ihr Gerät eine andere Zahl als die, die Ihrer am " +
      "nächsten liegt.",
    drawn:
      "Geschützt: Ihr Gerät wählt zufällig eine der {options} Antworten und sendet nur für diese Ja oder Nein. In " +
      "mindestens {count} von {total} Fällen sendet es das Gegenteil.",
    table:
      "Geschützt: In mindestens {count} von {total} Fällen weist das, was Ihr Gerät sendet, auf eine andere Antwort " +
      "hin.",
    combination:
      "Geschützt: Ihre Antworten werden als eine gesendet. In mindestens {count} von {total} Fällen sendet Ihr Gerät " +
      "andere Antworten.",
    combinations:
      "Geschützt: Ihr Gerät sendet eine Auswahl von {size} der {options} möglichen Kombinationen von Antworten. In " +
      "mindestens {count} von {total} Fällen ist Ihre nicht dabei.",
    seldom: "Nur in seltenen Fällen geschützt: Fast immer weist das, was Ihr Gerät sendet, auf Ihre Antwort hin.",
    weak: "Diese Antwort ist nur schwach geschützt: Was gesendet wird, kann sie verraten.",
    weakTogether: "Diese Antworten sind nur schwach geschützt: Was gesendet wird, kann sie verraten.",
  },

  protection: {
    title: "Wie geht das?",
    bit:
      "Ihr Gerät wirft eine Münze, die öfter auf die eine Seite fällt als auf die andere. Sie entscheidet, ob Ihre " +
      "Antwort oder das Gegenteil gesendet wird.",
    single:
      "Ihr Gerät wählt zufällig eine der {options} Antworten. Ihre ist die wahrscheinlichste, aber auch jede andere " +
      "Antwort kann herauskommen.",
    set:
      "Ihr Gerät wählt zufällig {size} der {options} Antworten aus. Eine Auswahl mit Ihrer Antwort ist " +
      "wahrscheinlicher, aber auch eine ohne sie kommt vor.",
    range:
      "Ihr Gerät wählt zufällig einen Bereich von bis zu {width} der {levels} Punkte. Bereiche mit Ihrer Antwort " +
      "sind wahrscheinlicher, aber auch Bereiche ohne sie kommen vor.",
    point:
      "Ihr Gerät wählt zufällig einen von {levels} Punkten. Der Punkt, auf den Ihre Zahl gerundet wurde, ist der " +
      "wahrscheinlichste, aber auch jeder andere kann herauskommen.",
    rounding: "Vorher wird Ihre Zahl zufällig auf einen von {levels} Punkten auf- oder abgerundet: {points}.",
    drawn:
      "Ihr Gerät wählt zufällig eine der {options} Antworten, egal was Sie gewählt haben. Dann wirft es eine Münze, " +
      "die öfter auf die eine Seite fällt als auf die andere. Sie entscheidet, ob zu dieser Antwort die Wahrheit " +
      "oder das Gegenteil gesendet wird. Zu den anderen wird nichts gesendet.",
    table:
      "Ihr Gerät wählt zufällig eine von {reports} Meldungen. Meldungen nahe an Ihrer Antwort sind wahrscheinlicher, " +
      "aber auch die anderen kommen vor.",
    combination:
      "Ihr Gerät wählt zufällig eine der {options} Kombinationen von Antworten. Ihre ist die wahrscheinlichste, aber " +
      "auch jede andere kann herauskommen. Was gesendet wird, sieht immer gleich aus, egal wie viele Fragen Sie " +
      "gesehen haben.",
    combinations:
      "Ihr Gerät wählt zufällig {size} der {options} Kombinationen von Antworten aus. Eine Auswahl mit Ihrer ist " +
      "wahrscheinlicher, aber auch eine ohne sie kommt vor. Was gesendet wird, sieht immer gleich aus, egal wie " +
      "viele Fragen Sie gesehen haben.",
    always: "Egal was Sie antworten, die Wahrscheinlichkeiten sind:",
    odds:
      "Egal was gesendet wird: Bei einer Antwort ist es höchstens {odds}-mal so wahrscheinlich wie bei einer anderen.",
    oddsDelta:
      "Egal was gesendet wird: Bei einer Antwort ist es höchstens {odds}-mal so wahrscheinlich wie bei einer " +
      "anderen. Die Wahrscheinlichkeit, dass es mehr ist, beträgt höchstens {chance}.",
    experts: "Für Fachleute: {symbols}.",
  },

  meaning: {
    suppose:
      "Angenommen, jemand versucht, aus allem Gesendeten Ihre Antworten zu erraten, und nimmt in Kauf, sich bei 5 % " +
      "der Menschen zu irren.",
    found: "Diese Person fände in höchstens {percent} % der Fälle die Wahrheit heraus.",
    weak: "Das schützt nur schwach.",
    hardly: "Diese Person könnte fast immer die Wahrheit herausfinden: Das schützt so gut wie gar nicht.",
    delta:
      "Darin ist δ = {delta} enthalten: Im schlimmsten Fall ist es so, als würden die wahren Antworten von {count} " +
      "unter {total} Menschen unverändert gesendet.",
    each:
      "Was unter einer Frage steht, gilt nur für diese eine Antwort. Was für alle Fragen gesendet wird, summiert " +
      "sich, und es gilt die Grenze für alle Antworten zusammen.",
  },

  chance: {
    same: "Die Wahrheit wird gesendet",
    opposite: "Das Gegenteil wird gesendet",
    yours: "Ihre Antwort wird gesendet",
    other: "Eine bestimmte andere Antwort wird gesendet",
    yoursInSet: "Ihre Antwort ist in der Auswahl",
    otherInSet: "Eine bestimmte andere Antwort ist in der Auswahl",
    yoursCombination: "Ihre Kombination wird gesendet",
    otherCombination: "Eine bestimmte andere Kombination wird gesendet",
    yoursCombinationInSet: "Ihre Kombination ist in der Auswahl",
    otherCombinationInSet: "Eine bestimmte andere Kombination ist in der Auswahl",
    inside: "Der Bereich enthält Ihre Antwort",
    outside: "Der Bereich enthält sie nicht",
    rounded: "Der Punkt, auf den Ihre Zahl gerundet wurde, wird gesendet",
    elsewhere: "Ein anderer Punkt wird gesendet",
    drawn: "Eine bestimmte Antwort wird ausgewählt",
    near: "Das Gesendete weist auf Ihre Antwort hin",
    far: "Das Gesendete weist auf etwas anderes hin",
    exactly: "{count} von {total}",
    atLeast: "mindestens {count} von {total}",
    atMost: "höchstens {count} von {total}",
    rare: "höchstens {chance}",
  },

  openly: {
    booklet: "Welche Fragen Ihr Gerät ausgewählt hat. Es hat sie ausgewählt, bevor Sie etwas geantwortet haben.",
    id: "Eine Zufallszahl, die Ihr Gerät für diese Einsendung erzeugt, und der Fingerabdruck dieser Umfrage.",
  },

  status: {
    sending: "Wird gesendet …",
    thanks: "Danke. Ihre Antworten wurden gesendet.",
    thanksText:
      "Ihre geschützten Antworten haben dieses Gerät nur mit Zufall vermischt verlassen. Die wahren gibt es nicht mehr.",
    waitingTitle: "Danke. Einen Moment noch.",
    waiting: "Noch nicht gesendet. Es wird gesendet, sobald das Netz wieder da ist.",
    waitingServer: "Noch nicht gesendet. Es wird gesendet, sobald der Server es wieder annimmt.",
    comeBack: "Lassen Sie diese Seite offen, oder kommen Sie auf diesem Gerät hierher zurück.",
    stay: "Lassen Sie diese Seite offen: Dieser Browser kann es nicht für später speichern.",
    forgetful:
      "Dieser Browser speichert nichts und kann sich daher nicht merken, dass Sie geantwortet haben. Bitte senden " +
      "Sie nur einmal, und lassen Sie diese Seite offen, bis hier steht, dass alles gesendet wurde.",
    refused:
      "Der Server hat es nicht angenommen, und noch einmal zu senden würde nicht helfen. Er meldet: {title}. {detail}",
    before: "Diese Umfrage wurde auf diesem Gerät schon beantwortet.",
  },

  receipt: {
    calm:
      "Hier hat der Zufall mitgewirkt. Es kann von Ihrer Antwort abweichen, und auch Menschen mit anderen Antworten " +
      "senden es.",
    weak: "Der Zufall hat das nur wenig verändert: Es kann Ihre Antworten verraten.",
    question: "Frage",
    left: "Was gesendet wurde",
    why: "Wer das auch sendet",
    openly: "Genau so gesendet, wie Sie es angegeben haben.",
    raw: "als Code: {report}",
    code: "Code: {code}",
    id: "Einsendung",
    digest: "Fingerabdruck der Umfrage",
    spent: "Alles zusammen",
    keep: "Dieses Gerät behält es nicht. Speichern Sie es, wenn Sie es noch einmal sehen möchten.",
    file:
      "Was dieses Gerät verlassen hat, und sonst nichts. Wahre Antworten sind nicht in dieser Datei; sie wurden " +
      "nicht behalten.",
  },

  remove: {
    title: "Diese Umfrage von diesem Gerät entfernen?",
    sent:
      "Dieses Gerät vergisst dann, dass die Umfrage beantwortet wurde. Was gesendet wurde, bleibt, wo es ist, und " +
      "lässt sich nicht zurückholen.",
    unsent:
      "Es wurde noch nicht gesendet. Wenn Sie es jetzt entfernen, wird es nicht mehr gesendet. Ein Versuch kann " +
      "trotzdem angekommen sein.",
    again:
      "Danach kann die Umfrage auf diesem Gerät noch einmal beantwortet werden. Das ist für jemand anderen gedacht: " +
      "Wenn Sie zweimal antworten, verraten beide Einsendungen zusammen mehr über Sie als eine.",
    doneTitle: "Entfernt",
    done: "Dieses Gerät speichert nichts mehr zu dieser Umfrage.",
  },

  report: {
    oneOf: "Eine davon: {answers}",
    near: "In der Nähe von {answer}",
    between: "Von {low} bis {high}",
    drawnYes: "{option}: ja",
    drawnNo: "{option}: nein",
    table: "Nummer {number} von {reports}, am nächsten bei {answer}",
  },

  why: {
    bit:
      "Von denen, die {other} antworten, senden mindestens {low} von {total} genau das auch. Von denen, die {answer} " +
      "antworten, höchstens {high}.",
    others:
      "Von denen mit irgendeiner anderen Antwort senden mindestens {low} von {total} genau das auch. Von denen, die " +
      "{answer} antworten, höchstens {high}.",
    combination:
      "Von denen mit irgendwelchen anderen Antworten senden mindestens {low} von {total} genau das auch. Von denen " +
      "mit diesen Antworten höchstens {high}.",
    combinations:
      "Von denen mit irgendwelchen anderen Antworten senden mindestens {low} von {total} genau das auch. Von denen " +
      "mit einer dieser Kombinationen höchstens {high}.",
    drawnYes:
      "Von denen, die das nicht gewählt haben, senden mindestens {low} von {total} auch dieses Ja. Von denen, die es " +
      "gewählt haben, höchstens {high}.",
    drawnNo:
      "Von denen, die das gewählt haben, senden mindestens {low} von {total} auch dieses Nein. Von denen, die es " +
      "nicht gewählt haben, höchstens {high}.",
    odds: "Bei einer Antwort ist es höchstens {odds}-mal so wahrscheinlich wie bei einer anderen.",
    rare:
      "Bei einer Antwort ist es bis zu {odds}-mal so wahrscheinlich wie bei einer anderen, also mehr als üblich. Die " +
      "Wahrscheinlichkeit einer solchen Meldung beträgt höchstens {chance}.",
    never:
      "Manche Antworten führen nie zu dieser Meldung. Die Wahrscheinlichkeit einer solchen Meldung beträgt höchstens " +
      "{chance}.",
  },

  failure: {
    digest: {
      title: "Das ist nicht die Umfrage, die der Link versprochen hat",
      text:
        "Der Link sagt genau, welche Umfrage zu erwarten ist, und der Server hat eine andere gesendet. Sie wurden " +
        "nichts gefragt, und nichts wurde gesendet. Bitte sagen Sie der Person Bescheid, von der Sie den Link haben.",
    },
    changed: {
      title: "Diese Umfrage hat sich geändert",
      text:
        "Eine veröffentlichte Umfrage ändert sich nie, aber diese weicht von der ab, die dieses Gerät hier früher " +
        "gesehen hat. Sie wurden nichts gefragt, und nichts wurde gesendet. Bitte sagen Sie den Verantwortlichen der " +
        "Umfrage Bescheid.",
    },
    tampered: {
      title: "Diese Umfrage schützt Antworten nicht so, wie sie sagt",
      text:
        "Bevor es etwas fragt, prüft dieses Gerät selbst, ob jede Antwort so geschützt wird, wie die Umfrage sagt. " +
        "Diese Prüfung ist fehlgeschlagen. Sie wurden nichts gefragt, und nichts wurde gesendet.",
    },
    crypto: {
      title: "Dieser Browser kann Ihre Antworten hier nicht schützen",
      text:
        "Er hat auf dieser Seite keine sicheren Zufallszahlen. Bitte benutzen Sie einen aktuellen Browser und eine " +
        "Adresse, die mit https beginnt.",
    },
    address: {
      title: "Dieser Link ist nicht vollständig",
      text:
        "Er führt zu keiner Umfrage. Vielleicht fehlt ein Teil davon. Bitte öffnen Sie ihn noch einmal dort, wo Sie " +
        "ihn bekommen haben.",
    },
    unreachable: {
      title: "Die Umfrage ist nicht erreichbar",
      text:
        "Der Server antwortet nicht, oder er hat unter dieser Adresse keine Umfrage. Bitte prüfen Sie Ihre " +
        "Verbindung, und versuchen Sie es noch einmal.",
    },
    closed: {
      title: "Diese Umfrage ist geschlossen",
      text: "Sie nimmt keine Antworten mehr an, und von Ihnen wurde nichts gespeichert.",
    },
    not_open: {
      title: "Diese Umfrage beginnt am {time}",
      text: "Noch kann niemand antworten, und von Ihnen wurde nichts gespeichert. Bitte kommen Sie dann wieder.",
    },
    storage: {
      title: "Dieses Gerät konnte nicht speichern, was gesendet werden soll",
      text:
        "Bevor etwas gesendet wird, speichert dieses Gerät die mit Zufall vermischte Einsendung, damit sie nie " +
        "zweimal erzeugt wird. Das hat nicht geklappt, vielleicht weil kein Platz mehr ist. Es wurde nichts gesendet.",
    },
    budget: {
      title: "Diese Umfrage verlangt mehr, als dieses Gerät erlaubt",
      text:
        "Alle Umfragen, die auf diesem Gerät beantwortet werden, zählen zusammen. Mit dieser würden sie mehr über " +
        "Sie verraten, als hier erlaubt ist. Es wurde nichts gesendet.",
    },
    already_answered: {
      title: "Diese Umfrage wurde auf diesem Gerät schon beantwortet",
      text: "Zwei Einsendungen würden Sie weniger schützen als eine. Die erste zählt, und mehr wurde nicht gesendet.",
    },
    expired: {
      title: "Es konnte nicht gesendet werden",
      text:
        "Dieses Gerät hat es zwei Wochen lang versucht und aufgegeben. Was gesendet werden sollte, ist entfernt. Die " +
        "Umfrage zählt als beantwortet, denn ein Versuch kann trotzdem angekommen sein.",
    },
    refused: {
      title: "Der Server hat es nicht angenommen",
      text: "Noch einmal zu senden würde nicht helfen. Bitte sagen Sie den Verantwortlichen der Umfrage Bescheid.",
    },
    unsure: {
      title: "Beim Senden ist etwas schiefgegangen",
      text:
        "Vielleicht wurde es gesendet, vielleicht nicht. Bitte laden Sie die Seite neu: Wenn es gesendet wurde, " +
        "steht es dort.",
    },
    unexpected: {
      title: "Auf dieser Seite ist etwas schiefgegangen",
      text: "Es wurde nichts gesendet. Bitte laden Sie die Seite neu.",
    },
  },
};
