// Lists of people on the page of invitations. They are read and filled in here, and never sent: requests have numbers
// and codes only. Without this script the page works, and people fill in their lists themselves.

const making = document.getElementById("making");
const keeping = document.getElementById("keeping");
const lists = new Map(); // form -> the table that was chosen in it

for (const form of [making, keeping]) if (form) prepare(form);
enhance(null);

function prepare(form) {
  const part = form.querySelector("[data-list]");
  const [file, status] = [part.querySelector("input"), part.querySelector("[role=status]")];
  const at_first = [...status.childNodes];
  part.hidden = false;
  file.addEventListener("change", async () => {
    lists.delete(form);
    status.replaceChildren(...at_first);
    if (!file.files.length) return;
    const table = read(await file.files[0].text());
    if (form === making) {
      if (table.rows.length < 1) return (status.textContent = "The file has no lines below the names of its columns.");
      form.elements.number.value = table.rows.length;
      status.textContent = `${table.rows.length} people. The list stays in this browser.`;
    } else {
      const codes = table.rows.map((row) => row[place(table)] ?? "");
      if (place(table) < 0) return (status.textContent = "The file has no column named code or link.");
      form.elements.codes.value = codes.join("\n");
      status.textContent = `${codes.length} lines. Only their codes are sent.`;
    }
    lists.set(form, table);
  });
  form.addEventListener("submit", async (event) => {
    if (!lists.has(form)) return; // as without this script
    event.preventDefault();
    const body = new URLSearchParams(new FormData(form)); // file fields have no name: they are not in it
    const address = event.submitter?.getAttribute("formaction") ?? form.action;
    const table = lists.get(form);
    if (form === making && Number(body.get("number")) !== table.rows.length) {
      return say(`The list has ${table.rows.length} people. Make as many invitations, or choose no list.`);
    }
    try {
      const response = await fetch(address, { method: "POST", body, headers: { Accept: "text/html" }, redirect: "error" });
      const page = new DOMParser().parseFromString(await response.text(), "text/html");
      const fresh = ["news", "numbers"].map((id) => page.getElementById(id));
      if (fresh.includes(null)) return say("This was refused. Reload the page, and try again.");
      for (const part of fresh) document.getElementById(part.id).replaceWith(document.adoptNode(part));
      enhance(table);
    } catch {
      say("The server could not be reached. Nothing was changed if it did not get this: look at the numbers.");
    }
    document.getElementById("news").scrollIntoView({ block: "start" });
  });
}

function say(text) {
  const line = Object.assign(document.createElement("p"), { className: "message bad", textContent: text });
  line.setAttribute("role", "alert");
  document.getElementById("news").replaceChildren(line);
}

/** Lets people save what the server has just given, in their list if they chose one. */
function enhance(list) {
  for (const section of document.querySelectorAll("#made, #found")) {
    const field = section.querySelector("textarea");
    if (!field) continue;
    const given = read(field.value);
    const filled = section.id === "made" ? fill(list, given) : choose(list, given);
    for (const button of section.querySelectorAll("[data-save]")) {
      button.hidden = false;
      button.addEventListener("click", () => {
        const texts = button.dataset.save === "texts";
        save(`${section.dataset.name}${texts ? "-texts" : ""}.csv`, texts ? with_texts(filled, section.dataset.text) : filled);
      });
    }
  }
}

/** The list with the new codes and links, a line each. */
function fill(list, given) {
  if (!list) return given;
  const width = list.header.length;
  const rows = list.rows.map((row, i) => [...row, ...Array(Math.max(0, width - row.length)).fill(""), ...given.rows[i]]);
  return { header: [...list.header, ...given.header], rows, delimiter: list.delimiter };
}

/** Those lines of the list whose codes the server gave back. */
function choose(list, given) {
  if (!list) return given;
  const left = new Set(given.rows.map(([code]) => plain(code)));
  return { ...list, rows: list.rows.filter((row) => left.has(plain(row[place(list)] ?? ""))) };
}

function with_texts(table, text) {
  const [code, link] = ["code", "link"].map((name) => table.header.lastIndexOf(name));
  const rows = table.rows.map((row) => [...row, text.replace("{link}", () => row[link]).replace("{code}", () => row[code])]);
  return { ...table, header: [...table.header, "text"], rows };
}

/** The column that has the codes. No other one is looked at: it could have names in it. */
function place(table) {
  const names = table.header.map((name) => name.trim().toLowerCase());
  const found = names.findLastIndex((name) => name === "code" || name === "link");
  return found < 0 && names.length === 1 ? 0 : found;
}

/** A code by itself, without what people put between its letters. */
function plain(cell) {
  const code = cell.includes("#") ? cell.slice(cell.lastIndexOf(".") + 1) : cell;
  return code.replace(/[\s\u2010-\u2015-]/g, "").toUpperCase().replace(/O/g, "0").replace(/[IL]/g, "1");
}

/** A table from a file (CSV): its header, its rows, and what separates cells. */
function read(text) {
  const content = text.replace(/^\ufeff/, "");
  const first = content.split("\n", 1)[0];
  const delimiter = [",", ";", "\t"].reduce((a, b) => (first.split(b).length > first.split(a).length ? b : a));
  const rows = [];
  let [row, cell, quoted] = [[], "", false];
  const end = () => {
    row.push(cell);
    if (row.some((each) => each.trim())) rows.push(row);
    [row, cell] = [[], ""];
  };
  for (let i = 0; i < content.length; i += 1) {
    const c = content[i];
    if (quoted && c === '"' && content[i + 1] === '"') {
      cell += '"';
      i += 1;
    } else if (c === '"' && (quoted || cell === "")) quoted = !quoted;
    else if (quoted || (c !== delimiter && c !== "\n" && c !== "\r")) cell += c;
    else if (c === delimiter) {
      row.push(cell);
      cell = "";
    } else if (c === "\n") end();
  }
  end();
  const [header = [], ...rest] = rows;
  return { header, rows: rest, delimiter };
}

function save(name, { header, rows, delimiter }) {
  const quote = (cell) => (/[\s",;]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
  const text = [header, ...rows].map((row) => row.map(quote).join(delimiter)).join("\r\n");
  // The mark at the beginning lets spreadsheets see that it is UTF-8.
  const address = URL.createObjectURL(new Blob(["\ufeff", text, "\r\n"], { type: "text/csv" }));
  Object.assign(document.createElement("a"), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}
