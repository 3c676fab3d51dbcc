// Screens as entries of the browser's history, so that a back gesture goes to the screen before.
//
// May not: put anything into an entry but the name of a screen. No screen depends on an answer: a follow-up is on the
// screen of the question that it follows. The address keeps the digest in its fragment, which may pin the survey; an
// invitation behind it goes once the device has its token, so that nobody finds it there later.

/** Removes the invitation from the page's address, and from this entry of the history. */
export function hideInvitation() {
  const [kept, code] = location.href.split(/(?<=#[0-9a-f]{64})(?=\.)/i);
  if (code) history.replaceState(history.state, "", kept);
}

export class Steps {
  #visit = `${crypto.getRandomValues(new Uint32Array(1))[0]}`; // entries of an earlier visit are not ours
  #onMove;
  #listening = new AbortController();

  /** `onMove` gets the entry to be shown: the name of a `screen`, and whether it was opened to `change` an answer. */
  constructor(onMove) {
    this.#onMove = onMove;
    addEventListener("popstate", () => onMove(this.current), { signal: this.#listening.signal });
  }

  stop() {
    this.#listening.abort();
  }

  get current() {
    return history.state?.deniable?.[this.#visit] ?? { screen: "start", depth: 0 };
  }

  /** Open one more screen. */
  open(screen, change = false) {
    const entry = { screen, change, depth: this.current.depth + 1 };
    const deniable = { ...history.state?.deniable, [this.#visit]: entry };
    history.pushState({ ...history.state, deniable }, "");
    this.#onMove(entry);
  }

  back() {
    history.back();
  }

  /** Go back to where it began, for good: the screens on the way are of no use any more. */
  end() {
    this.stop();
    const { depth } = this.current;
    if (depth) history.go(-depth);
  }
}
