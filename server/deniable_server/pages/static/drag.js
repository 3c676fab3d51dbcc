// Moving an item of a list by its handle, with a mouse or a finger.

const EDGE = 60; // pixels from the top and bottom of the window: there the page scrolls
const STEP = 12; // pixels that it scrolls in each frame

/** Each item (.item) within `root` has a handle (data-drag). `moved` is called with the item and its place in its list. */
export function draggable(root, moved) {
  root.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-drag]");
    if (!handle || event.button) return;
    event.preventDefault();
    const item = handle.closest(".item");
    const list = item.parentElement;
    let [y, frame] = [event.clientY, 0];
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
    const follow = () => {
      if (y < EDGE) scrollBy(0, -STEP);
      if (y > innerHeight - EDGE) scrollBy(0, STEP);
      arrange(list, item, y);
      frame = requestAnimationFrame(follow);
    };
    const point = ({ clientY }) => (y = clientY);
    const drop = () => {
      cancelAnimationFrame(frame);
      handle.removeEventListener("pointermove", point);
      item.classList.remove("dragged");
      moved(item, [...list.children].indexOf(item));
    };
    handle.addEventListener("pointermove", point);
    handle.addEventListener("lostpointercapture", drop, { once: true });
    follow();
  });
}

/** The others move around the item: one that leaves the page for a moment loses the pointer. */
function arrange(list, item, y) {
  const all = [...list.children];
  const below = all.findIndex((each) => {
    const box = each.getBoundingClientRect();
    return each !== item && y < box.top + box.height / 2;
  });
  const [from, to] = [all.indexOf(item), below < 0 ? all.length : below];
  if (to < from) item.after(...all.slice(to, from));
  else if (to > from + 1) item.before(...all.slice(from + 1, to));
}
