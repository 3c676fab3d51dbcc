// Lists that are copied from documents and tables: their bullets and numbers go, and a row becomes lines.

const BULLET = /^\s*([•·▪◦‣●]\s*|([-–—*o]|\d{1,3}[.)])\t\s*)/;

/** In the fields within `root` that this selects. */
export function pastesLists(root, selector) {
  root.addEventListener("paste", (event) => {
    if (!event.target.matches?.(selector)) return;
    const text = event.clipboardData.getData("text/plain").replaceAll("\r\n", "\n");
    const lines = text.split("\n").map((line) => line.replace(BULLET, ""));
    const list = (lines.length === 1 ? lines[0].split("\t") : lines).join("\n");
    if (list === text) return;
    event.preventDefault();
    document.execCommand("insertText", false, list); // so that it can be undone
  });
}
