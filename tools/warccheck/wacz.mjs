// Lets js-wacz pack WARC files, and compares its WACZ with ours.
//
//   node wacz.mjs ORBWEAVER DIR FILE...
//
// DIR is for what is written. Files that are not .gz are left out. Each page that js-wacz finds must be in our list of pages, with the same title and time.
// The indexes must have the same captures at the same places. Our verify must accept the WACZ of js-wacz, with one
// exception: js-wacz 0.1.6 computes the digest of a WARC file with each part of 64 KiB counted twice.

import { WACZ } from "@harvard-lil/js-wacz";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { gunzipSync, inflateRawSync } from "node:zlib";

const [orbweaver, dir, ...all] = process.argv.slice(2);
const files = all.filter((name) => name.endsWith(".gz"));
let complaints = 0;
const complain = (what) => {
  if (++complaints <= 50) console.log(`wacz.mjs: ${what}`);
};

// entries returns the files in a ZIP file by their names. Larger ones than 4 GiB are not read.
function entries(name) {
  const zip = readFileSync(name);
  const end = zip.lastIndexOf("PK\x05\x06", zip.length, "latin1");
  const found = {};
  let at = zip.readUInt32LE(end + 16);
  for (let n = zip.readUInt16LE(end + 10); n > 0; n--) {
    const [packed, lengths, local] = [zip.readUInt32LE(at + 20), [28, 30, 32].map((i) => zip.readUInt16LE(at + i)), zip.readUInt32LE(at + 42)];
    const path = zip.toString("utf8", at + 46, at + 46 + lengths[0]);
    const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const body = zip.subarray(from, from + packed);
    found[path] = zip.readUInt16LE(at + 10) === 0 ? body : inflateRawSync(body);
    at += 46 + lengths[0] + lengths[1] + lengths[2];
  }
  return found;
}

// An index of blocks is a gzip file of several members.
function captures(zip) {
  const packed = zip["indexes/index.cdx.gz"];
  const text = packed ? gunzipSync(packed) : zip["indexes/index.cdx"];
  const lines = text.toString("utf8").split("\n").filter((l) => l !== "");
  const found = new Map();
  for (const line of lines) {
    const [key, time] = line.split(" ", 2);
    const { url, status, digest, offset, length, filename } = JSON.parse(line.slice(key.length + time.length + 2));
    // Answers 304 are not in the index of our WACZ: see docs/warc.md.
    if (status !== "304") found.set(`${filename} ${offset}`, `${time} ${url} ${digest} ${length}`);
  }
  return found;
}

function pages(zip) {
  const lines = zip["pages/pages.jsonl"].toString("utf8").split("\n").filter((l) => l !== "");
  return new Map(lines.slice(1).map((l) => JSON.parse(l)).map((p) => [p.url, p]));
}

rmSync(dir, { recursive: true, force: true });
mkdirSync(dir, { recursive: true });
const [theirs, ours] = [`${dir}/theirs.wacz`, `${dir}/ours.wacz`];
const quiet = () => {};
const log = { trace: quiet, info: quiet, warn: (w) => complain(`js-wacz: ${w}`), error: (e) => complain(`js-wacz: ${e}`) };
await new WACZ({ input: files, output: theirs, log }).process(false);
execFileSync(orbweaver, ["warc", "wacz", "--out", ours, ...files], { stdio: ["ignore", "ignore", "inherit"] });

const [their, our] = [entries(theirs), entries(ours)];
const [theirCaptures, ourCaptures] = [captures(their), captures(our)];
for (const [place, capture] of theirCaptures) {
  if (ourCaptures.get(place) !== capture) complain(`${place}: ours ${ourCaptures.get(place)}, theirs ${capture}`);
}
for (const place of ourCaptures.keys()) if (!theirCaptures.has(place)) complain(`${place}: in our index only`);

const [theirPages, ourPages] = [pages(their), pages(our)];
const plain = (title) => title.replace(/\s+/g, " ").trim();
for (const page of theirPages.values()) {
  const same = ourPages.get(page.url);
  if (!same) complain(`the page ${page.url} is not in our list`);
  else if (same.title && plain(same.title) !== plain(page.title)) complain(`${page.url}: title ${same.title}, theirs ${page.title}`);
}

const verdict = spawnSync(orbweaver, ["warc", "verify", theirs], { encoding: "utf8" });
for (const line of verdict.stderr.split("\n")) {
  const isKnown = /: archive\/.*: its digest is /.test(line) || /^orbweaver: the files have errors/.test(line) || line === "";
  if (!isKnown) complain(`verify of the WACZ of js-wacz: ${line}`);
}
if (verdict.status > 1) complain(`verify of the WACZ of js-wacz: status ${verdict.status}`);
execFileSync(orbweaver, ["warc", "verify", ours], { stdio: ["ignore", "ignore", "inherit"] });

if (theirCaptures.size === 0) complain("js-wacz found no capture");
console.log(`wacz.mjs: ${theirCaptures.size} captures, ${theirPages.size} pages, ${complaints} complaints`);
process.exit(complaints > 0 ? 1 : 0);
