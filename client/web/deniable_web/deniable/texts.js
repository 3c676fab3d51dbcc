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
  atLeast: "at least {cases}",
  atMost: "at most {cases}",
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

  // One line below each question, by the form of its channel; {miss}, {opposite}, {outside} and {far} are written like
  // "26 of 100", rounded down.
  line: {
    bit: "In at least {opposite} cases the opposite of your answer is sent.",
    single: "In at least {miss} cases another answer than yours is sent.",
    set: "A set of {size} of the {count} answers is sent. In at least {miss} cases yours is not in it.",
    range:
      "A range of up to {width} of the {levels} points is sent; at an end it can be a single point. In at least " +
      "{outside} cases your answer is not in it.",
    point:
      "One of {levels} points is sent. In at least {miss} cases it is not the one that your number was rounded to.",
    drawn:
      "One of the {count} options is drawn by chance. Only about that one a yes or no is sent, and in at least " +
      "{opposite} cases the opposite of the truth.",
    table: "Your answer is sent with noise added. In at least {far} cases what is sent points at another answer.",
    weak: "This answer is only weakly protected: what is sent may give it away.",
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
    point:
      "Your device draws one of {levels} points by chance. The one that your number was rounded to is the likeliest, " +
      "and every other one can come up too.",
    rounding: "Before that, your number is rounded up or down by chance to one of {levels} points from {points}.",
    drawn:
      "Your device draws one of the {count} options by chance, whatever you answer. It then throws a weighted coin," +
      " which decides whether the truth about this option is sent, or its opposite. Nothing is sent about the " +
      "others.",
    table:
      "Your device draws one of {reports} reports by chance. Those near your answer are likelier, and the others " +
      "come up too.",
    always: "Whatever you answer, the chances are:",
    // {odds}: how many times as likely, {chance}: how likely that is exceeded; both rounded up
    odds: "Whatever is sent, one answer makes it at most {odds} times as likely as another.",
    oddsDelta:
      "Whatever is sent, one answer makes it at most {odds} times as likely as another. With a chance of at most " +
      "{chance} it may be more.",
    test:
      "From its report alone, no test that is wrong about honest people at most 5% of the time can catch this answer " +
      "more than {percent}% of the time.",
    weak:
      "This answer is only weakly protected: from its report alone, a test that is wrong about honest people at most " +
      "5% of the time could catch it up to {percent}% of the time.",
    hardly:
      "This answer is hardly protected: from its report alone, a test that is wrong about honest people at most 5% " +
      "of the time could catch it nearly always.",
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
    rounded: "The point that your number was rounded to is sent",
    elsewhere: "Another point is sent",
    drawn: "Each option is drawn",
    near: "What is sent points at your answer",
    far: "What is sent points elsewhere",
  },

  total: {
    line: "{count} answers, ε = {epsilon} in total.",
    test:
      "No test that is wrong about honest people at most 5% of the time can catch all your answers together, taken " +
      "as one, more than {percent}% of the time.",
    weak:
      "All your answers together, taken as one, are only weakly protected: a test that is wrong about honest people" +
      " at most 5% of the time could catch them up to {percent}% of the time.",
    hardly:
      "All your answers together, taken as one, are hardly protected: a test that is wrong about honest people at " +
      "most 5% of the time could catch them nearly always.",
    each:
      "What it says below a question holds for its report alone. Where questions are about the same thing, their " +
      "reports add up, and the limit for all of them together counts.",
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
    waiting: "Not sent yet. It will be sent when the network is back.",
    waitingServer: "Not sent yet. It will be sent when the server takes it again.",
    comeBack: "Keep this page open, or come back on this device.",
    stay: "Keep this page open: this browser keeps nothing for later.",
    forgetful:
      "This browser keeps nothing. It cannot remember that you have answered: please send only once, and keep this " +
      "page open until it says that it was sent.",
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
    why: "What it tells",
    openly: "Sent as it is, not randomised.",
    raw: "as a code: {report}",
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

  // {high} and {low} are written like "74 in 100", {high} rounded up and {low} down
  why: {
    bit:
      "This report comes from at most {high} people who answer {answer}, and from at least {low} who answer {other}.",
    others:
      "This very report comes from at most {high} people who answer {answer}, and from at least {low} who answer " +
      "anything else.",
    drawnYes:
      "That it is about this option was drawn by chance. This yes comes from at most {high} people who chose it, and " +
      "from at least {low} who did not.",
    drawnNo:
      "That it is about this option was drawn by chance. This no comes from at most {high} people who did not choose " +
      "it, and from at least {low} who did.",
    odds: "One answer makes it at most {odds} times as likely as another.",
    // {chance}: how likely a report is for which this has to be said
    rare:
      "One answer makes it up to {odds} times as likely as another, which is more than for most reports. Such a " +
      "report has a chance of at most {chance}.",
    never: "Some answers never give this report. Such a report has a chance of at most {chance}.",
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
    unsure: {
      title: "Something went wrong while sending",
      text: "Perhaps it was sent, perhaps not. Please load the page again: if it was, the receipt is shown.",
    },
    receipt: {
      title: "Only the receipt cannot be shown",
      text:
        "Your submission is made: it was sent, or it will be once the server can be reached. Please load the page " +
        "again to see what left this device.",
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
