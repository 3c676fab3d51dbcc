// The texts of the questionnaire in one language, and how a page puts its own in their place:
//
//   element.texts = { button: { send: "Absenden" }, progress: ({ done, total }) => `${done} von ${total}` };
//
// Any key of texts/en.js may be replaced. A text is a template with {placeholders}, or a function of the same values.

// Each import is written out: a bundler finds only what it can read.
const IMPORTS = {
  en: () => import("./texts/en.js"),
  es: () => import("./texts/es.js"),
  fr: () => import("./texts/fr.js"),
  de: () => import("./texts/de.js"),
  ar: () => import("./texts/ar.js"),
};
export const LANGUAGES = Object.keys(IMPORTS);
const RIGHT_TO_LEFT = ["ar", "dv", "fa", "he", "ks", "ku", "ps", "sd", "ug", "ur", "yi"];

const primary = (language) => language.toLowerCase().split("-")[0];

export const directionOf = (language) => (RIGHT_TO_LEFT.includes(primary(language)) ? "rtl" : "ltr");

/** The texts in this language, or in English where there are none; with those of the page in their place. */
export async function loadTexts(language, own) {
  const known = LANGUAGES.find((each) => each === primary(language)) ?? "en";
  const { default: texts } = await IMPORTS[known]();
  return new Texts(texts, own, language, known);
}

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

/** A text with its values; undefined where a page's own function throws or gives no text: the default will do. */
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

/** Texts, and numbers and lists as the language of the survey writes them. `language` is what these texts are in. */
export class Texts {
  #defaults;
  #texts;
  #locale;
  #numbers;

  constructor(defaults, own, locale, language = locale) {
    this.#defaults = defaults;
    this.#texts = merged(defaults, own);
    this.#locale = known(locale);
    this.#numbers = this.#format({ maximumFractionDigits: 12 });
    this.language = language;
  }

  #format(options) {
    return new Intl.NumberFormat(this.#locale, options);
  }

  /** The text of this name, such as "button.send", with its values filled in. */
  say(name, values = {}) {
    const find = (texts) => name.split(".").reduce((part, key) => part?.[key], texts);
    return filled(find(this.#texts), values) ?? filled(find(this.#defaults), values);
  }

  has(name) {
    return this.say(name) !== undefined;
  }

  /** A moment, where the reader is. */
  time(date) {
    return date.toLocaleString(this.#locale, { dateStyle: "full", timeStyle: "short" });
  }

  number(value) {
    return this.#numbers.format(value);
  }

  percent(share) {
    return this.#format({ style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 }).format(share);
  }

  minutes(count) {
    return this.#format({ style: "unit", unit: "minute", unitDisplay: "long" }).format(count);
  }

  either(items) {
    return new Intl.ListFormat(this.#locale, { type: "disjunction" }).format(items);
  }

  all(items) {
    return new Intl.ListFormat(this.#locale, { type: "conjunction" }).format(items);
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
