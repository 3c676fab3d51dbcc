// Every text that the questionnaire shows, in English, and how a page puts its own in their place:
//
//   element.texts = { button: { send: "Absenden" }, progress: ({ done, total }) => `${done} von ${total}` };
//
// Any key below may be replaced; the others stay English. A text is a template with {placeholders}, or a function of
// the same values. Placeholders are explained where the English text does not make them clear.

export const ENGLISH = {
  loading: "Loading the survey and checking its protection …",
  progress: "{done} of {total} answered",
  offline:
    "The server cannot be reached right now. This is a copy of the survey that was kept on this device. It has been " +
    "checked again.",
  yes: "Yes",
  no: "No",
  declined: "Prefer not to say",
  none: "None of these",
  // {count} of {total} cases, {count} in {total} people
  cases: "{count} of {total}",
  people: "{count} in {total}",
  atLeast: "at least {cases}",
  atMost: "at most {cases}",
  quote: "“{text}”",
  point: "{point}: {label}",
  optionYes: "{option}: yes", // one option of several that can be chosen
  optionNo: "{option}: no",
  amount: "{number} {unit}",
  range: "{low} to {high}",
  bin: "{low} to under {high}",

  // {picked} of {total} questions
  picked: {
    questions: "Your device picked {picked} of {total} questions by chance.",
    options: "Your device picked by chance which answers to ask you about.",
    why:
      "Asking each person only a few keeps everything that is sent about you within one limit. Your device picks " +
      "before you answer anything.",
  },

  // Said by screen readers when a question appears or goes away
  followUp: {
    shown: "One more question below: {question}",
    hidden: "No longer asked: {question}",
  },

  section: {
    segments: "About you: sent as you answer",
    segmentsHint: "These answers are not randomised. They are sent exactly as you give them.",
    segmentNote: "Not randomised: sent exactly as you answer.", // next to each of them
    questions: "Questions",
    questionsHint: "Each answer is randomised on this device, before anything is sent.",
    review: "Review before sending",
    reviewHint: "Nothing has been sent yet. Please check your answers.",
    receipt: "Your receipt",
    openly: "Sent without randomising",
    total: "All answers together",
  },

  hint: {
    multiChoice: "Choose all that apply, or “None of these”.",
    number: "A number from {low} to {high}",
    numberUnit: "A number from {low} to {high} {unit}",
  },

  button: {
    review: "Review before sending",
    send: "Send",
    back: "Back to the questions",
    change: "Change",
    changeWhat: "Change: {question}", // read out in place of "Change"
    save: "Save receipt",
    print: "Print receipt",
    remove: "Remove from this device …",
    removeNow: "Remove",
    keep: "Keep it",
    again: "Try again",
    answers: "Back to your answers",
  },

  error: {
    summary: "Some answers are still needed",
    why: "Every question needs an answer: leaving one out would itself reveal something.",
    choose: "Please choose an answer. Leaving it out would itself reveal something.",
    chooseOrDecline: "Please choose an answer, or “Prefer not to say”. Leaving it out would itself reveal something.",
    chooseSome: "Please choose what applies, or “None of these”. Leaving it out would itself reveal something.",
    chooseSegment: "Please choose one.",
    numberMissing: "Please enter a number. Leaving it out would itself reveal something.",
    numberOrDecline:
      "Please enter a number, or choose “Prefer not to say”. Leaving it out would itself reveal something.",
    notNumber: "This is not a number we can read. Write it like 1200 or 12.5, without thousands separators.",
    outside: "Please enter a number from {low} to {high}.",
  },

  // One line below each question, by the form of its channel; {miss}, {opposite}, {outside} and {far} are written like
  // "26 of 100", rounded down.
  line: {
    bit: "In at least {opposite} cases the opposite of your answer is sent.",
    single: "In at least {miss} cases a different answer from yours is sent.",
    set: "A set of {size} of the {count} answers is sent. In at least {miss} cases yours is not in it.",
    range:
      "A range of up to {width} of the {levels} points is sent (at either end it can be a single point). In at least " +
      "{outside} cases your answer is not in it.",
    point:
      "One of {levels} points is sent. In at least {miss} cases it is not the point your number was rounded to.",
    drawn:
      "One of the {count} options is picked at random. A yes or no is sent about that one only, and in at least " +
      "{opposite} cases it is the opposite of the truth.",
    table: "Your answer is sent with noise added. In at least {far} cases what is sent points to another answer.",
    combination:
      "Your answers to these questions are sent as one: one of {count} combinations of answers. In at least {miss} " +
      "cases it is not yours.",
    combinations:
      "Your answers to these questions are sent as one. A set of {size} of the {count} combinations of answers is " +
      "sent. In at least {miss} cases yours is not in it.",
    weak: "This answer is only weakly protected: what is sent may give it away.",
    weakTogether: "These answers are only weakly protected: what is sent may give them away.",
  },

  protection: {
    title: "How your answer is protected",
    titleTogether: "How your answers are protected",
    bit:
      "Your device flips a weighted coin. The coin decides whether your answer or its opposite is sent. Nobody else " +
      "sees the coin.",
    single:
      "Your device picks one of the {count} answers at random. Yours is the most likely, but every other answer can " +
      "come up too.",
    set:
      "Your device picks a set of {size} of the {count} answers at random. Sets that contain your answer are more " +
      "likely, but sets without it come up too.",
    range:
      "Your device picks a range of points at random. Ranges that contain your answer are more likely, but ranges " +
      "without it come up too.",
    point:
      "Your device picks one of {levels} points at random. The point your number was rounded to is the most likely, " +
      "but every other point can come up too.",
    rounding: "Before that, your number is rounded up or down at random to one of {levels} points from {points}.",
    drawn:
      "Your device picks one of the {count} options at random, whatever you answer. Then it flips a weighted coin, " +
      "which decides whether the truth about this option or its opposite is sent. Nothing is sent about the other " +
      "options.",
    table:
      "Your device picks one of {reports} reports at random. Reports near your answer are more likely, but the " +
      "others come up too.",
    combination:
      "Your device picks one of the {count} combinations of answers at random. Yours is the most likely, but every " +
      "other combination can come up too. What is sent looks the same however many questions you were shown.",
    combinations:
      "Your device picks a set of {size} of the {count} combinations of answers at random. Sets that contain yours " +
      "are more likely, but sets without it come up too. What is sent looks the same however many questions you were " +
      "shown.",
    always: "Whatever you answer, the chances are:",
    // {odds}: how many times as likely, {chance}: how often it can be more; both rounded up
    odds: "Whatever is sent, one answer makes it at most {odds} times as likely as another.",
    oddsDelta:
      "Whatever is sent, one answer makes it at most {odds} times as likely as another. There is a chance of at most " +
      "{chance} that it is more.",
    experts: "For experts: {symbols}.", // such as "ε = 2.0"
  },

  // What ε and δ mean for one person: "Suppose …", then what follows. The server says the same, in its wording.py.
  // {percent} is rounded up, and so is {people}, which is written like "1 in 1,000,000".
  meaning: {
    suppose:
      "Suppose someone tries to guess your answers from everything that was sent, and accepts being wrong about 5% " +
      "of people.",
    found: "They would find the truth at most {percent}% of the time.",
    weak: "This protects only weakly.",
    hardly: "They could find the truth nearly always: this protects hardly at all.",
    delta: "This includes δ = {delta}: at worst, it is as if {people} people sent their true answers unchanged.",
  },

  // Said before the questions, by what everything that is sent means together. The server says the same.
  strength: {
    fair:
      "What is sent may or may not be what you answered. The truth is stored nowhere: anyone who wants to know it has " +
      "to guess from what was sent.",
    weak: "Your answers are only weakly protected: what is sent may give them away.",
    hardly: "Your answers are hardly protected: what is sent can give them away nearly always.",
  },

  chance: {
    same: "The truth is sent",
    opposite: "The opposite is sent",
    yours: "Your answer is sent",
    other: "Each other answer is sent",
    yoursInSet: "Your answer is in the set",
    otherInSet: "Each other answer is in the set",
    yoursCombination: "Your combination is sent",
    otherCombination: "Each other combination is sent",
    yoursCombinationInSet: "Your combination is in the set",
    otherCombinationInSet: "Each other combination is in the set",
    inside: "The range contains your answer",
    outside: "The range does not contain it",
    rounded: "The point your number was rounded to is sent",
    elsewhere: "Another point is sent",
    drawn: "Each option is picked",
    near: "What is sent points to your answer",
    far: "What is sent points elsewhere",
  },

  total: {
    line: "Everything that is sent, together: {symbols}.",
    each:
      "What is shown below a question is about that answer alone. What is sent for all questions adds up, and the " +
      "limit for all answers together applies.",
  },

  openly: {
    taking: "The fact that you take part: anyone who watches the network can see that something is sent.",
    booklet: "Which questions your device picked. It picked them before you answered anything.",
    id:
      "A random number that this device makes for this submission, and the digest of this survey, which is the same " +
      "for everybody who is asked the same survey.",
  },

  status: {
    sending: "Sending …",
    sent: "Sent. The server has stored what left this device.",
    waiting: "Not sent yet. It will be sent when the network is back.",
    waitingServer: "Not sent yet. It will be sent when the server accepts it again.",
    comeBack: "Keep this page open, or come back to it on this device.",
    stay: "Keep this page open: this browser cannot save it for later.",
    forgetful:
      "This browser saves nothing, so it cannot remember that you have answered. Please send only once, and keep " +
      "this page open until it says that it was sent.",
    refused: "The server did not accept it, and sending it again would not help. It says: {title}. {detail}",
    before: "This survey was already answered on this device. This is what is on its way.",
    notKept: "Your true answers were not kept, on this device or anywhere else.",
    kept:
      "Your true answers are shown here this one time. They are gone when you leave this page, and they are never " +
      "saved or printed.",
  },

  receipt: {
    question: "Question",
    answered: "You answered",
    left: "What left this device",
    why: "What it reveals",
    notShown: "Not asked",
    openly: "Sent exactly as you gave it, not randomised.",
    raw: "as a code: {report}",
    code: "code {code}",
    id: "Submission",
    digest: "Digest of the survey",
    spent: "Everything together",
    keep: "Once it is sent, this device does not keep what left it. Save the receipt if you want to see it again.",
    file: "What left this device, and nothing else. True answers are not in this file; they were not kept.",
  },

  // What it means to remove a survey from this device
  remove: {
    title: "Remove this survey from this device?",
    sent:
      "This device then forgets that the survey was answered. What was sent stays where it is and cannot be taken back.",
    unsent:
      "It has not been sent yet. If you remove it now, it will not be sent again. An attempt to send it may have " +
      "arrived all the same.",
    again:
      "After that the survey can be answered again on this device. That is meant for someone else: if you answer " +
      "twice, the two submissions together reveal more about you than one.",
    doneTitle: "Removed",
    done: "This device keeps nothing about this survey any more.",
  },

  // A report in words
  report: {
    oneOf: "One of these: {answers}",
    near: "Near {answer}",
    between: "Somewhere from {answer}", // {answer}: a range such as "10 to 30 drinks"
    drawnYes: "About {option}: yes",
    drawnNo: "About {option}: no",
    table: "Number {number} of {reports}, nearest to {answer}",
  },

  // {high} and {low} are written like "74 in 100", {high} rounded up and {low} down
  why: {
    bit:
      "At most {high} people who answer {answer} send this, and so do at least {low} who answer {other}.",
    others:
      "At most {high} people who answer {answer} send exactly this, and so do at least {low} who answer anything else.",
    combination: "At most {high} people with these answers send this, and so do at least {low} with any others.",
    combinations:
      "At most {high} people with one of these combinations of answers send exactly this, and so do at least {low} " +
      "with any other.",
    drawnYes:
      "The option was picked at random. At most {high} people who chose it send this yes, and so do at least {low} " +
      "who did not.",
    drawnNo:
      "The option was picked at random. At most {high} people who did not choose it send this no, and so do at least " +
      "{low} who did.",
    odds: "One answer makes it at most {odds} times as likely as another.",
    // {chance}: how likely such a report is, rounded up
    rare:
      "One answer makes it up to {odds} times as likely as another, which is more than usual. The chance of such a " +
      "report is at most {chance}.",
    never: "Some answers never lead to this report. The chance of such a report is at most {chance}.",
  },

  // By the reason of a failure: a heading and what it means. "tampered" covers every reason that verification gives.
  failure: {
    digest: {
      title: "This is not the survey that the link promised",
      text:
        "The link says exactly which survey to expect, and the server sent a different one. You were asked nothing, " +
        "and nothing was sent. Please tell the person who gave you the link.",
    },
    changed: {
      title: "This survey has changed",
      text:
        "A published survey never changes, but this one differs from the one this device saw here before. You were " +
        "asked nothing, and nothing was sent. Please tell the people who run the survey.",
    },
    tampered: {
      title: "This survey does not protect answers as it says",
      text:
        "Before it asks anything, this device checks for itself that every answer will be protected as the survey " +
        "says. That check failed. You were asked nothing, and nothing was sent.",
    },
    crypto: {
      title: "This browser cannot protect your answers here",
      text:
        "It has no secure random numbers on this page. Please use an up-to-date browser, and an address that starts " +
        "with https.",
    },
    address: {
      title: "This link is not complete",
      text: "It does not lead to a survey. Part of it may be missing. Please open it again from where you got it.",
    },
    unreachable: {
      title: "The survey cannot be reached",
      text:
        "The server is not responding, or it has no survey at this address. Please check your connection and try " +
        "again.",
    },
    closed: {
      title: "This survey is closed",
      text: "It no longer accepts answers, and nothing of yours was stored.",
    },
    storage: {
      title: "This device could not save what is to be sent",
      text:
        "Before anything is sent, the randomised submission is saved on this device, so that it is never made twice. " +
        "That did not work, perhaps because there is no space left. Nothing was sent.",
    },
    budget: {
      title: "This survey asks for more than this device allows",
      text:
        "All surveys that are answered on this device count together. With this one they would reveal more about you " +
        "than is allowed here. Nothing was sent.",
    },
    already_answered: {
      title: "This survey was already answered on this device",
      text: "Two submissions would protect you less than one. The first one counts, and nothing more was sent.",
    },
    expired: {
      title: "It could not be sent",
      text:
        "This device tried for two weeks and has given up. What was to be sent is removed. It counts as answered, " +
        "because an attempt may have arrived all the same.",
    },
    refused: {
      title: "The server did not accept it",
      text: "Sending it again would not help. Please tell the people who run the survey.",
    },
    unsure: {
      title: "Something went wrong while sending",
      text: "It may or may not have been sent. Please reload the page: if it was sent, it says so.",
    },
    receipt: {
      title: "The receipt cannot be shown",
      text:
        "Your submission is complete: it was sent, or it will be once the server can be reached. Only the receipt is " +
        "missing.",
    },
    unexpected: {
      title: "Something went wrong on this page",
      text: "Nothing was sent. Please reload the page.",
    },
  },
};

const isTable = (value) => typeof value === "object" && value !== null;

/** The defaults with everything replaced for which there is a text or a function of the same name. */
function merged(defaults, own) {
  return Object.fromEntries(
    Object.entries(defaults).map(([key, text]) => {
      const replacement = isTable(own) && Object.hasOwn(own, key) ? own[key] : undefined;
      if (isTable(text)) return [key, merged(text, replacement)];
      return [key, typeof replacement === "string" || typeof replacement === "function" ? replacement : text];
    }),
  );
}

const BIDI_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A survey's own text inside a sentence: it may run in another direction, and must not turn the rest around. */
export const quoted = (text) => `\u2068${text.replace(BIDI_CONTROLS, "")}\u2069`;

/** A text with its values; undefined where a page's own function throws or gives no text: the English one will do. */
function filled(text, values) {
  if (typeof text === "string")
    return text.replace(/\{(\w+)\}/g, (whole, key) => (Object.hasOwn(values, key) ? values[key] : whole));
  try {
    const said = text(values);
    return typeof said === "string" ? said : undefined;
  } catch {
    return undefined;
  }
}

/** Texts in one language: the page's own over the English ones, with numbers and lists as that language writes them. */
export class Texts {
  #texts;
  #numbers;
  #either;

  constructor(own, language) {
    this.#texts = merged(ENGLISH, own);
    const locale = known(language);
    this.#numbers = new Intl.NumberFormat(locale, { maximumFractionDigits: 12 });
    this.#either = new Intl.ListFormat(locale, { type: "disjunction" });
  }

  /** The text of this name, such as "button.send", with its values filled in. */
  say(name, values = {}) {
    const find = (texts) => name.split(".").reduce((part, key) => part[key], texts);
    return filled(find(this.#texts), values) ?? filled(find(ENGLISH), values);
  }

  number(value) {
    return this.#numbers.format(value);
  }

  either(items) {
    return this.#either.format(items);
  }
}

/** A language tag that Intl takes, or undefined for the reader's own. */
function known(language) {
  try {
    return language ? Intl.getCanonicalLocales(language)[0] : undefined;
  } catch {
    return undefined;
  }
}
