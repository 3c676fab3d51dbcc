// Every text of the questionnaire, in Spanish: the keys and {placeholders} of en.js.

export default {
  loading: "Cargando la encuesta y comprobando su protección…",
  offline:
    "Ahora mismo no hay conexión con el servidor. Esta es una copia de la encuesta que se guardó en este " +
    "dispositivo. Se ha vuelto a comprobar.",
  yes: "Sí",
  no: "No",
  declined: "Prefiero no decirlo",
  none: "Ninguna de estas",
  quote: "«{text}»",
  point: "{point}: {label}",
  optionYes: "{option}: sí",
  optionNo: "{option}: no",
  amount: "{number} {unit}",
  range: "{low} a {high}",
  bin: "{low} a menos de {high}",

  start: {
    picked: "Preguntas: {picked} de {total}, al azar · cerca de {minutes}",
    options: "Preguntas: {total}, sobre opciones elegidas al azar · cerca de {minutes}",
    all: "Preguntas: {total} · cerca de {minutes}",
    fair:
      "Su dispositivo lanza una moneda en secreto antes de enviar nada. Por lo que se envía, nadie puede estar " +
      "seguro de lo que usted respondió. Ni siquiera nosotros.",
    weak:
      "Su dispositivo mezcla el azar con sus respuestas antes de enviar nada. Pero solo quedan débilmente " +
      "protegidas: lo que se envía puede delatarlas.",
    hardly:
      "Su dispositivo mezcla el azar con sus respuestas antes de enviar nada. Pero apenas quedan protegidas: lo que " +
      "se envía las delata casi siempre.",
    openly: "Solo esto, que se pregunta al final, se envía sin cambios: {questions}",
    go: "Empezar",
    how: "¿Cómo es posible?",
    who: "¿Quién podría conocer mis respuestas?",
    language: "Idioma",
    answer: "su respuesta",
    coin: "moneda",
    sent: "lo que se envía",
  },

  invitation: {
    title: "Para esta encuesta necesita una invitación",
    text: "Escriba, por favor, el código de su carta o mensaje.",
    label: "Código de invitación",
    hint: "14 o 28 letras y cifras. Los guiones y las mayúsculas no importan.",
    go: "Continuar",
    why: "¿Por qué mi enlace personal no me delata?",
    only: "El código solo muestra que usted puede participar. No se envía con sus respuestas.",
    blind: "Su dispositivo lo cambia por una ficha que el servidor firma sin verla. La ficha no muestra de quién es.",
    key: "Todas las fichas se firman con la misma clave. Su huella:",
    format: "El código no está completo. Tiene 14 o 28 letras y cifras.",
    checksum: "Hay un error al escribir este código. Compárelo, por favor, con su carta o mensaje.",
    unknown: "Este código no es válido o ha caducado. Revíselo, por favor, o pida uno nuevo.",
    used: "Este código ya se usó, quizá en otro dispositivo. Si no fue usted, pida uno nuevo, por favor.",
  },

  kiosk: {
    note:
      "Muchas personas responden en este dispositivo. Cuando usted termine, el dispositivo olvidará que respondió. " +
      "Por eso, responda solo una vez: dos envíos revelan más sobre usted que uno.",
    next: "Siguiente persona",
    wait: "Deje esta página abierta, por favor. La siguiente persona podrá empezar cuando esto se haya enviado.",
  },

  preview: {
    note: "Esto es una vista previa. Responda lo que quiera: no se envía nada.",
    title: "Esto es una vista previa. No se envió nada.",
    text: "Aquí, quienes responden leen el agradecimiento. Abajo está el comprobante que verían.",
    again: "Empezar de nuevo",
  },

  how: {
    title: "¿Cómo es posible?",
    coin:
      "Imagine una pregunta muy personal y una moneda que solo usted ve. Si sale cara, usted dice la verdad. Si sale " +
      "cruz, la lanza otra vez y la moneda responde por usted: cara es sí, cruz es no.",
    cover:
      "Quien oiga su «sí» no puede saber si viene de usted o de la moneda. Pero sabe con qué frecuencia las monedas " +
      "dicen sí, y entre muchas personas puede restarlo.",
    here:
      "Esta encuesta hace lo mismo, con números al azar de su dispositivo. Sus probabilidades no son las de esta " +
      "moneda. Las encontrará en cada pregunta.",
    tryCoin: "Pruebe: su respuesta secreta (desde aquí no se envía nada)",
    flip: "Lanzar la moneda",
    heads: "cara",
    tails: "cruz",
    unflipped: "Aún no ha lanzado la moneda.",
    choose: "Elija primero una respuesta secreta, por favor.",
    truth:
      "La primera moneda muestra cara, así que se envía la verdad: {sent}. Nadie que lo reciba puede saberlo: las " +
      "personas con la otra respuesta envían lo mismo una de cada cuatro veces.",
    chance:
      "La primera moneda muestra cruz, así que responde la segunda. Se envía: {sent}, sea cual sea su respuesta " +
      "secreta.",
    crowd: "Pruebe con mucha gente",
    share: "De cada 100 personas, cuántas dirían de verdad que sí: {count}",
    ask: "Preguntar a 1000 personas",
    again: "Empezar de nuevo",
    nobody: "Aún no se ha preguntado a nadie.",
    result: "Personas preguntadas: {people}. Dijeron sí: {said}. Corregido: {estimate}. La verdad: {truth}.",
    correction:
      "La corrección: por la mitad de las personas responde la segunda moneda, y la mitad de esas dicen sí. Eso es " +
      "una cuarta parte del total. Reste esa cuarta parte de quienes dijeron sí y duplique lo que queda.",
  },

  who: {
    title: "¿Quién podría conocer mis respuestas?",
    team: "El equipo que hace la encuesta",
    thief: "Alguien que robe o exija los registros de ese equipo",
    fair: "No. Solo puede intentar adivinarlas.",
    weak: "Podría acertar a menudo.",
    hardly: "Casi siempre.",
    network: "Alguien que vigile la red",
    networkSees: "Solo que usted participa.",
    device: "Alguien que use este dispositivo después de usted",
    deviceSees: "Solo que aquí se respondió esta encuesta.",
    website: "Quienes gestionan este sitio web",
    websiteSees: "Solo con trampas: cambiando el programa de esta página.",
    openly: "Se envía sin cambios y lo ve el equipo que hace la encuesta: {questions}",
    checked:
      "Esto se deduce de la protección de la encuesta ({symbols}). Su dispositivo lo ha comprobado por sí mismo.",
    kept:
      "El servidor guarda un número al azar, lo que envió su dispositivo y cuántos envíos llegaron cada día. No " +
      "guarda ninguna dirección de red, ni la hora, ni cookies. Hasta que se cierre la encuesta, sus archivos " +
      "muestran el orden de llegada.",
    cheat: "Cómo comprobar el sitio web",
    cheatText:
      "Esta página viene del servidor, y ninguna página web puede demostrar que su programa es el correcto. " +
      "Cualquiera puede compararlo con el publicado: lo hace el comando «deniable verify». Es más segura una " +
      "aplicación instalada que otras personas hayan examinado.",
    digest: "La huella de esta encuesta. Cambia si cambia una sola letra o una sola probabilidad:",
    pinned: "Su enlace contiene esta huella. Su navegador ha comparado las dos y coinciden.",
    unpinned: "Su enlace no la contiene. Compárela con una que le haya dado alguien de confianza.",
  },

  progress: "{done} de {total}",
  answered: "Respondidas: {done} de {total}",

  followUp: {
    shown: "Hay una pregunta más abajo: {question}",
    hidden: "Ya no se pregunta: {question}",
  },

  section: {
    segments: "Se envía sin cambios",
    segmentNote: "Sin azar: se envía exactamente como usted responda.",
    review: "Revise sus respuestas",
    reviewHint: "Todavía no se ha enviado nada.",
    openly: "Qué más se envía",
    total: "Lo que revela todo junto",
  },

  hint: {
    multiChoice: "Elija todas las que correspondan, o «Ninguna de estas».",
    number: "Un número de {low} a {high}",
    numberUnit: "Un número de {low} a {high} {unit}",
  },

  button: {
    next: "Siguiente",
    back: "Atrás",
    review: "Revisar sus respuestas",
    send: "Enviar",
    change: "Cambiar",
    changeWhat: "Cambiar: {question}",
    save: "Guardar lo enviado",
    print: "Imprimir",
    see: "Ver lo que se envió",
    remove: "Eliminar de este dispositivo",
    removeNow: "Eliminar",
    keep: "Conservar",
    again: "Intentar de nuevo",
    answers: "Volver a sus respuestas",
    close: "Entendido",
  },

  error: {
    summary: "Aún faltan algunas respuestas",
    why: "Todas las preguntas necesitan una respuesta. Dejar una vacía podría delatarle.",
    choose: "Elija una respuesta, por favor. Dejarla vacía podría delatarle.",
    chooseOrDecline: "Elija una respuesta, o «Prefiero no decirlo». Dejarla vacía podría delatarle.",
    chooseSome: "Elija lo que corresponda, o «Ninguna de estas». Una respuesta vacía podría delatarle.",
    chooseSegment: "Elija una opción, por favor.",
    numberMissing: "Escriba un número, por favor. Una respuesta vacía podría delatarle.",
    numberOrDecline: "Escriba un número, o elija «Prefiero no decirlo». Una respuesta vacía podría delatarle.",
    notNumber: "No podemos leer este número. Escríbalo así: 1200 o 12,5, sin separar los miles.",
    outside: "Escriba un número de {low} a {high}, por favor.",
  },

  line: {
    bit: "Protegida: al menos {count} de cada {total} veces, su dispositivo envía lo contrario.",
    single: "Protegida: al menos {count} de cada {total} veces, su dispositivo envía otra respuesta.",
    set:
      "Protegida: su dispositivo envía un conjunto de {size} de las {options} respuestas. Al menos {count} de cada " +
      "{total} veces, la suya no está en él.",
    range:
      "Protegida: su dispositivo envía un intervalo aproximado, no su respuesta. Al menos {count} de cada {total} " +
      "veces, su respuesta no está en él.",
    point:
      "Protegida: al menos {count} de cada {total} veces, su dispositivo envía un número que no es el más cercano al " +
      "suyo.",
    drawn:
      "Protegida: su dispositivo elige al azar una de las {options} respuestas y envía sí o no solo para esa. Al " +
      "menos {count} de cada {total} veces, envía lo contrario.",
    table: "Protegida: al menos {count} de cada {total} veces, lo que su dispositivo envía apunta a otra respuesta.",
    combination:
      "Protegidas: sus respuestas se envían como una sola. Al menos {count} de cada {total} veces, su dispositivo " +
      "envía otras respuestas.",
    combinations:
      "Protegidas: su dispositivo envía un conjunto de {size} de las {options} combinaciones de respuestas posibles. " +
      "Al menos {count} de cada {total} veces, la suya no está en él.",
    seldom: "Protegida solo en casos raros: casi siempre, lo que su dispositivo envía apunta a su respuesta.",
    weak: "Esta respuesta solo está débilmente protegida: lo que se envía puede delatarla.",
    weakTogether: "Estas respuestas solo están débilmente protegidas: lo que se envía puede delatarlas.",
  },

  protection: {
    title: "¿Cómo?",
    bit:
      "Su dispositivo lanza una moneda que cae más de un lado que del otro. La moneda decide si se envía su " +
      "respuesta o la contraria.",
    single:
      "Su dispositivo elige al azar una de las {options} respuestas. La suya es la más probable, pero también puede " +
      "salir cualquier otra.",
    set:
      "Su dispositivo elige al azar un conjunto de {size} de las {options} respuestas. Los conjuntos que contienen " +
      "la suya son más probables, pero también salen conjuntos sin ella.",
    range:
      "Su dispositivo elige al azar un intervalo de hasta {width} de {levels} puntos. Los intervalos que contienen " +
      "su respuesta son más probables, pero también salen intervalos sin ella.",
    point:
      "Su dispositivo elige al azar uno de {levels} puntos. El punto al que se redondeó su número es el más " +
      "probable, pero también puede salir cualquier otro.",
    rounding: "Antes, su número se redondea al azar hacia arriba o hacia abajo a uno de {levels} puntos: {points}.",
    drawn:
      "Su dispositivo elige al azar una de las {options} respuestas, sea cual sea su elección. Después lanza una " +
      "moneda que cae más de un lado que del otro. La moneda decide si se envía la verdad sobre esa respuesta o lo " +
      "contrario. Sobre las demás no se envía nada.",
    table:
      "Su dispositivo elige al azar uno de {reports} mensajes. Los mensajes cercanos a su respuesta son más " +
      "probables, pero también salen los demás.",
    combination:
      "Su dispositivo elige al azar una de las {options} combinaciones de respuestas. La suya es la más probable, " +
      "pero también puede salir cualquier otra. Lo que se envía tiene el mismo aspecto, sin importar cuántas " +
      "preguntas haya visto usted.",
    combinations:
      "Su dispositivo elige al azar un conjunto de {size} de las {options} combinaciones de respuestas. Los " +
      "conjuntos que contienen la suya son más probables, pero también salen conjuntos sin ella. Lo que se envía " +
      "tiene el mismo aspecto, sin importar cuántas preguntas haya visto usted.",
    always: "Sea cual sea su respuesta, las probabilidades son:",
    odds: "Se envíe lo que se envíe, con una respuesta es como máximo {odds} veces tan probable como con otra.",
    oddsDelta:
      "Se envíe lo que se envíe, con una respuesta es como máximo {odds} veces tan probable como con otra. La " +
      "probabilidad de que sea más es como máximo {chance}.",
    experts: "Para especialistas: {symbols}.",
  },

  meaning: {
    suppose:
      "Suponga que alguien intenta adivinar sus respuestas a partir de todo lo que se envió, y acepta equivocarse " +
      "con el 5 % de las personas.",
    found: "Descubriría la verdad como máximo el {percent} % de las veces.",
    weak: "Esto solo protege débilmente.",
    hardly: "Podría descubrir la verdad casi siempre: esto apenas protege.",
    delta:
      "Esto incluye δ = {delta}: en el peor de los casos, es como si se enviaran sin cambios las respuestas " +
      "verdaderas de {count} de cada {total} personas.",
    each:
      "Lo que se muestra debajo de una pregunta se refiere solo a esa respuesta. Lo que se envía para todas las " +
      "preguntas se suma, y vale el límite para todas las respuestas juntas.",
  },

  chance: {
    same: "Se envía la verdad",
    opposite: "Se envía lo contrario",
    yours: "Se envía su respuesta",
    other: "Se envía otra respuesta concreta",
    yoursInSet: "Su respuesta está en el conjunto",
    otherInSet: "Otra respuesta concreta está en el conjunto",
    yoursCombination: "Se envía su combinación",
    otherCombination: "Se envía otra combinación concreta",
    yoursCombinationInSet: "Su combinación está en el conjunto",
    otherCombinationInSet: "Otra combinación concreta está en el conjunto",
    inside: "El intervalo contiene su respuesta",
    outside: "El intervalo no la contiene",
    rounded: "Se envía el punto al que se redondeó su número",
    elsewhere: "Se envía otro punto",
    drawn: "Se elige una respuesta concreta",
    near: "Lo que se envía apunta a su respuesta",
    far: "Lo que se envía apunta a otra parte",
    exactly: "{count} de {total}",
    atLeast: "al menos {count} de {total}",
    atMost: "como máximo {count} de {total}",
    rare: "como máximo {chance}",
  },

  openly: {
    booklet: "Qué preguntas eligió su dispositivo. Las eligió antes de que usted respondiera nada.",
    id: "Un número al azar que su dispositivo crea para este envío, y la huella de esta encuesta.",
  },

  status: {
    sending: "Enviando…",
    thanks: "Gracias. Sus respuestas se han enviado.",
    thanksText:
      "Sus respuestas protegidas solo salieron de este dispositivo mezcladas con el azar. Las verdaderas ya no existen.",
    waitingTitle: "Gracias. Solo un momento más.",
    waiting: "Aún no se ha enviado. Se enviará cuando vuelva la conexión.",
    waitingServer: "Aún no se ha enviado. Se enviará cuando el servidor vuelva a aceptarlo.",
    comeBack: "Deje esta página abierta, o vuelva a ella en este dispositivo.",
    stay: "Deje esta página abierta: este navegador no puede guardarlo para más tarde.",
    forgetful:
      "Este navegador no guarda nada, así que no puede recordar que usted ya respondió. Por favor, envíe una sola " +
      "vez y deje esta página abierta hasta que diga que se ha enviado.",
    refused: "El servidor no lo aceptó, y enviarlo otra vez no serviría de nada. Dice: {title}. {detail}",
    before: "Esta encuesta ya se respondió en este dispositivo.",
  },

  receipt: {
    calm:
      "Esto se hizo con ayuda del azar. Puede ser distinto de lo que usted respondió, y personas con otras " +
      "respuestas también lo envían.",
    weak: "El azar ha cambiado esto solo un poco: puede delatar sus respuestas.",
    question: "Pregunta",
    left: "Lo que se envió",
    why: "Quién más envía esto",
    openly: "Se envió exactamente como usted lo indicó.",
    raw: "como código: {report}",
    code: "código {code}",
    id: "Envío",
    digest: "Huella de la encuesta",
    spent: "Todo junto",
    keep: "Este dispositivo no lo conserva. Guárdelo si quiere volver a verlo.",
    file:
      "Lo que salió de este dispositivo, y nada más. Las respuestas verdaderas no están en este archivo; no se " +
      "conservaron.",
  },

  remove: {
    title: "¿Eliminar esta encuesta de este dispositivo?",
    sent:
      "Este dispositivo olvidará que se respondió la encuesta. Lo que ya se envió se queda donde está y no se puede " +
      "retirar.",
    unsent:
      "Aún no se ha enviado. Si lo elimina ahora, no se volverá a enviar. Aun así, puede que un intento de envío " +
      "haya llegado.",
    again:
      "Después se podrá responder otra vez la encuesta en este dispositivo. Eso es para otra persona: si usted " +
      "responde dos veces, los dos envíos juntos revelan más sobre usted que uno.",
    doneTitle: "Eliminada",
    done: "Este dispositivo ya no guarda nada de esta encuesta.",
  },

  report: {
    oneOf: "Una de estas: {answers}",
    near: "Cerca de {answer}",
    between: "De {low} a {high}",
    drawnYes: "{option}: sí",
    drawnNo: "{option}: no",
    table: "Número {number} de {reports}, lo más cercano a {answer}",
  },

  why: {
    bit:
      "Al menos {low} de cada {total} personas que responden {other} también envían exactamente esto. De las que " +
      "responden {answer}, como máximo {high}.",
    others:
      "Al menos {low} de cada {total} personas con cualquier otra respuesta también envían exactamente esto. De las " +
      "que responden {answer}, como máximo {high}.",
    combination:
      "Al menos {low} de cada {total} personas con cualesquiera otras respuestas también envían exactamente esto. De " +
      "las que tienen estas respuestas, como máximo {high}.",
    combinations:
      "Al menos {low} de cada {total} personas con cualesquiera otras respuestas también envían exactamente esto. De " +
      "las que tienen una de estas combinaciones, como máximo {high}.",
    drawnYes:
      "Al menos {low} de cada {total} personas que no eligieron esta opción también envían este sí. De las que la " +
      "eligieron, como máximo {high}.",
    drawnNo:
      "Al menos {low} de cada {total} personas que eligieron esta opción también envían este no. De las que no la " +
      "eligieron, como máximo {high}.",
    odds: "Con una respuesta es como máximo {odds} veces tan probable como con otra.",
    rare:
      "Con una respuesta es hasta {odds} veces tan probable como con otra, más de lo habitual. La probabilidad de un " +
      "mensaje así es como máximo {chance}.",
    never: "Algunas respuestas nunca llevan a este mensaje. La probabilidad de un mensaje así es como máximo {chance}.",
  },

  failure: {
    digest: {
      title: "Esta no es la encuesta que prometía el enlace",
      text:
        "El enlace dice exactamente qué encuesta debe llegar, y el servidor envió otra. No se le preguntó nada y no " +
        "se envió nada. Avise, por favor, a la persona que le dio el enlace.",
    },
    changed: {
      title: "Esta encuesta ha cambiado",
      text:
        "Una encuesta publicada no cambia nunca, pero esta es distinta de la que este dispositivo vio aquí antes. No " +
        "se le preguntó nada y no se envió nada. Avise, por favor, a quienes gestionan la encuesta.",
    },
    tampered: {
      title: "Esta encuesta no protege las respuestas como dice",
      text:
        "Antes de preguntar nada, este dispositivo comprueba por sí mismo que cada respuesta quedará protegida como " +
        "dice la encuesta. Esa comprobación falló. No se le preguntó nada y no se envió nada.",
    },
    crypto: {
      title: "Este navegador no puede proteger aquí sus respuestas",
      text:
        "No dispone de números al azar seguros en esta página. Use, por favor, un navegador actualizado y una " +
        "dirección que empiece por https.",
    },
    address: {
      title: "Este enlace no está completo",
      text:
        "No lleva a ninguna encuesta. Puede que falte una parte. Ábralo otra vez, por favor, desde donde lo recibió.",
    },
    unreachable: {
      title: "No se puede abrir la encuesta",
      text:
        "El servidor no responde, o no tiene ninguna encuesta en esta dirección. Compruebe su conexión e inténtelo " +
        "de nuevo, por favor.",
    },
    closed: {
      title: "Esta encuesta está cerrada",
      text: "Ya no acepta respuestas, y no se guardó nada suyo.",
    },
    not_open: {
      title: "Esta encuesta se abre el {time}",
      text: "Todavía no se puede responder, y no se guardó nada suyo. Vuelva entonces, por favor.",
    },
    storage: {
      title: "Este dispositivo no pudo guardar lo que se va a enviar",
      text:
        "Antes de enviar nada, el envío ya mezclado con el azar se guarda en este dispositivo, para que nunca se " +
        "cree dos veces. No ha sido posible, quizá porque no queda espacio. No se envió nada.",
    },
    budget: {
      title: "Esta encuesta pide más de lo que permite este dispositivo",
      text:
        "Todas las encuestas que se responden en este dispositivo cuentan juntas. Con esta, revelarían más sobre " +
        "usted de lo que aquí se permite. No se envió nada.",
    },
    already_answered: {
      title: "Esta encuesta ya se respondió en este dispositivo",
      text: "Dos envíos le protegerían menos que uno. Cuenta el primero, y no se envió nada más.",
    },
    expired: {
      title: "No se pudo enviar",
      text:
        "Este dispositivo lo intentó durante dos semanas y ha desistido. Lo que se iba a enviar se ha eliminado. La " +
        "encuesta cuenta como respondida, porque aun así puede que un intento haya llegado.",
    },
    refused: {
      title: "El servidor no lo aceptó",
      text: "Enviarlo otra vez no serviría de nada. Avise, por favor, a quienes gestionan la encuesta.",
    },
    unsure: {
      title: "Algo salió mal durante el envío",
      text: "Puede que se haya enviado o puede que no. Recargue la página, por favor: si se envió, lo indicará.",
    },
    unexpected: {
      title: "Algo salió mal en esta página",
      text: "No se envió nada. Recargue la página, por favor.",
    },
  },
};
