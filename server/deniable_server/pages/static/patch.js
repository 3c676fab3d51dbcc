// Brings a part of the page up to date with markup that the server has drawn. Only what differs changes.

function patch(old, fresh) {
  if (old.nodeType === Node.TEXT_NODE) {
    if (old.data !== fresh.data) old.data = fresh.data;
    return;
  }
  if (old.nodeType !== Node.ELEMENT_NODE) return;
  for (const { name } of [...old.attributes]) if (name !== "open" && !fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  patchChildren(old, fresh);
}

/** Elements with an id are found again wherever they are; the others by their order. */
export function patchChildren(old, fresh) {
  const named = new Map([...old.children].filter((each) => each.id).map((each) => [each.id, each]));
  let next = old.firstChild;
  for (const wanted of fresh.childNodes) {
    while (next?.classList?.contains("dispute")) next = next.nextSibling;
    let found = wanted.id ? named.get(wanted.id) : next;
    if (found && (found.nodeName !== wanted.nodeName || (found.id ?? "") !== (wanted.id ?? ""))) found = null;
    if (!found) old.insertBefore(wanted.cloneNode(true), next);
    else {
      if (found === next) next = next.nextSibling;
      else old.insertBefore(found, next);
      patch(found, wanted);
    }
  }
  while (next) {
    const rest = next.nextSibling;
    if (!next.classList?.contains("dispute")) next.remove();
    next = rest;
  }
}
