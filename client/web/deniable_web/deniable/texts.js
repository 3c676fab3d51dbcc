// Every text that the questionnaire shows, in English, and how a page puts its own in their place:
//
//   element.texts = { button: { send: "Absenden" }, progress: ({ done, total }) => `${done} von ${total}` };
//
// Any key below may be replaced; what is left out stays English. A text is a template with {placeholders}, or a
// function of the same values. Placeholders are explained where the English text does not make them plain.

export const ENGLISH = {
  loading: "Loading the survey and checking its protection …",
  progress: "{done} of {total} answered",
  offline:
    "The server cannot be reached just now. This copy of the survey was kept on this device, and it was checked again.",
  yes: "Yes",
  no: "No",
  declined: "Prefer not to say",
  none: "None of these",
  // {count} of {total} cases, {count} in {total} people
  cases: "{count} of {total}",
  people: "{count} in {total}",
  quote: "“{text}”",
  point: "{point}: {label}",
  amount: "{number} {unit}",
  range: "{low} to {high}",
  bin: "{low} to under {high}",

  section: {
    segments: "About you, sent as it is",
    segmentsHint: "These are not randomised. They leave this device just as you choose them.",
    questions: "Questions",
    questionsHint:
      "Each answer is randomised on this device. Your true answers never leave it, and they are never stored.",
    review: "Review before sending",
    reviewHint: "Nothing has been sent yet. Look through your answers once more.",
    receipt: "Your receipt",
    openly: "What is sent as it is",
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
    again: "Try again",
    answers: "Back to your answers",
  },

  error: {
    summary: "Some answers are still needed",
    why: "Every question needs an answer: leaving one out would itself tell something.",
    choose: "Please choose an answer. Leaving it out would itself tell something.",
    chooseOrDecline: "Please choose an answer, or “Prefer not to say”. Leaving it out would itself tell something.",
    chooseSome: "Please choose what applies, or “None of these”. Leaving it out would itself tell something.",
    chooseSegment: "Please choose one.",
    numberMissing: "Please write a number. Leaving it out would itself tell something.",
    numberOrDecline:
      "Please write a number, or choose “Prefer not to say”. Leaving it out would itself tell something.",
    notNumber: "This cannot be read as one number. Write it like 1200 or 12.5, with nothing between thousands.",
    outside: "Please write a number from {low} to {high}.",
  },

  // One line below each question, by the form of its channel; {miss} and {opposite} are written like "27 of 100".
  line: {
    bit: "In {opposite} cases the opposite of your answer is sent.",
    single: "In {miss} cases another answer than yours is sent.",
    set: "A set of {size} of the {count} answers is sent. In {miss} cases yours is not in it.",
    range: "A wide range is sent, not your answer. In {outside} cases your answer is not even in it.",
    drawn:
      "One of the {count} options is drawn by chance. Only about that one a yes or no is sent, and in {opposite} " +
      "cases the opposite of the truth.",
    table: "Your answer is sent with noise added. It could have come from any other answer, too.",
  },

  protection: {
    title: "How your answer is protected",
    bit:
      "Your device throws a weighted coin. It decides whether your answer is sent, or its opposite. Nobody else " +
      "sees the coin.",
    single:
      "Your device draws one of the {count} answers by chance. Yours is the likeliest, and every other one can come" +
      " up too.",
    set:
      "Your device draws a set of {size} of the {count} answers by chance. Sets with your answer in them are " +
      "likelier, and sets without it come up too.",
    range:
      "Your device draws a range of points by chance. Ranges that hold your answer are likelier, and ranges without" +
      " it come up too.",
    rounding: "Before that, your number is rounded up or down by chance to one of {levels} points from {points}.",
    drawn:
      "Your device draws one of the {count} options by chance, whatever you answer. It then throws a weighted coin," +
      " which decides whether the truth about this option is sent, or its opposite. Nothing is sent about the " +
      "others.",
    table:
      "Your device draws one of {reports} reports by chance. Those near your answer are likelier, and the others " +
      "come up too.",
    always: "The chances are the same whatever you answer:",
    // {odds}: how many times as likely, rounded up
    odds: "Whatever is sent, one answer makes it at most {odds} times as likely as another.",
    oddsDelta:
      "Whatever is sent, one answer makes it at most {odds} times as likely as another. With a chance of at most " +
      "{delta} it may be more.",
    test:
      "No test that is wrong about honest people at most 5% of the time can catch this answer more than {percent}% " +
      "of the time.",
    hardly:
      "This answer is hardly protected: a test that is wrong about honest people at most 5% of the time could catch" +
      " it nearly always.",
    epsilon: "In the language of experts: ε = {epsilon}.",
    epsilonDelta: "In the language of experts: ε = {epsilon}, δ = {delta}.",
  },

  chance: {
    same: "The truth is sent",
    opposite: "The opposite is sent",
    yours: "Your answer is sent",
    other: "Each other answer is sent",
    yoursInSet: "Your answer is in the set",
    otherInSet: "Each other answer is in the set",
    inside: "The range holds your answer",
    outside: "The range does not hold it",
    drawn: "Each option is drawn",
    near: "What is sent points at your answer",
    far: "What is sent points elsewhere",
  },

  total: {
    line: "{count} answers, ε = {epsilon} in total.",
    test:
      "No test that is wrong about honest people at most 5% of the time can catch all your answers together, taken " +
      "as one, more than {percent}% of the time.",
    hardly:
      "All your answers together, taken as one, are hardly protected: a test that is wrong about honest people at " +
      "most 5% of the time could catch them nearly always.",
    each: "Each answer by itself is protected as it says below it.",
  },

  openly: {
    taking:
      "That you take part: whoever watches the network can see that something is sent. What you answered they " +
      "cannot see.",
    id: "A random number that marks this submission, and the digest of this survey. Neither says anything about you.",
  },

  status: {
    sending: "Sending …",
    sent: "Sent. The server has stored what left this device.",
    waiting:
      "Not sent yet. It will be sent when the network is back. Keep this page open, or come back on this device.",
    waitingHere:
      "Not sent yet. It will be sent when the network is back. Keep this page open: this browser keeps nothing for " +
      "later.",
    refused: "The server did not take it, and sending it again would not help. It says: {title}. {detail}",
    before: "This survey was already answered on this device. This is what left it.",
    notKept: "Your answers were not kept. Nobody can look them up, on this device or elsewhere.",
    kept:
      "Your answers are shown here only now. They are gone when you leave this page, and they are neither saved nor" +
      " printed.",
  },

  receipt: {
    question: "Question",
    answered: "You answered",
    left: "What left this device",
    why: "Why nobody can tell",
    openly: "Sent as it is, not randomised.",
    raw: "report {report}",
    code: "code {code}",
    id: "Submission",
    digest: "Digest of the survey",
    epsilon: "ε, all reports together",
    file: "What left this device, and nothing else. True answers are not in this file; they were not kept.",
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

  // {high} and {low} are written like "73 in 100"
  why: {
    bit: "This report comes from {high} people who answer {answer}, and from {low} who answer {other}.",
    exact: "This very report comes from {high} people who answer {answer}, and from {low} who answer anything else.",
    least:
      "This very report comes from {high} people who answer {answer}, and from at least {low} who answer anything " +
      "else.",
    drawnYes:
      "That it is about this option was drawn by chance. This yes comes from {high} people who chose it, and from " +
      "{low} who did not.",
    drawnNo:
      "That it is about this option was drawn by chance. This no comes from {high} people who did not choose it, " +
      "and from {low} who did.",
    odds: "One answer makes it at most {odds} times as likely as another.",
    rare: "Answers far away hardly ever give this report. The survey allows for that with a chance of at most {delta}.",
  },

  // By the reason of a failure: a heading and what it means. "tampered" stands for every reason that verification has.
  failure: {
    digest: {
      title: "This is not the survey that the link promised",
      text:
        "The link says exactly which survey to expect, and the server sent another one. You were asked nothing and " +
        "nothing was sent. Please tell whoever gave you the link.",
    },
    changed: {
      title: "This survey has changed",
      text:
        "A published survey never changes, and this one is not the one that this device saw here before. You were " +
        "asked nothing and nothing was sent. Please tell whoever runs the survey.",
    },
    tampered: {
      title: "This survey does not keep its promise",
      text:
        "Before asking anything, this device checks by itself that every answer would be protected as the survey " +
        "says. This check failed. You were asked nothing and nothing was sent.",
    },
    crypto: {
      title: "This browser cannot protect your answers here",
      text:
        "It offers no secure randomness on this page. Please use a current browser, and an address that starts with" +
        " https.",
    },
    address: {
      title: "This link is not complete",
      text: "It does not lead to a survey. Perhaps a part of it was lost. Please open it again from where you got it.",
    },
    unreachable: {
      title: "The survey cannot be reached",
      text:
        "The server does not answer, or it has no survey at this address. Please check your connection and try " +
        "again.",
    },
    closed: {
      title: "This survey is closed",
      text: "It takes no more answers, and nothing of yours was stored.",
    },
    storage: {
      title: "This device could not keep what is to be sent",
      text:
        "Before anything is sent, the randomised submission is kept on this device, so that it is never made twice." +
        " That did not work: there may be no space left. Nothing was sent.",
    },
    budget: {
      title: "This survey asks for more than this device allows",
      text: "Answering it would tell more about you than the limit that was set here. Nothing was sent.",
    },
    already_answered: {
      title: "This survey was already answered on this device",
      text: "Two submissions would protect you less than one. The first one stands, and nothing more was sent.",
    },
    refused: {
      title: "The server did not take it",
      text: "Sending the same again would not help. Please tell whoever runs the survey.",
    },
    unexpected: {
      title: "Something went wrong on this page",
      text: "Nothing was sent. Please load the page again.",
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
    const text = name.split(".").reduce((part, key) => part?.[key], this.#texts);
    if (typeof text === "function") return String(text(values));
    return text.replace(/\{(\w+)\}/g, (whole, key) => (Object.hasOwn(values, key) ? values[key] : whole));
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
