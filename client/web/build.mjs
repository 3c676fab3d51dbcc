// Builds what the server sends from the modules in src: npm run build, or make bundle, which installs esbuild first.
//
//   node build.mjs           writes deniable_web/, and the hash of deniable.js where the documentation names it
//   node build.mjs FOLDER    writes the same files into this folder, and nothing else
//
// What is sent is small. Who wants to read it reads src, builds it again, and has the same bytes.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const WEB = dirname(fileURLToPath(import.meta.url));
const DOCUMENTED = ["../../docs/embedding.md"].map((name) => join(WEB, name));
const TEXTS = "src/deniable/texts";

/** What may be in several files. Such a module keeps nothing, so two copies of it cannot disagree. */
const STATELESS = ["account", "checks", "design", "survey"].map((name) => `src/deniable/${name}.js`);

/** The files: deniable.js is all that a Client needs, and so one hash pins it. The others are loaded when needed. */
function entries() {
  const languages = existsSync(join(WEB, TEXTS)) ? readdirSync(join(WEB, TEXTS)).sort() : [];
  const texts = languages.filter((name) => name.endsWith(".js")).map((name) => `${TEXTS}/${name}`);
  const onDemand = ["survey-element", "tables", "invitations", "preview"].map((name) => `src/deniable/${name}.js`);
  return ["src/deniable.js", ...onDemand, ...texts];
}

/** What is imported on demand stays a file of its own, at the same relative address. */
const onDemand = {
  name: "on demand",
  setup({ onResolve }) {
    onResolve({ filter: /^\./ }, ({ kind, path }) => (kind === "dynamic-import" ? { path, external: true } : undefined));
  },
};

async function bundle(entry) {
  const { version } = JSON.parse(readFileSync(join(WEB, "package.json"), "utf8"));
  const { outputFiles, metafile } = await build({
    absWorkingDir: WEB,
    entryPoints: [entry],
    outbase: "src",
    outdir: "deniable_web",
    banner: { js: `// Deniable ${version}, ${relative("src", entry)}: built from client/web/src, where it is readable.` },
    bundle: true,
    charset: "utf8",
    format: "esm",
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
    minify: true,
    plugins: [onDemand],
    target: "es2022",
    write: false,
  });
  const [{ inputs }] = Object.values(metafile.outputs);
  const modules = Object.keys(inputs).filter((name) => inputs[name].bytesInOutput > 0);
  return { name: relative("src", entry), code: outputFiles[0].contents, modules };
}

/** Receipts, the ledger and the outbox exist once: no module that keeps anything is in two files. */
function refuseSecondCopies(files) {
  const modules = files.flatMap((file) => file.modules).filter((name) => !STATELESS.includes(name));
  const twice = modules.filter((name, i) => modules.indexOf(name) < i);
  if (twice.length) throw new Error(`in more than one file: ${twice.join(", ")}`);
}

function write(folder, files) {
  for (const name of ["deniable.js", "deniable"]) rmSync(join(folder, name), { recursive: true, force: true });
  for (const { name, code } of files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), code);
  }
}

const files = await Promise.all(entries().map(bundle));
refuseSecondCopies(files);
write(process.argv[2] ?? join(WEB, "deniable_web"), files);
if (!process.argv[2]) {
  const hash = `sha384-${createHash("sha384").update(files[0].code).digest("base64")}`;
  for (const page of DOCUMENTED) {
    writeFileSync(page, readFileSync(page, "utf8").replace(/sha384-[A-Za-z0-9+/]{64}/g, hash));
  }
}
