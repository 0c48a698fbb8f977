// Reads WARC files with warcio and complains of what it finds: one line for each complaint, exit status 1 if there is any.
//
// All files named on the command line are taken as one archive: identities are unique and references resolve across them.
// Payload digests are compared with the body of the block; of a chunked body the chunking is removed here, by code of
// this file, since the standard's payload is what was sent in the chunks.

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { basename } from "node:path";
import { WARCParser } from "warcio";

const identity = /^<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}>$/i;
const needed = ["WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length"];
const aboutSomething = new Set(["response", "request", "resource", "revisit", "conversion", "continuation"]);
const references = ["WARC-Concurrent-To", "WARC-Warcinfo-ID"];

const seen = new Map(); // identity -> where
const wanted = []; // references, until all files are read
const captures = new Map(); // target URI and date of responses, for revisits
const revisits = [];
const counts = { files: 0, records: 0, blocks: 0, payloads: 0, dechunked: 0, skipped: 0, complaints: 0 };

function complain(where, what) {
  counts.complaints++;
  if (counts.complaints <= 200) console.log(`${where}: ${what}`);
}

function base32(bytes) {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  let bits = "";
  for (const b of bytes) bits += b.toString(2).padStart(8, "0");
  let text = "";
  for (let i = 0; i < bits.length; i += 5) text += letters[parseInt(bits.slice(i, i + 5).padEnd(5, "0"), 2)];
  return text;
}

function digestIs(value, bytes) {
  const colon = value.indexOf(":");
  const algorithm = value.slice(0, colon).toLowerCase().replace("-", "");
  const text = value.slice(colon + 1).replace(/=+$/, "");
  const sum = createHash(algorithm).update(bytes).digest();
  return base32(sum) === text.toUpperCase() || sum.toString("hex") === text.toLowerCase();
}

// removeChunking gives the payload of a chunked body, or null if the framing does not hold to its last chunk.
function removeChunking(body) {
  const parts = [];
  for (let at = 0; ; ) {
    const end = body.indexOf("\n", at, "latin1");
    if (end < 0) return null;
    const line = body.toString("latin1", at, end).split(";")[0].trim();
    if (!/^[0-9a-fA-F]+$/.test(line)) return null;
    const size = parseInt(line, 16);
    at = end + 1;
    if (size === 0) return Buffer.concat(parts);
    if (at + size > body.length) return null;
    parts.push(body.subarray(at, at + size));
    at += size;
    if (body[at] === 13) at++;
    if (body[at] !== 10) return null;
    at++;
  }
}

function checkFields(record, where) {
  const type = record.warcHeader("WARC-Type");
  for (const name of needed) if (!record.warcHeader(name)) complain(where, `no ${name}`);
  if (aboutSomething.has(type) && !record.warcHeader("WARC-Target-URI")) complain(where, `${type} without WARC-Target-URI`);
  if (type !== "warcinfo" && !record.warcHeader("WARC-Warcinfo-ID")) complain(where, "no WARC-Warcinfo-ID");
  const date = record.warcHeader("WARC-Date") ?? "";
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(date)) complain(where, `WARC-Date ${date}`);
  const id = record.warcHeader("WARC-Record-ID") ?? "";
  if (!identity.test(id)) complain(where, `WARC-Record-ID ${id}`);
  if (seen.has(id)) complain(where, `the identity ${id} is also that of ${seen.get(id)}`);
  seen.set(id, where);
  for (const name of references) if (record.warcHeader(name)) wanted.push([where, name, record.warcHeader(name)]);
  const uri = record.warcHeader("WARC-Target-URI");
  if (type === "response") captures.set(`${uri} ${date}`, record.warcHeader("WARC-Payload-Digest"));
  if (type === "revisit") {
    revisits.push([where, record.warcHeader("WARC-Refers-To-Target-URI"), record.warcHeader("WARC-Refers-To-Date"),
      record.warcHeader("WARC-Payload-Digest")]);
  }
}

// splitHTTP gives head and body of a stored response, or null if there is no whole head.
function splitHTTP(block) {
  for (let at = 0; ; ) {
    const end = block.indexOf(10, at);
    if (end < 0) return null;
    if (end === at || (end === at + 1 && block[at] === 13)) return [block.toString("latin1", 0, at), block.subarray(end + 1)];
    at = end + 1;
  }
}

// checkPayload compares the payload digest with the stored block. The body is cut out of the block here: where a head
// ends at the edge of one of its reads, warcio 2.4.11 was seen to give a body that lacks bytes which it gives when it
// reads the same block whole.
function checkPayload(record, block, where) {
  const digest = record.warcHeader("WARC-Payload-Digest");
  const type = record.warcHeader("WARC-Type");
  if (!digest || type === "revisit") return;
  if (record.warcHeader("WARC-Truncated")) {
    counts.skipped++;
    return;
  }
  const parts = type === "response" ? splitHTTP(block) : ["", block];
  if (parts === null) return complain(where, "a payload digest, but no whole head");
  const [head, body] = parts;
  if (!/^transfer-encoding:.*\bchunked\s*$/im.test(head)) {
    counts.payloads++;
    if (!digestIs(digest, body)) complain(where, `payload digest ${digest} does not match`);
    return;
  }
  const payload = removeChunking(body);
  if (payload === null) return complain(where, "a payload digest, but the chunked body does not end as it should");
  counts.dechunked++;
  if (!digestIs(digest, payload)) complain(where, `payload digest ${digest} does not match the body without its chunking`);
}

async function checkFile(name) {
  counts.files++;
  const parser = new WARCParser(createReadStream(name));
  let n = 0;
  for await (const record of parser) {
    const where = `${basename(name)} record ${n++} (${record.warcHeader("WARC-Type")} ${record.warcHeader("WARC-Target-URI") ?? ""})`;
    counts.records++;
    checkFields(record, where);
    await record.readFully(false);
    if (n === 1 && record.warcHeader("WARC-Type") !== "warcinfo") complain(where, "the first record is no warcinfo");
    if (n === 1 && record.warcHeader("WARC-Filename") !== basename(name).replace(/\.open$/, "")) {
      complain(where, `WARC-Filename ${record.warcHeader("WARC-Filename")}`);
    }
  }
  if (n === 0) complain(name, "no record");
  // Once more, with the HTTP heads left in the blocks as they are stored.
  n = 0;
  for await (const record of new WARCParser(createReadStream(name), { parseHttp: false })) {
    const digest = record.warcHeader("WARC-Block-Digest");
    const block = Buffer.from((await record.readFully(false)) ?? []);
    const where = `${basename(name)} record ${n++}`;
    if (block.length !== Number(record.warcHeader("Content-Length"))) complain(where, `a block of ${block.length} bytes`);
    checkPayload(record, block, where);
    if (!digest) continue;
    counts.blocks++;
    if (!digestIs(digest, block)) complain(where, `block digest ${digest} does not match`);
  }
}

const files = process.argv.slice(2);
if (files.length === 0) {
  console.error("usage: node check.mjs FILE...");
  process.exit(2);
}
for (const name of files) {
  try {
    await checkFile(name);
  } catch (error) {
    complain(name, `cannot be parsed: ${error}`);
  }
}
for (const [where, name, id] of wanted) if (!seen.has(id)) complain(where, `${name} ${id} is nowhere`);
for (const [where, uri, date, digest] of revisits) {
  if (!uri || !date) complain(where, "a revisit that does not say of what");
  else if (!captures.has(`${uri} ${date}`)) complain(where, `repeats ${uri} of ${date}, which is nowhere`);
  else if (captures.get(`${uri} ${date}`) !== digest) complain(where, `repeats ${uri} of ${date}, which has another payload`);
}
console.log(`check.mjs: ${Object.entries(counts).map(([k, v]) => `${v} ${k}`).join(", ")}`);
process.exit(counts.complaints > 0 ? 1 : 0);
