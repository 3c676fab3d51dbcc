// The types of deniable.js.
/// <reference lib="dom" />

export interface Option {
  readonly code: string;
  readonly text: string;
}

export interface Segment {
  readonly id: string;
  readonly text: string;
  readonly options: readonly Option[];
}

export interface Question {
  readonly type: "yes_no" | "choice" | "multi_choice" | "scale" | "number";
  readonly id: string;
  readonly text: string;
  /** Only where the survey has none. */
  readonly epsilon?: string;
  readonly decline?: boolean;
  /** Shown only after one of these answers to this earlier question. */
  readonly show_if?: Readonly<Record<string, readonly string[]>>;
  readonly options?: readonly Option[];
  readonly labels?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly unit?: string;
  readonly price?: true;
  readonly measure?: "shares" | "mean";
  readonly bins?: readonly number[];
  readonly mechanism?: "krr" | "exponential" | "laplace" | "gaussian";
  readonly delta?: string;
}

export interface Survey {
  readonly id: string;
  readonly title: string;
  /** The first is the default. */
  readonly languages?: readonly string[];
  readonly asked_by?: string;
  readonly contact?: string;
  readonly notice?: string;
  /** Shown after "Thank you", such as help lines. */
  readonly closing?: string;
  /** A submission needs a token, and an invitation gets one. */
  readonly invitations?: true;
  /** What everything that one person sends may show; where it is missing, every question has its own. */
  readonly epsilon?: string;
  readonly together?: readonly (readonly string[])[];
  readonly segments?: readonly Segment[];
  readonly questions: readonly Question[];
}

export interface SubsetChannel {
  readonly kind: "subset";
  readonly options: number;
  readonly size: number;
  readonly favour: number;
}

export interface BandChannel {
  readonly kind: "band";
  readonly levels: number;
  readonly width: number;
  readonly favour: number;
}

export interface DrawnChannel {
  readonly kind: "drawn";
  readonly parts: readonly BandChannel[];
}

export interface TableChannel {
  readonly kind: "table";
  readonly weights: readonly (readonly number[])[];
}

export type Channel = SubsetChannel | BandChannel | DrawnChannel | TableChannel;

/** What a part reports on: a question, or one option of a multi_choice. */
export interface Item {
  readonly name: string;
  readonly question: Question;
  readonly option?: string;
  readonly codes: readonly string[];
}

/** Questions that are reported together, as one report. */
export interface Part {
  /** The names of its items. */
  readonly questions: readonly string[];
  readonly epsilon: string;
  readonly channel: Channel;
  readonly items: readonly Item[];
  /** Every combination of answers: places among the codes of the items, null where an item is not shown. */
  readonly paths: readonly (readonly (number | null)[])[];
}

export interface Booklet {
  readonly parts: readonly number[];
  readonly weight: number;
}

/** The true answer to a question: a code, several, a point of a scale, a number, or "declined". */
export type Answer = boolean | string | number | readonly string[];
export type Answers = Readonly<Record<string, Answer>>;
export type Segments = Readonly<Record<string, string>>;

export interface Submission {
  readonly id: string;
  readonly digest: string;
  readonly booklet: number;
  readonly reports: readonly number[];
  readonly segments: Segments;
  /** Of a survey with invitations. */
  readonly token?: Token;
}

/** The right to one submission, as texts. */
export interface Token {
  readonly message: string;
  readonly signature: string;
}

export interface RandomizeOptions {
  /** The place of a booklet; one is drawn where it is left out. */
  booklet?: number;
  /** Of a survey with invitations: the token, and the id that its message gives. */
  token?: Token & { readonly id: string };
}

/** What was spent, or may be: decimals, exactly. */
export class Account {
  constructor(epsilon?: string, delta?: string);
  readonly epsilon: string;
  readonly delta: string;
  plus(other: { readonly epsilon: string; readonly delta: string }): Account;
  within(limit: { readonly epsilon: string; readonly delta: string }): boolean;
  /** The most often that the best test finds the truth, if it is wrong about at most this share of other people. */
  power(falseAlarms?: number): number;
}

/** A document that was verified on this device. */
export interface Verified {
  readonly survey: Survey;
  readonly parts: readonly Part[];
  readonly booklets: readonly Booklet[];
  /** The key that signs tokens, of a survey with invitations. */
  readonly issuer: { readonly kind: string; readonly key: string } | undefined;
  readonly digest: string;
  /** Of the survey alone: the same at another address, and in other booklets. */
  readonly content: string;
  readonly epsilon: string;
  /** What one submission may spend. */
  readonly account: Account;
  /** Those of the survey's texts, the default first; empty where it names none. */
  readonly languages: readonly string[];
  readonly language: string | undefined;
  /** The same document with its texts in the best of these languages. */
  inLanguage(...wanted: string[]): Verified;
  randomize(answers: Answers, segments?: Segments, options?: RandomizeOptions): Submission;
}

/** Once it is settled, the device keeps no reports: at a later visit, all of the submission is missing. */
export interface Receipt extends Partial<Omit<Submission, "reports" | "segments">> {
  /** Empty where the device no longer has them. */
  readonly reports: readonly number[];
  readonly segments: Segments;
  /** What it spent, as decimals. */
  readonly epsilon: string;
  readonly delta: string;
  /** "expired": given up after 14 days. "forgotten": removed from this device. */
  readonly status: "waiting" | "delivered" | "refused" | "expired" | "forgotten";
  readonly delivered: boolean;
  /** The server's words; empty at a later visit. */
  readonly refused: { readonly type?: string; readonly title?: string; readonly detail?: string } | null;
  /** Why the last attempt to deliver it failed. */
  readonly trouble: string | null;
  readonly reached: boolean;
  readonly settled: Promise<Receipt>;
}

/** One thing that is wrong. No message repeats an answer. */
export interface Problem {
  readonly place: string;
  readonly reason: string;
  readonly message: string;
}

/** Everything that Deniable throws on purpose. */
export class DeniableError extends Error {
  constructor(place: string, reason: string, message: string, problems?: readonly Problem[]);
  /** Where the first problem is, such as "vaped". */
  readonly place: string;
  readonly reason: string;
  /** All that is wrong, where several things are. */
  readonly problems: readonly Problem[];
  readonly receipt?: Receipt;
}

export interface LoadOptions {
  /**
   * The most that all surveys answered on this site may spend together: an epsilon, or an epsilon and a delta. What is
   * left out is 10 for epsilon, and 0.000001 for delta.
   */
  budget?: number | string | readonly (number | string)[] | null;
  /** In seconds. */
  timeout?: number;
  /** The code of an invitation, as it was typed, if the survey needs one and the link has none. */
  invitation?: string | undefined;
}

export class Client {
  private constructor();
  static load(link: string | URL, options?: LoadOptions): Promise<Client>;
  readonly survey: Survey;
  /** Those of the survey's texts, the default first; empty where it names none. */
  readonly languages: readonly string[];
  readonly language: string | undefined;
  /** From now on, texts are in the best of these languages; gives that one. */
  useLanguage(...wanted: string[]): string | undefined;
  /** The place of this device's booklet, drawn once and kept. */
  readonly booklet: number;
  /** The questions of the booklet; a multi_choice with the options that it reports on. */
  readonly questions: readonly Question[];
  /** The parts of the booklet, in the order of the reports. */
  readonly parts: readonly Part[];
  readonly digest: string;
  readonly epsilon: string;
  readonly account: Account;
  readonly offline: boolean;
  readonly closed: boolean;
  /** When the survey opens, if it was not open when it was loaded. */
  readonly opens: Date | null;
  readonly persistent: boolean;
  /** Of the key that signs tokens, for people to compare; of a survey with invitations that is not answered yet. */
  readonly fingerprint: string | undefined;
  readonly receipt: Receipt | null;
  submit(answers: Answers, segments?: Segments, options?: { timeout?: number }): Promise<Receipt>;
  /** Removes all that this device keeps of the survey; while its submission waits, only with `unsent`. */
  forget(options?: { unsent?: boolean }): Promise<void>;
  /** Delivers what waits for this survey. */
  flush(timeout?: number): Promise<boolean>;
}

export function verify(text: string, pinned?: string): Promise<Verified>;
export function randomize(
  text: string,
  answers: Answers,
  segments?: Segments,
  options?: RandomizeOptions,
): Promise<Submission>;
/** Those of the questions that are shown to somebody who has given these answers so far. */
export function shownQuestions(questions: readonly Question[], answers: Answers): Question[];
/** What clients accept in total where the app names no budget. */
export const DEFAULT_BUDGET: Account;

/** A text with {placeholders}, or a function of their values; or several, by their keys. */
export interface Texts {
  readonly [key: string]: string | ((values: any) => string) | Texts;
}

/** The attributes and properties of `<deniable-survey>`. */
export interface SurveyAttributes {
  /** The link to the survey; #<digest> pins it, and #<digest>.<code> has an invitation. */
  src: string;
  /** The language; without it, the reader's or that of the page around the element. */
  lang?: string | undefined;
  /** All questions on one page. */
  "one-page"?: boolean | undefined;
  /** Many people answer on this device: it starts fresh for each. */
  kiosk?: boolean | undefined;
  /** The address of a picture for the first screen. */
  logo?: string | undefined;
  /** As for `Client.load`. A property: setting it starts again. */
  budget?: LoadOptions["budget"] | undefined;
  /** Other words, by the keys of src/deniable/texts/en.js. A property: setting it starts again. */
  texts?: Texts | undefined;
  /** A preview, in the place of the survey of `src`. A property: no address can set it. Setting it starts again. */
  preview?: Preview | undefined;
}

/** A document to show to people who write surveys: nothing is sent, stored or spent, and the last screen says so. */
export interface Preview {
  /** The published text. */
  readonly document: string;
  /** The place of a booklet; one is drawn where it is left out. */
  readonly booklet?: number | undefined;
}

/** The events of `<deniable-survey>`. All of them bubble, and none has an answer in it. */
export interface SurveyEvents {
  "deniable-ready": CustomEvent<ReadyDetail>;
  "deniable-language": CustomEvent<LanguageDetail>;
  "deniable-submitted": CustomEvent<SubmittedDetail>;
  "deniable-failed": CustomEvent<FailedDetail>;
  "deniable-removed": CustomEvent<Record<string, never>>;
}

/** The same as React and Svelte name them: `ondeniable-ready`. */
export type SurveyHandlers = { [Name in keyof SurveyEvents as `on${Name}`]?: (event: SurveyEvents[Name]) => void };

export interface ReadyDetail {
  readonly survey: Survey;
  readonly digest: string;
  readonly closed: boolean;
  readonly opens: Date | null;
  /** That of an earlier visit. */
  readonly receipt: Receipt | null;
}

export interface LanguageDetail {
  readonly language: string;
  readonly direction: "ltr" | "rtl";
  readonly title: string;
}

export interface SubmittedDetail {
  readonly receipt: Receipt;
}

export interface FailedDetail {
  readonly reason: string;
}

/** `<deniable-survey src="/s/campus-health">`: the whole questionnaire. */
export interface SurveyElement extends HTMLElement {
  texts: SurveyAttributes["texts"];
  budget: SurveyAttributes["budget"];
  preview: SurveyAttributes["preview"];
}

declare global {
  interface HTMLElementTagNameMap {
    "deniable-survey": SurveyElement;
  }
  interface GlobalEventHandlersEventMap extends SurveyEvents {}
}
