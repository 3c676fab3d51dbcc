// How the questionnaire looks. Every colour is a custom property that the page may set, such as --deniable-accent.

const CSS = `
:host {
  --_ink: var(--deniable-ink, #1b1f24);
  --_muted: var(--deniable-muted, #57606a);
  --_paper: var(--deniable-paper, #ffffff);
  --_wash: var(--deniable-wash, #f6f7f9);
  --_line: var(--deniable-line, #8c959f);
  --_rule: var(--deniable-rule, #d0d7de);
  --_accent: var(--deniable-accent, #0b5f6b);
  --_on-accent: var(--deniable-on-accent, #ffffff);
  --_accent-soft: var(--deniable-accent-soft, #d6ecee);
  --_accent-wash: var(--deniable-accent-wash, #eef5f5);
  --_warn: var(--deniable-warn, #8a4b00);
  --_bad: var(--deniable-bad, #a40e26);
  --_radius: var(--deniable-radius, 0.5rem);
  display: block; container-type: inline-size; background: var(--_paper); color: var(--_ink);
  color-scheme: light;
  font-family: var(--deniable-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  font-size: 1rem; line-height: 1.5; text-align: start;
}
@media (prefers-color-scheme: dark) {
  :host {
    --_ink: var(--deniable-ink, #e8ecf0);
    --_muted: var(--deniable-muted, #a3adb8);
    --_paper: var(--deniable-paper, #14181d);
    --_wash: var(--deniable-wash, #1c2229);
    --_line: var(--deniable-line, #6b7682);
    --_rule: var(--deniable-rule, #38414b);
    --_accent: var(--deniable-accent, #6fc9d4);
    --_on-accent: var(--deniable-on-accent, #0b1a1d);
    --_accent-soft: var(--deniable-accent-soft, #1f444a);
    --_accent-wash: var(--deniable-accent-wash, #182a2d);
    --_warn: var(--deniable-warn, #f0b35c);
    --_bad: var(--deniable-bad, #ff8d97);
    color-scheme: dark;
  }
}
:host([hidden]) { display: none; }
*, *::before, *::after { box-sizing: border-box; }
[hidden] { display: none !important; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); }

/* A survey's words may be longer than any screen is wide, and a letter may carry more accents than fit beside it. */
.view { overflow-wrap: anywhere; overflow-x: clip; margin-inline: -0.5rem; padding-inline: 0.5rem; } /* room for focus */
h2, h3, p, ul, ol, dl, dd, fieldset, legend, table { margin: 0; padding: 0; }
h2 { font-size: 1.3125rem; line-height: 1.3; margin-block: 2rem 0.5rem; }
h2.survey-title { font-size: 1.6875rem; line-height: 1.2; margin-block: 1.25rem 0.25rem; }
h2.running-title { font-size: 0.9375rem; font-weight: 600; color: var(--_muted); margin-block: 0; }
.view > h2:first-child, [role="alert"] > h2:first-child { margin-block-start: 0; }
h3 { font-size: 1.0625rem; line-height: 1.4; }
p { margin-block: 0.5rem; }
ul { padding-inline-start: 1.25rem; }
ol { padding-inline-start: 1.625rem; }
.hint { color: var(--_muted); }
.notice, .closing { white-space: pre-line; }
.who-asks { display: flex; align-items: center; gap: 0.75rem; margin: 0; color: var(--_muted); font-size: 0.9375rem; }
.who-asks img { flex: none; block-size: 2.5rem; max-inline-size: 8rem; object-fit: contain; }
.promise, .closing { padding: 1rem; border-radius: var(--deniable-radius, 1rem); background: var(--_accent-wash); margin-block: 1rem; }
.promise > p { margin-block: 0; }
.promise > p + p { margin-block-start: 0.5rem; }
.weak-promise { border: 2px solid var(--_warn); background: none; }
.coin-picture, .faces { display: flex; align-items: center; justify-content: space-between; gap: 0.25rem; }
.coin-picture {
  margin-block-end: 0.75rem; font-size: 0.75rem; line-height: 1.15; color: var(--_accent); overflow-wrap: normal;
}
.coin-picture > span {
  display: grid; place-items: center; min-block-size: 4.5rem; inline-size: 4.5rem; flex: none; text-align: center;
  font-weight: 600; border: 3px solid currentcolor; border-radius: 50%;
}
.coin-picture > .sent {
  inline-size: auto; flex: 0 1 7rem; border: 2px dashed var(--_line); border-radius: 0.75rem; color: var(--_muted);
}
.arrow { flex: none; inline-size: 1.5rem; fill: none; stroke: var(--_line); stroke-width: 2; }
.view[dir="rtl"] :is(.arrow, .bar, .people, .scale) { transform: scaleX(-1); }
.more { display: flex; flex-direction: column; align-items: center; margin-block: 0; }
.more button, .languages { text-align: center; }
select {
  font: inherit; min-block-size: 2.75rem; padding: 0.375rem 0.75rem; color: var(--_ink); background: var(--_paper);
  border: 1px solid var(--_line); border-radius: var(--_radius);
}
table.who { inline-size: 100%; border-collapse: collapse; }
.who th, .who td {
  padding-block: 0.625rem; border-block-end: 1px solid var(--_rule); text-align: start; vertical-align: top;
  font-weight: 400;
}
.who td { inline-size: 48%; padding-inline-start: 0.75rem; font-weight: 600; color: var(--_accent); }
.digest { overflow-wrap: anywhere; }
.try { margin-block: 1.25rem; padding: 1rem; border: 1px solid var(--_rule); border-radius: var(--deniable-radius, 1rem); }
.try fieldset { border: 0; min-inline-size: 0; }
.try .options { clear: both; }
.try h3 { margin-block-end: 0.5rem; }
.try input[type="range"] { inline-size: 100%; accent-color: var(--_accent); min-block-size: 2.75rem; margin: 0; }
.faces { margin-block: 0.75rem; }
.face {
  display: grid; place-items: center; flex: none; overflow-wrap: normal; inline-size: 4.75rem; block-size: 4.75rem; border-radius: 50%; text-align: center;
  border: 3px solid var(--_accent); color: var(--_accent); font-weight: 600; font-size: 0.9375rem;
}
@container (max-inline-size: 20rem) {
  .face { inline-size: 4rem; block-size: 4rem; font-size: 0.875rem; }
}
/* A phone at 200% zoom. */
@container (max-inline-size: 15rem) {
  .faces, .coin-picture, .answers > li { flex-direction: column; }
  .coin-picture > .sent { flex: none; padding-inline: 0.5rem; }
  .view .faces .arrow, .view .coin-picture .arrow { transform: rotate(90deg); }
  .view .answers > li { gap: 0; }
  .view .who, .view .who :is(tbody, tr, th, td) { display: block; inline-size: auto; padding-inline: 0; }
  .view .who th { padding-block-end: 0; border: 0; }
}
.face.sent { border-radius: 0.75rem; border-style: dashed; }
.face.idle { opacity: 0.45; }
.face.thrown { animation: throw 0.5s; }
@keyframes throw { 50% { transform: rotateY(90deg); } }
.result { min-block-size: 4.5em; }
.people { fill: var(--_rule); inline-size: 100%; }
.people .yes { fill: var(--_accent); }
.scale { inline-size: 100%; overflow: visible; }
.scale .line { stroke: var(--_line); stroke-width: 2; }
.scale .truth { stroke: var(--_ink); stroke-width: 3; }
.scale .said { fill: var(--_paper); stroke: var(--_muted); stroke-width: 3; }
.scale .estimate { fill: var(--_accent); }
.gone { display: none; }
.mark { font-size: 3.25rem; line-height: 1; color: var(--_accent); text-align: center; }
.thanks > h2 { text-align: center; font-size: 1.6875rem; margin-block-start: 0.5rem; }
.thanks > .status.good { text-align: center; background: none; border: 0; color: var(--_muted); padding: 0; }
.thanks summary, .thanks .actions { display: flex; justify-content: center; }
h2.openly { color: var(--_warn); }
/* A text in another direction than the page's runs its own way, and still stands on the page's side. */
[dir="auto"] { text-align: -webkit-match-parent; text-align: match-parent; }
.note, .summary:not(:empty), .total, .status:not(:empty), .message [role="alert"] {
  padding: 0.75rem 1rem; border-radius: var(--_radius); background: var(--_wash);
  border: 1px solid var(--_rule); border-inline-start: 4px solid var(--_line);
}
.summary ul { list-style: none; padding: 0; }
.total { margin-block-start: 2rem; }
.total > :first-child { margin-block: 0 0.25rem; font-size: 1.0625rem; }
.summary:not(:empty), .status.bad, .message [role="alert"] { border-inline-start-color: var(--_bad); }
.status.good { border-inline-start-color: var(--_accent); }
.status.waiting { border-inline-start-color: var(--_warn); }

:focus-visible, h2:focus { outline: 3px solid var(--_accent); outline-offset: 2px; border-radius: 2px; }
h2:focus:not(:focus-visible), [role="alert"] > h2:focus { outline: none; } /* an alert has a frame of its own */
/* What gets the focus must not lie below the progress line. */
input, button, summary, fieldset, h2 { scroll-margin-block: 5.5rem 2rem; }

.progress {
  position: sticky; inset-block-start: 0; z-index: 1; display: flex; flex-wrap: wrap; align-items: center;
  gap: 0.25rem 1rem; padding-block: 0.625rem; background: var(--_paper);
  border-block-end: 1px solid var(--_rule); font-variant-numeric: tabular-nums;
}
progress {
  flex: 1 1 8rem; block-size: 0.5rem; border: 1px solid var(--_line); border-radius: 1rem; overflow: hidden;
  appearance: none; background: var(--_paper); color: var(--_accent);
}
progress::-webkit-progress-bar { background: var(--_paper); }
progress::-webkit-progress-value { background: var(--_accent); transition: inline-size 0.2s; }
progress::-moz-progress-bar { background: var(--_accent); }

/* Browsers let a fieldset grow with its longest word unless its least size is set. */
fieldset.question { min-inline-size: 0; margin-block: 1.5rem; padding: 0; border: 0; }
fieldset.question.wrong { padding-inline-start: 1rem; border-inline-start: 4px solid var(--_bad); }
/* Afloat, or the fieldset's border would start beside the legend's middle. */
legend { float: inline-start; inline-size: 100%; padding-block-end: 0.75rem; }
.question h3 { font-size: 1.375rem; line-height: 1.3; }
.question > :not(legend) { clear: both; }
.question > .hint, .error { margin-block: 0 0.5rem; }
.error { color: var(--_bad); font-weight: 600; }
.options { display: grid; gap: 0.5rem; margin-block: 0 0.625rem; }
.option {
  display: flex; align-items: flex-start; gap: 0.75rem; min-block-size: 3.25rem; min-inline-size: 0;
  padding: 0.8125rem 1rem; border: 1px solid var(--_line); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
.option > span { min-inline-size: 0; }
.option:has(:checked) {
  background: var(--_accent-soft); border-color: var(--_accent); box-shadow: inset 0 0 0 1px var(--_accent);
}
.option:has(:focus-visible), .wrong .option:has(:focus) { outline: 3px solid var(--_accent); outline-offset: 2px; }
.option input {
  flex: none; inline-size: 1.25rem; block-size: 1.25rem; margin-block: 0.125rem; margin-inline: 0;
  accent-color: var(--_accent);
}
/* Its whole label has the outline. */
.option input:focus-visible { outline: none; }
b.point { font-variant-numeric: tabular-nums; margin-inline-end: 0.25rem; }
@container (min-inline-size: 30rem) {
  .options.short { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.many { grid-template-columns: repeat(auto-fill, minmax(14rem, 1fr)); }
}
@container (min-inline-size: 40rem) {
  .options.scale { grid-auto-flow: column; grid-auto-columns: minmax(0, 1fr); }
  .options.scale .option { display: grid; grid-template-columns: auto 1fr; gap: 0.25rem 0.5rem; align-content: start; }
  .options.scale .option > span { display: contents; }
  .options.scale .option > span > span { grid-column: 1 / -1; }
}
.entry { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin-block: 0.375rem 0.625rem; }
.entry input {
  font: inherit; inline-size: 12rem; max-inline-size: 100%; min-block-size: 2.75rem; padding: 0.5rem 0.75rem;
  color: var(--_ink); background: var(--_paper); border: 1px solid var(--_line); border-radius: var(--_radius);
}
.entry input[aria-invalid] { border-color: var(--_bad); box-shadow: inset 0 0 0 1px var(--_bad); }
.invitation label { font-weight: 600; }
.invitation .entry input { inline-size: 100%; font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
.reasons { padding-inline-start: 1.25rem; margin-block: 1.5rem 0; color: var(--_muted); }
.reasons code { white-space: nowrap; }
details > .reasons { margin-block-start: 0.25rem; }
.unit { color: var(--_muted); min-inline-size: 0; }
.number > label { display: block; color: var(--_muted); }

.protection > details { margin-block-start: -0.75rem; } /* "How?" is a large target around a short word */
.protection { font-size: 0.9375rem; color: var(--_muted); }
.weak, .hint strong { color: var(--_warn); font-weight: 600; }
summary {
  display: inline-flex; align-items: center; min-block-size: 2.75rem; color: var(--_accent); cursor: pointer;
  text-decoration: underline; text-underline-offset: 0.2em;
}
details[open] { padding-block-end: 0.5rem; border-block-end: 1px solid var(--_rule); }
.chances { inline-size: 100%; max-inline-size: 40rem; border-collapse: collapse; }
.chances th { inline-size: 40%; text-align: start; font-weight: 400; }
.chances th, .chances td { padding-block: 0.25rem; padding-inline-end: 0.75rem; vertical-align: middle; }
.chances .picture { inline-size: 22%; }
@container (min-inline-size: 30rem) {
  .chances .picture { inline-size: 30%; }
  .figure { white-space: nowrap; }
}
.figure { font-variant-numeric: tabular-nums; color: var(--_ink); }
.bar { display: block; inline-size: 100%; block-size: 0.625rem; }
.bar-rest { fill: var(--_rule); }
.bar-share { fill: var(--_accent); }

.actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem; margin-block: 1.5rem 0.5rem; }
.form .actions { flex-direction: row-reverse; justify-content: space-between; }
.wide button { flex: 1; }
button {
  font: inherit; font-weight: 600; min-block-size: 3.25rem; padding: 0.5rem 1.5rem; color: var(--_on-accent);
  background: var(--_accent); border: 1px solid var(--_accent); border-radius: var(--deniable-radius, 0.875rem); cursor: pointer;
}
button:disabled { opacity: 0.6; cursor: progress; }
button.quiet { color: var(--_accent); background: var(--_paper); }
button.link {
  min-block-size: 2.75rem; padding: 0.25rem 0; color: var(--_accent); background: none; border-color: transparent; font-weight: 400;
  text-align: start; text-decoration: underline; text-underline-offset: 0.2em;
}
/* Not where a finger leaves it behind, nor on paper: an option would look as if it was chosen. */
@media screen and (hover: hover) {
  .option:not(:has(:checked)):hover { background: var(--_wash); }
  button:hover { box-shadow: inset 0 0 0 2px var(--_on-accent); }
  button.quiet:hover { box-shadow: inset 0 0 0 1px var(--_accent); }
  button.link:hover { box-shadow: none; text-decoration-thickness: 2px; }
}

.answers { list-style: none; padding: 0; margin-block: 1rem; border-block-start: 1px solid var(--_rule); }
.answers > li {
  display: flex; justify-content: space-between; gap: 1rem; padding-block: 0.625rem;
  border-block-end: 1px solid var(--_rule);
}
.answers > li > div { min-inline-size: 0; }
.answers h3 { font-weight: 400; font-size: 1rem; }
.answers .answer { font-size: 1.125rem; font-weight: 600; margin-block: 0.125rem; }
.answers button { flex: none; white-space: nowrap; }
.answers .hint { font-size: 0.9375rem; margin-block: 0.25rem 0; }

table.receipt { inline-size: 100%; border-collapse: collapse; margin-block: 1rem; }
.receipt th, .receipt td {
  padding: 0.75rem 0.875rem 0.75rem 0; padding-inline: 0 0.875rem; text-align: start; vertical-align: top;
  border-block-end: 1px solid var(--_rule);
}
.receipt thead th {
  border-block-end: 2px solid var(--_line); color: var(--_muted); font-weight: 600; overflow-wrap: break-word;
}
.receipt tbody th { font-weight: 400; }
.receipt td.left { font-weight: 600; }
.receipt li + li { margin-block-start: 0.25rem; }
.receipt td.why { color: var(--_muted); }
.raw { display: block; font-weight: 400; color: var(--_muted); }
.cell-label { display: none; }
code {
  font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875rem;
  overflow-wrap: anywhere;
}
.facts dt { color: var(--_muted); margin-block-start: 0.5rem; }
@container (min-inline-size: 40rem) {
  .receipt th.question { inline-size: 28%; }
  .receipt th.left { inline-size: 32%; }
}
@container (max-inline-size: 39.99rem) {
  .receipt thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  .receipt, .receipt tbody, .receipt tr, .receipt tbody th, .receipt td { display: block; inline-size: auto; }
  .receipt tr { padding-block: 0.75rem; border-block-end: 1px solid var(--_rule); }
  .receipt tbody th, .receipt td { padding: 0.125rem 0; border: 0; }
  .receipt tbody th { font-weight: 600; }
  .cell-label {
    display: block; margin-block-start: 0.375rem; font-size: 0.875rem; font-weight: 400; color: var(--_muted);
  }
}

@media (prefers-reduced-motion: reduce) {
  *, *::before, *::after {
    transition: none !important; animation: none !important; scroll-behavior: auto !important;
  }
}
@media (forced-colors: active) {
  .option:has(:checked) { outline: 2px solid Highlight; outline-offset: -2px; }
  .option:has(:focus-visible) { outline: 3px solid Highlight; outline-offset: 2px; }
  .bar-rest { fill: Canvas; stroke: CanvasText; }
  .bar-share { fill: CanvasText; }
  progress, progress::-webkit-progress-value { forced-color-adjust: none; }
  progress { border-color: CanvasText; background: Canvas; }
  progress::-webkit-progress-bar { background: Canvas; }
  progress::-webkit-progress-value { background: Highlight; }
}
/* True answers stay off paper: a print-out outlives the page. */
@media print {
  .progress, .actions, .answers, .try, .unseen { display: none !important; }
  /* Which questions were shown depends on the answers: on paper all of them are. */
  .form .question[hidden], .form .openly[hidden] { display: block !important; }
  .form input { visibility: hidden; }
  .option:has(:checked) { background: none; border-color: var(--_line); box-shadow: none; outline: none; }
  .receipt tr { break-inside: avoid; }
}
`;

let sheet;

/** The one sheet that all questionnaires of a page share. */
export function styleSheet() {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  return sheet;
}
