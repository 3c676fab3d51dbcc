// What the editor tells people: whether everything is saved, what went wrong, and what they can take back.

const saved = document.getElementById("saved");
const trouble = document.getElementById("trouble");

/** Next to the title, in a few words. */
export const tell = (text) => (saved.textContent = text);
export const told = () => saved.textContent;

/** What is wrong, in sight wherever one is on the page; nothing if the text is empty. */
export function say(text, ...more) {
  trouble.hidden = !text;
  if (text && trouble.dataset.text !== text) trouble.replaceChildren(Object.assign(document.createElement("p"), { textContent: text }), ...more);
  trouble.dataset.text = text;
}

/** What people wrote in these changes, not what they chose. */
export const textsOf = (changes) => changes.filter(({ at, value }) => at?.includes(":") && value).map(({ value }) => value);

/** Changes that cannot be saved: why, and their texts to copy, which stay on the page. */
export function handBack(why, changes) {
  const texts = textsOf(changes);
  if (!texts.length) return say(why);
  const area = Object.assign(document.createElement("textarea"), { readOnly: true, value: texts.join("\n"), rows: 4 });
  area.setAttribute("aria-label", "What was not saved");
  const box = Object.assign(document.createElement("div"), { className: "message bad" });
  box.setAttribute("role", "alert");
  box.append(`${why} What you wrote could not be saved. Here it is:`, area);
  trouble.after(box);
}

/** A way back, for a while. */
export function offer(text, undo) {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "Undo" });
  const note = Object.assign(document.createElement("p"), { className: "message undo" });
  button.addEventListener("click", () => {
    note.remove();
    undo();
  });
  note.setAttribute("role", "status");
  note.append(`${text} `, button);
  document.querySelector(".undo")?.remove();
  document.getElementById("sketch").after(note);
  setTimeout(() => {
    if (note.contains(document.activeElement)) document.getElementById("questions-title").focus();
    note.remove();
  }, 20_000);
}
