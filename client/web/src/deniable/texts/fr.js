// Every text of the questionnaire, in French: the keys and {placeholders} of en.js.

export default {
  loading: "Chargement de l’enquête et vérification de sa protection…",
  offline:
    "Le serveur n’est pas joignable pour le moment. Ceci est une copie de l’enquête gardée sur cet appareil. Elle a " +
    "été vérifiée de nouveau.",
  yes: "Oui",
  no: "Non",
  declined: "Je préfère ne pas répondre",
  none: "Aucune de ces réponses",
  quote: "« {text} »",
  point: "{point} : {label}",
  optionYes: "{option} : oui",
  optionNo: "{option} : non",
  amount: "{number} {unit}",
  range: "{low} à {high}",
  bin: "{low} à moins de {high}",

  start: {
    picked: "Questions : {picked} sur {total}, au hasard · environ {minutes}",
    options: "Questions : {total}, sur des options tirées au sort · environ {minutes}",
    all: "Questions : {total} · environ {minutes}",
    fair:
      "Votre appareil tire à pile ou face, en secret, avant d’envoyer quoi que ce soit. D’après ce qui est envoyé, " +
      "personne ne peut être sûr de ce que vous avez répondu. Pas même nous.",
    weak:
      "Votre appareil mêle du hasard à vos réponses avant d’envoyer quoi que ce soit. Mais elles ne sont que " +
      "faiblement protégées : ce qui est envoyé peut les trahir.",
    hardly:
      "Votre appareil mêle du hasard à vos réponses avant d’envoyer quoi que ce soit. Mais elles ne sont presque pas " +
      "protégées : ce qui est envoyé les trahit presque toujours.",
    openly: "Seul ceci, demandé à la fin, est envoyé sans changement : {questions}",
    go: "Commencer",
    how: "Comment est-ce possible ?",
    who: "Qui pourrait connaître mes réponses ?",
    language: "Langue",
    answer: "votre réponse",
    coin: "pile ou face",
    sent: "ce qui est envoyé",
  },

  invitation: {
    title: "Cette enquête est sur invitation",
    text: "Merci de saisir le code de votre lettre ou message.",
    label: "Code d’invitation",
    hint: "14 ou 28 lettres et chiffres. Les tirets et les majuscules ne comptent pas.",
    go: "Continuer",
    why: "Pourquoi mon lien personnel ne me trahit-il pas ?",
    only: "Le code montre seulement que vous pouvez participer. Il n’est pas envoyé avec vos réponses.",
    blind:
      "Votre appareil l’échange contre un jeton que le serveur signe sans le voir. " +
      "Le jeton ne montre pas à qui il est.",
    key: "Tous les jetons sont signés avec la même clé. Son empreinte :",
    format: "Ce code n’est pas complet. Il a 14 ou 28 lettres et chiffres.",
    checksum: "Il y a une faute de frappe dans ce code. Merci de le comparer avec votre lettre ou message.",
    unknown: "Ce code n’est pas valable, ou il a expiré. Merci de le vérifier ou d’en demander un nouveau.",
    used:
      "Ce code a déjà été utilisé, peut-être sur un autre appareil. Si ce n’était pas vous, merci d’en " +
      "demander un nouveau.",
  },

  kiosk: {
    note:
      "Beaucoup de personnes répondent sur cet appareil. Quand vous aurez terminé, il oubliera que vous avez " +
      "répondu. Merci donc de ne répondre qu’une seule fois : deux envois en disent plus sur vous qu’un seul.",
    next: "Personne suivante",
    wait: "Merci de laisser cette page ouverte. La personne suivante pourra commencer quand l’envoi sera fait.",
  },

  preview: {
    note: "Ceci est un aperçu. Répondez comme vous voulez : rien n’est envoyé.",
    title: "Ceci est un aperçu. Rien n’a été envoyé.",
    text: "Ici, les personnes qui répondent lisent nos remerciements. Ci-dessous, le reçu qu’elles verraient.",
    again: "Recommencer",
  },

  how: {
    title: "Comment est-ce possible ?",
    coin:
      "Imaginez une question très personnelle, et une pièce de monnaie que personne d’autre ne voit. Face : vous " +
      "dites la vérité. Pile : vous la lancez encore une fois, et la pièce répond pour vous : face pour oui, pile " +
      "pour non.",
    cover:
      "Qui entend votre « oui » ne peut pas savoir s’il vient de vous ou de la pièce. Mais on sait combien de fois " +
      "les pièces disent oui et, sur beaucoup de personnes, on peut le soustraire.",
    here:
      "Cette enquête fait de même, avec des nombres aléatoires de votre appareil. Ses probabilités ne sont pas " +
      "celles de cette pièce. Vous les trouverez à chaque question.",
    tryCoin: "Essayez : votre réponse secrète (rien n’est envoyé d’ici)",
    flip: "Lancer la pièce",
    heads: "face",
    tails: "pile",
    unflipped: "Vous n’avez pas encore lancé la pièce.",
    choose: "Choisissez d’abord une réponse secrète, s’il vous plaît.",
    truth:
      "La première pièce montre face, c’est donc la vérité qui est envoyée : {sent}. Personne, en la recevant, ne " +
      "peut le savoir : les personnes avec l’autre réponse envoient la même chose une fois sur quatre.",
    chance:
      "La première pièce montre pile, c’est donc la seconde qui répond. Ce qui est envoyé : {sent}, quel que soit " +
      "votre choix.",
    crowd: "Essayez avec une foule",
    share: "Sur 100 personnes, combien diraient vraiment oui : {count}",
    ask: "Interroger 1 000 personnes",
    again: "Recommencer",
    nobody: "Personne n’a encore été interrogé.",
    result: "Personnes interrogées : {people}. Ont dit oui : {said}. Corrigé : {estimate}. La vérité : {truth}.",
    correction:
      "La correction : pour la moitié des personnes, c’est la seconde pièce qui répond, et la moitié d’entre elles " +
      "disent oui. Cela fait un quart de l’ensemble. Retirez ce quart du nombre de oui, puis doublez ce qui reste.",
  },

  who: {
    title: "Qui pourrait connaître mes réponses ?",
    team: "L’équipe qui mène l’enquête",
    thief: "Quelqu’un qui vole ou exige les données de cette équipe",
    fair: "Non. On ne peut que deviner.",
    weak: "On pourrait souvent deviner juste.",
    hardly: "Presque toujours.",
    network: "Quelqu’un qui surveille le réseau",
    networkSees: "Seulement le fait que vous participez.",
    device: "Quelqu’un qui utilise cet appareil après vous",
    deviceSees: "Seulement le fait qu’on a répondu ici à cette enquête.",
    website: "Les personnes qui gèrent ce site web",
    websiteSees: "Seulement en trichant : en remplaçant le programme de cette page.",
    openly: "Envoyé sans changement, et visible pour l’équipe qui mène l’enquête : {questions}",
    checked: "Cela découle de la protection de l’enquête ({symbols}). Votre appareil l’a vérifié lui-même.",
    kept:
      "Le serveur garde un nombre aléatoire, ce que votre appareil a envoyé, et le nombre d’envois arrivés chaque " +
      "jour. Il ne garde ni adresse réseau, ni heure, ni cookie. Jusqu’à la clôture de l’enquête, ses fichiers " +
      "montrent l’ordre d’arrivée.",
    cheat: "Comment vérifier le site web",
    cheatText:
      "Cette page vient du serveur, et aucune page web ne peut prouver que son programme est le bon. Tout le monde " +
      "peut le comparer à celui qui est publié : la commande « deniable verify » le fait. Une application installée, " +
      "que d’autres ont examinée, est plus sûre.",
    digest: "L’empreinte de cette enquête. Elle change dès qu’une seule lettre ou une seule probabilité change :",
    pinned: "Votre lien contient cette empreinte. Votre navigateur a comparé les deux, et elles sont identiques.",
    unpinned: "Votre lien ne la contient pas. Comparez-la à celle que vous a donnée une personne de confiance.",
  },

  progress: "{done} sur {total}",
  answered: "Réponses données : {done} sur {total}",

  followUp: {
    shown: "Une question de plus ci-dessous : {question}",
    hidden: "N’est plus demandé : {question}",
  },

  section: {
    segments: "Envoyé sans changement",
    segmentNote: "Sans hasard : envoyé exactement comme vous répondez.",
    review: "Vérifiez vos réponses",
    reviewHint: "Rien n’a encore été envoyé.",
    openly: "Ce qui est envoyé en plus",
    total: "Ce que tout cela révèle ensemble",
  },

  hint: {
    multiChoice: "Choisissez tout ce qui convient, ou « Aucune de ces réponses ».",
    number: "Un nombre de {low} à {high}",
    numberUnit: "Un nombre de {low} à {high} {unit}",
  },

  button: {
    next: "Suivant",
    back: "Retour",
    review: "Vérifier vos réponses",
    send: "Envoyer",
    change: "Modifier",
    changeWhat: "Modifier : {question}",
    save: "Enregistrer ce qui a été envoyé",
    print: "Imprimer",
    see: "Voir ce qui a été envoyé",
    remove: "Supprimer de cet appareil",
    removeNow: "Supprimer",
    keep: "Garder",
    again: "Réessayer",
    answers: "Revenir à vos réponses",
    close: "J’ai compris",
  },

  error: {
    summary: "Il manque encore des réponses",
    why: "Chaque question a besoin d’une réponse. Une réponse vide pourrait vous trahir.",
    choose: "Choisissez une réponse, s’il vous plaît. Une réponse vide pourrait vous trahir.",
    chooseOrDecline:
      "Choisissez une réponse, ou « Je préfère ne pas répondre ». Une réponse vide pourrait vous trahir.",
    chooseSome: "Choisissez ce qui convient, ou « Aucune de ces réponses ». Une réponse vide pourrait vous trahir.",
    chooseSegment: "Choisissez une réponse, s’il vous plaît.",
    numberMissing: "Saisissez un nombre, s’il vous plaît. Une réponse vide pourrait vous trahir.",
    numberOrDecline:
      "Saisissez un nombre, ou choisissez « Je préfère ne pas répondre ». Une réponse vide pourrait vous trahir.",
    notNumber: "Nous n’arrivons pas à lire ce nombre. Écrivez-le comme 1200 ou 12,5, sans séparer les milliers.",
    outside: "Saisissez un nombre de {low} à {high}, s’il vous plaît.",
  },

  line: {
    bit: "Réponse protégée : au moins {count} fois sur {total}, votre appareil envoie le contraire.",
    single: "Réponse protégée : au moins {count} fois sur {total}, votre appareil envoie une autre réponse.",
    set:
      "Réponse protégée : votre appareil envoie un ensemble de {size} des {options} réponses. Au moins {count} fois " +
      "sur {total}, la vôtre n’en fait pas partie.",
    range:
      "Réponse protégée : votre appareil envoie un intervalle approximatif, pas votre réponse. Au moins {count} fois " +
      "sur {total}, votre réponse n’en fait pas partie.",
    point:
      "Réponse protégée : au moins {count} fois sur {total}, votre appareil envoie un autre nombre que le plus " +
      "proche du vôtre.",
    drawn:
      "Réponse protégée : votre appareil tire au sort une des {options} réponses et n’envoie oui ou non que pour " +
      "celle-là. Au moins {count} fois sur {total}, il envoie le contraire.",
    table:
      "Réponse protégée : au moins {count} fois sur {total}, ce que votre appareil envoie désigne une autre réponse.",
    combination:
      "Réponses protégées : vos réponses sont envoyées comme une seule. Au moins {count} fois sur {total}, votre " +
      "appareil envoie d’autres réponses.",
    combinations:
      "Réponses protégées : votre appareil envoie un ensemble de {size} des {options} combinaisons de réponses " +
      "possibles. Au moins {count} fois sur {total}, la vôtre n’en fait pas partie.",
    seldom:
      "Réponse protégée seulement dans de rares cas : presque toujours, ce que votre appareil envoie désigne votre " +
      "réponse.",
    weak: "Cette réponse n’est que faiblement protégée : ce qui est envoyé peut la trahir.",
    weakTogether: "Ces réponses ne sont que faiblement protégées : ce qui est envoyé peut les trahir.",
  },

  protection: {
    title: "Comment ?",
    bit:
      "Votre appareil lance une pièce qui tombe plus souvent d’un côté que de l’autre. Elle décide si c’est votre " +
      "réponse ou son contraire qui est envoyé.",
    single:
      "Votre appareil tire au sort une des {options} réponses. La vôtre est la plus probable, mais toute autre " +
      "réponse peut sortir aussi.",
    set:
      "Votre appareil tire au sort un ensemble de {size} des {options} réponses. Les ensembles qui contiennent la " +
      "vôtre sont plus probables, mais il sort aussi des ensembles sans elle.",
    range:
      "Votre appareil tire au sort un intervalle d’au plus {width} points sur {levels}. Les intervalles qui " +
      "contiennent votre réponse sont plus probables, mais il sort aussi des intervalles sans elle.",
    point:
      "Votre appareil tire au sort un point sur {levels}. Celui auquel votre nombre a été arrondi est le plus " +
      "probable, mais tout autre point peut sortir aussi.",
    rounding:
      "Avant cela, votre nombre est arrondi au hasard, vers le haut ou vers le bas, à un point sur {levels} : " +
      "{points}.",
    drawn:
      "Votre appareil tire au sort une des {options} réponses, quel que soit votre choix. Puis il lance une pièce " +
      "qui tombe plus souvent d’un côté que de l’autre. Elle décide si c’est la vérité sur cette réponse ou son " +
      "contraire qui est envoyé. Rien n’est envoyé sur les autres.",
    table:
      "Votre appareil tire au sort un message sur {reports}. Les messages proches de votre réponse sont plus " +
      "probables, mais les autres sortent aussi.",
    combination:
      "Votre appareil tire au sort une des {options} combinaisons de réponses. La vôtre est la plus probable, mais " +
      "toute autre peut sortir aussi. Ce qui est envoyé a la même forme, quel que soit le nombre de questions que " +
      "vous avez vues.",
    combinations:
      "Votre appareil tire au sort un ensemble de {size} des {options} combinaisons de réponses. Les ensembles qui " +
      "contiennent la vôtre sont plus probables, mais il sort aussi des ensembles sans elle. Ce qui est envoyé a la " +
      "même forme, quel que soit le nombre de questions que vous avez vues.",
    always: "Quelle que soit votre réponse, les probabilités sont :",
    odds: "Quel que soit l’envoi, une réponse le rend au plus {odds} fois aussi probable qu’une autre.",
    oddsDelta:
      "Quel que soit l’envoi, une réponse le rend au plus {odds} fois aussi probable qu’une autre. La probabilité " +
      "que ce soit plus est d’au plus {chance}.",
    experts: "Pour les spécialistes : {symbols}.",
  },

  meaning: {
    suppose:
      "Supposez que quelqu’un essaie de deviner vos réponses d’après tout ce qui a été envoyé, et accepte de se " +
      "tromper sur 5 % des personnes.",
    found: "Cette personne trouverait la vérité dans au plus {percent} % des cas.",
    weak: "Cela ne protège que faiblement.",
    hardly: "Cette personne pourrait trouver la vérité presque toujours : cela ne protège presque pas.",
    delta:
      "Cela comprend δ = {delta} : au pire, c’est comme si, chez {count} sur {total} personnes, les vraies réponses " +
      "étaient envoyées sans changement.",
    each:
      "Ce qui est indiqué sous une question ne concerne que cette réponse. Ce qui est envoyé pour toutes les " +
      "questions s’additionne, et c’est la limite pour toutes les réponses ensemble qui s’applique.",
  },

  chance: {
    same: "La vérité est envoyée",
    opposite: "Le contraire est envoyé",
    yours: "Votre réponse est envoyée",
    other: "Une autre réponse précise est envoyée",
    yoursInSet: "Votre réponse est dans l’ensemble",
    otherInSet: "Une autre réponse précise est dans l’ensemble",
    yoursCombination: "Votre combinaison est envoyée",
    otherCombination: "Une autre combinaison précise est envoyée",
    yoursCombinationInSet: "Votre combinaison est dans l’ensemble",
    otherCombinationInSet: "Une autre combinaison précise est dans l’ensemble",
    inside: "L’intervalle contient votre réponse",
    outside: "L’intervalle ne la contient pas",
    rounded: "Le point auquel votre nombre a été arrondi est envoyé",
    elsewhere: "Un autre point est envoyé",
    drawn: "Une réponse précise est tirée au sort",
    near: "Ce qui est envoyé désigne votre réponse",
    far: "Ce qui est envoyé désigne autre chose",
    exactly: "{count} sur {total}",
    atLeast: "au moins {count} sur {total}",
    atMost: "au plus {count} sur {total}",
    rare: "au plus {chance}",
  },

  openly: {
    booklet: "Les questions que votre appareil a tirées au sort. Il les a choisies avant toute réponse de votre part.",
    id: "Un nombre aléatoire que votre appareil crée pour cet envoi, et l’empreinte de cette enquête.",
  },

  status: {
    sending: "Envoi en cours…",
    thanks: "Merci. Vos réponses ont été envoyées.",
    thanksText: "Vos réponses protégées n’ont quitté cet appareil que mêlées de hasard. Les vraies n’existent plus.",
    waitingTitle: "Merci. Encore un instant.",
    waiting: "Pas encore envoyé. L’envoi se fera quand le réseau sera revenu.",
    waitingServer: "Pas encore envoyé. L’envoi se fera quand le serveur l’acceptera de nouveau.",
    comeBack: "Laissez cette page ouverte, ou revenez-y sur cet appareil.",
    stay: "Laissez cette page ouverte : ce navigateur ne peut rien garder pour plus tard.",
    forgetful:
      "Ce navigateur n’enregistre rien : il ne peut donc pas se rappeler que vous avez répondu. Merci de n’envoyer " +
      "qu’une seule fois, et de laisser cette page ouverte jusqu’à ce qu’elle indique que l’envoi est fait.",
    refused: "Le serveur ne l’a pas accepté, et un nouvel envoi n’y changerait rien. Il répond : {title}. {detail}",
    before: "On a déjà répondu à cette enquête sur cet appareil.",
  },

  receipt: {
    calm:
      "Le hasard a joué un rôle ici. Cela peut différer de ce que vous avez répondu, et des personnes avec d’autres " +
      "réponses l’envoient aussi.",
    weak: "Le hasard n’a changé ceci qu’un peu : cela peut trahir vos réponses.",
    question: "Question",
    left: "Ce qui a été envoyé",
    why: "Qui d’autre envoie cela",
    openly: "Envoyé exactement comme vous l’avez donné.",
    raw: "sous forme de code : {report}",
    code: "code : {code}",
    id: "Envoi",
    digest: "Empreinte de l’enquête",
    spent: "Le tout ensemble",
    keep: "Cet appareil ne le garde pas. Enregistrez-le si vous voulez le revoir.",
    file:
      "Ce qui a quitté cet appareil, et rien d’autre. Les vraies réponses ne sont pas dans ce fichier ; elles n’ont " +
      "pas été gardées.",
  },

  remove: {
    title: "Supprimer cette enquête de cet appareil ?",
    sent:
      "Cet appareil oubliera alors qu’on a répondu à l’enquête. Ce qui a été envoyé reste où il est et ne peut pas " +
      "être repris.",
    unsent:
      "L’envoi n’est pas encore fait. Si vous le supprimez maintenant, il n’y aura pas d’autre essai. Un essai " +
      "précédent est peut-être arrivé malgré tout.",
    again:
      "Ensuite, on pourra de nouveau répondre à l’enquête sur cet appareil. C’est prévu pour quelqu’un d’autre : si " +
      "vous répondez deux fois, les deux envois ensemble en disent plus sur vous qu’un seul.",
    doneTitle: "Supprimée",
    done: "Cet appareil ne garde plus rien de cette enquête.",
  },

  report: {
    oneOf: "Une de ces réponses : {answers}",
    near: "Proche de {answer}",
    between: "De {low} à {high}",
    drawnYes: "{option} : oui",
    drawnNo: "{option} : non",
    table: "Numéro {number} sur {reports}, au plus près de {answer}",
  },

  why: {
    bit:
      "Parmi les personnes qui répondent {other}, au moins {low} sur {total} envoient aussi exactement cela. Parmi " +
      "celles qui répondent {answer}, au plus {high} le font.",
    others:
      "Parmi les personnes avec n’importe quelle autre réponse, au moins {low} sur {total} envoient aussi exactement " +
      "cela. Parmi celles qui répondent {answer}, au plus {high} le font.",
    combination:
      "Parmi les personnes avec n’importe quelles autres réponses, au moins {low} sur {total} envoient aussi " +
      "exactement cela. Parmi celles qui ont ces réponses, au plus {high} le font.",
    combinations:
      "Parmi les personnes avec n’importe quelles autres réponses, au moins {low} sur {total} envoient aussi " +
      "exactement cela. Parmi celles qui ont une de ces combinaisons, au plus {high} le font.",
    drawnYes:
      "Parmi les personnes qui n’ont pas choisi cette réponse, au moins {low} sur {total} envoient aussi ce oui. " +
      "Parmi celles qui l’ont choisie, au plus {high} le font.",
    drawnNo:
      "Parmi les personnes qui ont choisi cette réponse, au moins {low} sur {total} envoient aussi ce non. Parmi " +
      "celles qui ne l’ont pas choisie, au plus {high} le font.",
    odds: "Une réponse rend cet envoi au plus {odds} fois aussi probable qu’une autre.",
    rare:
      "Une réponse rend cet envoi jusqu’à {odds} fois aussi probable qu’une autre, ce qui est plus que d’habitude. " +
      "La probabilité d’un tel message est d’au plus {chance}.",
    never: "Certaines réponses ne mènent jamais à ce message. La probabilité d’un tel message est d’au plus {chance}.",
  },

  failure: {
    digest: {
      title: "Ce n’est pas l’enquête que le lien promettait",
      text:
        "Le lien dit exactement quelle enquête attendre, et le serveur en a envoyé une autre. Rien ne vous a été " +
        "demandé, et rien n’a été envoyé. Merci de prévenir la personne qui vous a donné le lien.",
    },
    changed: {
      title: "Cette enquête a changé",
      text:
        "Une enquête publiée ne change jamais, mais celle-ci diffère de celle que cet appareil a vue ici auparavant. " +
        "Rien ne vous a été demandé, et rien n’a été envoyé. Merci de prévenir les responsables de l’enquête.",
    },
    tampered: {
      title: "Cette enquête ne protège pas les réponses comme elle le dit",
      text:
        "Avant toute question, cet appareil vérifie lui-même que chaque réponse sera protégée comme l’enquête le " +
        "dit. Cette vérification a échoué. Rien ne vous a été demandé, et rien n’a été envoyé.",
    },
    crypto: {
      title: "Ce navigateur ne peut pas protéger vos réponses ici",
      text:
        "Il n’a pas de nombres aléatoires sûrs sur cette page. Merci d’utiliser un navigateur à jour, et une adresse " +
        "qui commence par https.",
    },
    address: {
      title: "Ce lien n’est pas complet",
      text:
        "Il ne mène à aucune enquête. Il en manque peut-être une partie. Merci de l’ouvrir de nouveau là où vous " +
        "l’avez reçu.",
    },
    unreachable: {
      title: "L’enquête n’est pas joignable",
      text:
        "Le serveur ne répond pas, ou il n’a pas d’enquête à cette adresse. Merci de vérifier votre connexion et de " +
        "réessayer.",
    },
    closed: {
      title: "Cette enquête est close",
      text: "Elle n’accepte plus de réponses, et rien de vous n’a été enregistré.",
    },
    not_open: {
      title: "Cette enquête ouvre le {time}",
      text: "On ne peut pas encore y répondre, et rien de vous n’a été enregistré. Revenez à ce moment-là.",
    },
    storage: {
      title: "Cet appareil n’a pas pu enregistrer ce qui doit être envoyé",
      text:
        "Avant tout envoi, la version mêlée de hasard est enregistrée sur cet appareil, pour qu’elle ne soit jamais " +
        "créée deux fois. Cela n’a pas marché, peut-être par manque de place. Rien n’a été envoyé.",
    },
    budget: {
      title: "Cette enquête demande plus que cet appareil ne permet",
      text:
        "Toutes les enquêtes auxquelles on répond sur cet appareil comptent ensemble. Avec celle-ci, elles en " +
        "diraient plus sur vous qu’il n’est permis ici. Rien n’a été envoyé.",
    },
    already_answered: {
      title: "On a déjà répondu à cette enquête sur cet appareil",
      text:
        "Deux envois vous protégeraient moins qu’un seul. C’est le premier qui compte, et rien de plus n’a été envoyé.",
    },
    expired: {
      title: "L’envoi n’a pas pu se faire",
      text:
        "Cet appareil a essayé pendant deux semaines, puis a abandonné. Ce qui devait être envoyé est supprimé. " +
        "L’enquête compte comme remplie, car un essai est peut-être arrivé malgré tout.",
    },
    refused: {
      title: "Le serveur ne l’a pas accepté",
      text: "Un nouvel envoi n’y changerait rien. Merci de prévenir les responsables de l’enquête.",
    },
    unsure: {
      title: "Un problème est survenu pendant l’envoi",
      text:
        "L’envoi est peut-être fait, peut-être pas. Merci de recharger la page : si l’envoi est fait, elle l’indique.",
    },
    unexpected: {
      title: "Un problème est survenu sur cette page",
      text: "Rien n’a été envoyé. Merci de recharger la page.",
    },
  },
};
