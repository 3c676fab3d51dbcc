// Moving an item of a list by its handle, with a mouse or a finger.

const EDGE = 60; // pixels from the top and bottom of the window: there the page scrolls
const STEP = 20;

/** Each item (.item) within `root` has a handle (data-drag). `moved` is called with the item and its place in its list. */
export function draggable(root, moved) {
  root.addEventListener("pointerdown", (event) => {
    const handle = event.target.closest("[data-drag]");
    if (!handle || event.button) return;
    event.preventDefault();
    const item = handle.closest(".item");
    const list = item.parentElement;
    handle.setPointerCapture(event.pointerId);
    item.classList.add("dragged");
    const move = ({ clientY }) => {
      const others = [...list.children].filter((each) => each !== item);
      const next = others.find((each) => {
        const box = each.getBoundingClientRect();
        return clientY < box.top + box.height / 2;
      });
      if (item.nextElementSibling !== (next ?? null)) list.insertBefore(item, next ?? null);
      if (clientY < EDGE) scrollBy(0, -STEP);
      if (clientY > innerHeight - EDGE) scrollBy(0, STEP);
    };
    const drop = () => {
      handle.removeEventListener("pointermove", move);
      item.classList.remove("dragged");
      moved(item, [...list.children].indexOf(item));
    };
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", drop, { once: true });
  });
}
