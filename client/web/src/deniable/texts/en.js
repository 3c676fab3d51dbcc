// Every text of the questionnaire, in English. Another language is one more file like this one, with the same keys.
//
// A text is complete by itself: {placeholders} are numbers, measures, and texts of the survey, never parts of a sentence.
// A page may put its own texts in the place of these, see texts.js.

export default {
  loading: "Loading the survey and checking its protection …",
  offline:
    "The server cannot be reached right now. This is a copy of the survey that was kept on this device. It has been " +
    "checked again.",
  yes: "Yes",
  no: "No",
  declined: "Prefer not to say",
  none: "None of these",
  quote: "“{text}”",
  point: "{point}: {label}", // a point of a scale, such as "4: Quite"
  optionYes: "{option}: yes", // one option of several that can be chosen
  optionNo: "{option}: no",
  amount: "{number} {unit}",
  range: "{low} to {high}",
  bin: "{low} to under {high}",

  // The first screen. {minutes} is written like "3 minutes".
  start: {
    picked: "{picked} of {total} questions, picked by chance · about {minutes}",
    options: "Questions: {total}, about answers that chance picked · about {minutes}",
    all: "Questions: {total} · about {minutes}",
    // By what everything that is sent means together
    fair:
      "Your device flips a secret coin before it sends anything. From what is sent, nobody can be sure what you " +
      "answered. Not even us.",
    weak:
      "Your device mixes chance into your answers before it sends anything. But they are only weakly protected: what " +
      "is sent may give them away.",
    hardly:
      "Your device mixes chance into your answers before it sends anything. But they are hardly protected: what is " +
      "sent gives them away nearly always.",
    openly: "Asked last, and sent unchanged: {questions}",
    go: "Start",
    how: "How can that be?",
    who: "Who could learn my answers?",
    language: "Language",
    answer: "your answer", // the picture: your answer → coin → what is sent
    coin: "coin",
    sent: "what is sent",
  },

  // For surveys with invitations: the screen that asks for a code, and why it gives nobody away. The last four: what is
  // wrong with a code.
  invitation: {
    title: "You need an invitation for this survey",
    text: "Please type the code from your letter or message.",
    label: "Invitation code",
    hint: "14 or 28 letters and digits. Dashes and capital letters do not matter.",
    go: "Continue",
    why: "Why does my personal link not give me away?",
    only: "The code only shows that you may take part. It is not sent with your answers.",
    blind:
      "Your device swaps it for a token that the server signs without seeing it. " +
      "The token does not show whose it is.",
    key: "All tokens are signed with the same key. Its fingerprint:",
    format: "This is not a complete code. It has 14 or 28 letters and digits.",
    checksum: "There is a typing mistake in this code. Please compare it with your letter or message.",
    unknown: "This code is not valid, or it has expired. Please check it, or ask for a new one.",
    used: "This code has been used already, perhaps on another device. If that was not you, please ask for a new one.",
  },

  kiosk: {
    note:
      "Many people answer on this device. When you have finished, it forgets that you answered. So please answer only " +
      "once: two submissions reveal more about you than one.",
    next: "Next person",
    wait: "Please leave this page open. The next person can start when this has been sent.",
  },

  // For people who write surveys: the last screen says that nothing was sent.
  preview: {
    note: "This is a preview. Answer as you like: nothing is sent.",
    title: "This is a preview. Nothing was sent.",
    text: "Respondents read their thanks here. Below is the receipt that they would see.",
    again: "Start over",
  },

  // The coin and the crowd
  how: {
    title: "How can that be?",
    coin:
      "Imagine a very personal question, and a coin that only you can see. Heads: you say the truth. Tails: you flip " +
      "again, and the coin answers for you: heads for yes, tails for no.",
    cover:
      "Anyone who hears your “yes” cannot know whether it came from you or from the coin. But they know how often " +
      "coins say yes, and over many people they can subtract that.",
    here:
      "This survey does the same, with random numbers from your device. Its chances differ from those of this coin. " +
      "You find them at each question.",
    tryCoin: "Try it: your secret answer (nothing is sent from here)",
    flip: "Flip the coin",
    heads: "heads",
    tails: "tails",
    unflipped: "You have not flipped the coin yet.",
    choose: "Please choose a secret answer first.",
    truth:
      "The first coin shows heads, so the truth is sent: {sent}. Nobody who receives it can know that: people with the " +
      "other answer send the same, one time in four.",
    chance: "The first coin shows tails, so the second one answers. What is sent: {sent}, whatever you chose.",
    crowd: "Try it with a crowd",
    share: "Out of 100 people, this many would truly say yes: {count}",
    ask: "Ask 1,000 people",
    again: "Start again",
    nobody: "Nobody has been asked yet.",
    result: "People asked: {people}. Said yes: {said}. Corrected: {estimate}. The truth: {truth}.",
    correction:
      "The correction: for half of all people the second coin answers, and half of those say yes. That is a quarter of " +
      "everybody. Subtract this quarter from those who said yes, and double what is left.",
  },

  // Who could learn what; the values of the first rows by what everything that is sent means together
  who: {
    title: "Who could learn my answers?",
    team: "The people who ask",
    thief: "Someone who steals or demands their records",
    fair: "No. They can only guess.",
    weak: "They could often guess right.",
    hardly: "Nearly always.",
    network: "Someone who watches the network",
    networkSees: "Only that you take part.",
    device: "Someone who uses this device after you",
    deviceSees: "Only that this survey was answered here.",
    website: "The people who run this website",
    websiteSees: "Only by cheating: by replacing the program on this page.",
    openly: "Sent unchanged, for the people who ask to see: {questions}",
    checked: "This follows from the protection of the survey ({symbols}). Your device has checked it by itself.",
    kept:
      "The server keeps a random number, what your device sent, and how many submissions arrived on each day. It keeps " +
      "no network address, no time and no cookie. Until the survey is closed, its files show the order of arrival.",
    cheat: "How to check the website",
    cheatText:
      "This page comes from the server, and no web page can prove that its program is the right one. Anyone can compare " +
      "it with the published one: the command “deniable verify” does. An installed app that others have examined is " +
      "safer.",
    digest: "The digest of this survey. It changes if a single letter or a single chance changes:",
    pinned: "Your link contains this digest. Your browser has compared the two, and they match.",
    unpinned: "Your link does not contain it. Compare it with one that you got from somebody you trust.",
  },

  progress: "{done} of {total}", // the question that is shown
  answered: "Answered: {done} of {total}", // where all are on one page

  // Said by screen readers when a question appears or goes away
  followUp: {
    shown: "One more question below: {question}",
    hidden: "No longer asked: {question}",
  },

  section: {
    segments: "Sent unchanged",
    segmentNote: "Not randomised: sent exactly as you answer.", // next to each of them
    review: "Check your answers",
    reviewHint: "Nothing has been sent yet.",
    openly: "What else is sent",
    total: "What all of it reveals together",
  },

  hint: {
    multiChoice: "Choose all that apply, or “None of these”.",
    number: "A number from {low} to {high}",
    numberUnit: "A number from {low} to {high} {unit}",
  },

  button: {
    next: "Next",
    back: "Back",
    review: "Check your answers",
    send: "Send",
    change: "Change",
    changeWhat: "Change: {question}", // read out in place of "Change"
    save: "Save what was sent",
    print: "Print",
    see: "See what was sent",
    remove: "Remove from this device",
    removeNow: "Remove",
    keep: "Keep it",
    again: "Try again",
    answers: "Back to your answers",
    close: "Got it",
  },

  error: {
    summary: "Some answers are still needed",
    why: "Every question needs an answer. An empty one could give you away.",
    choose: "Please choose an answer. An empty one could give you away.",
    chooseOrDecline: "Please choose an answer, or “Prefer not to say”. An empty one could give you away.",
    chooseSome: "Please choose what applies, or “None of these”. An empty answer could give you away.",
    chooseSegment: "Please choose one.",
    numberMissing: "Please enter a number. An empty answer could give you away.",
    numberOrDecline: "Please enter a number, or choose “Prefer not to say”. An empty answer could give you away.",
    notNumber: "This is not a number we can read. Write it like 1200 or 12.5, without thousands separators.",
    outside: "Please enter a number from {low} to {high}.",
  },

  // One line below each question, by the form of its channel. {count} is rounded down: "26 times in 100".
  line: {
    bit: "Protected: at least {count} times in {total}, your device sends the opposite.",
    single: "Protected: at least {count} times in {total}, your device sends another answer.",
    set:
      "Protected: your device sends a set of {size} of the {options} answers. At least {count} times in {total}, yours " +
      "is not in it.",
    range:
      "Protected: your device sends a rough range, not your answer. At least {count} times in {total}, your answer is " +
      "not in it.",
    point: "Protected: at least {count} times in {total}, your device sends a number that is not the nearest to yours.",
    drawn:
      "Protected: your device picks one of the {options} answers at random and sends yes or no for that one only. At " +
      "least {count} times in {total}, it sends the opposite.",
    table: "Protected: at least {count} times in {total}, what your device sends points to another answer.",
    combination:
      "Protected: your answers are sent as one. At least {count} times in {total}, your device sends other answers.",
    combinations:
      "Protected: your device sends a set of {size} of the {options} possible combinations of answers. At least {count} " +
      "times in {total}, yours is not in it.",
    seldom: "Protected only in rare cases: nearly always, what your device sends points to your answer.",
    weak: "This answer is only weakly protected: what is sent may give it away.",
    weakTogether: "These answers are only weakly protected: what is sent may give them away.",
  },

  protection: {
    title: "How?",
    bit: "Your device flips a weighted coin. It decides whether your answer or its opposite is sent.",
    single:
      "Your device picks one of the {options} answers at random. Yours is the most likely, but every other answer can " +
      "come up too.",
    set:
      "Your device picks a set of {size} of the {options} answers at random. Sets that contain your answer are more " +
      "likely, but sets without it come up too.",
    range:
      "Your device picks a range of up to {width} of {levels} points at random. Ranges that contain your answer are " +
      "more likely, but ranges without it come up too.",
    point:
      "Your device picks one of {levels} points at random. The point your number was rounded to is the most likely, " +
      "but every other point can come up too.",
    rounding: "Before that, your number is rounded up or down at random to one of {levels} points: {points}.",
    drawn:
      "Your device picks one of the {options} answers at random, whatever you chose. Then it flips a weighted coin, " +
      "which decides whether the truth about this one or its opposite is sent. Nothing is sent about the others.",
    table:
      "Your device picks one of {reports} reports at random. Reports near your answer are more likely, but the " +
      "others come up too.",
    combination:
      "Your device picks one of the {options} combinations of answers at random. Yours is the most likely, but every " +
      "other one can come up too. What is sent looks the same however many questions you were shown.",
    combinations:
      "Your device picks a set of {size} of the {options} combinations of answers at random. Sets that contain yours " +
      "are more likely, but sets without it come up too. What is sent looks the same however many questions you were " +
      "shown.",
    always: "Whatever you answer, the chances are:",
    // {odds}: how many times as likely, {chance}: how often it can be more; both rounded up
    odds: "Whatever is sent, one answer makes it at most {odds} times as likely as another.",
    oddsDelta:
      "Whatever is sent, one answer makes it at most {odds} times as likely as another. There is a chance of at most " +
      "{chance} that it is more.",
    experts: "For experts: {symbols}.", // such as "ε = 2"
  },

  // What ε and δ mean for one person: "Suppose …", then what follows. The server says the same, in its wording.py.
  // {percent} is rounded up, and so is {count} in {total} people.
  meaning: {
    suppose:
      "Suppose someone tries to guess your answers from everything that was sent, and accepts being wrong about 5% " +
      "of people.",
    found: "They would find the truth at most {percent}% of the time.",
    weak: "This protects only weakly.",
    hardly: "They could find the truth nearly always: this protects hardly at all.",
    delta: "This includes δ = {delta}: at worst, it is as if {count} in {total} people sent their true answers unchanged.",
    each:
      "What is shown below a question is about that answer alone. What is sent for all questions adds up, and the " +
      "limit for all answers together applies.",
  },

  chance: {
    same: "The truth is sent",
    opposite: "The opposite is sent",
    yours: "Your answer is sent",
    other: "A particular other answer is sent",
    yoursInSet: "Your answer is in the set",
    otherInSet: "A particular other answer is in the set",
    yoursCombination: "Your combination is sent",
    otherCombination: "A particular other combination is sent",
    yoursCombinationInSet: "Your combination is in the set",
    otherCombinationInSet: "A particular other combination is in the set",
    inside: "The range contains your answer",
    outside: "The range does not contain it",
    rounded: "The point your number was rounded to is sent",
    elsewhere: "Another point is sent",
    drawn: "A particular answer is picked",
    near: "What is sent points to your answer",
    far: "What is sent points elsewhere",
    exactly: "{count} of {total}",
    atLeast: "at least {count} of {total}",
    atMost: "at most {count} of {total}",
    rare: "at most {chance}",
  },

  openly: {
    booklet: "Which questions your device picked. It picked them before you answered anything.",
    id: "A random number that your device makes for this submission, and the digest of this survey.",
  },

  status: {
    sending: "Sending …",
    thanks: "Thank you. Your answers were sent.",
    thanksText: "Your protected answers were randomised before they left this device. The true ones are gone.",
    waitingTitle: "Thank you. One moment more.",
    waiting: "Not sent yet. It will be sent when the network is back.",
    waitingServer: "Not sent yet. It will be sent when the server accepts it again.",
    comeBack: "Keep this page open, or come back to it on this device.",
    stay: "Keep this page open: this browser cannot save it for later.",
    forgetful:
      "This browser saves nothing, so it cannot remember that you have answered. Please send only once, and keep " +
      "this page open until it says that it was sent.",
    refused: "The server did not accept it, and sending it again would not help. It says: {title}. {detail}",
    before: "This survey was already answered on this device.",
  },

  // What was sent, for who wants to see it
  receipt: {
    calm: "Chance helped to make this. It may differ from what you answered, and people with other answers send it, too.",
    weak: "Chance has changed this only a little: it may give your answers away.",
    question: "Question",
    left: "What was sent",
    why: "Who else sends this",
    openly: "Sent exactly as you gave it.",
    raw: "as a code: {report}",
    code: "code {code}",
    id: "Submission",
    digest: "Digest of the survey",
    spent: "Everything together",
    keep: "This device does not keep it. Save it if you want to see it again.",
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

  // What was sent, in words
  report: {
    oneOf: "One of these: {answers}",
    near: "Near {answer}",
    between: "From {low} to {high}",
    drawnYes: "{option}: yes",
    drawnNo: "{option}: no",
    table: "Number {number} of {reports}, nearest to {answer}",
  },

  // {low} in {total} people send the same, rounded down, and {high} in {total} at most, rounded up
  why: {
    bit:
      "At least {low} in {total} people who answer {other} send exactly this, too. Of those who answer {answer}, at " +
      "most {high} do.",
    others:
      "At least {low} in {total} people with any other answer send exactly this, too. Of those who answer {answer}, at " +
      "most {high} do.",
    combination:
      "At least {low} in {total} people with any other answers send exactly this, too. Of those with these answers, at " +
      "most {high} do.",
    combinations:
      "At least {low} in {total} people with any other answers send exactly this, too. Of those with one of these " +
      "combinations, at most {high} do.",
    drawnYes:
      "At least {low} in {total} people who did not choose it send this yes, too. Of those who chose it, at most {high} " +
      "do.",
    drawnNo:
      "At least {low} in {total} people who chose it send this no, too. Of those who did not, at most {high} do.",
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
    not_open: {
      title: "This survey opens on {time}",
      text: "You cannot answer it yet. Nothing of yours was stored. Please come back then.",
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
    unexpected: {
      title: "Something went wrong on this page",
      text: "Nothing was sent. Please reload the page.",
    },
  },
};
