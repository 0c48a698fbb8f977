// Compares the CDXJ beside a WARC file with the one that warcio makes of the file.
//
//   node cdxj.mjs X.cdxj INDEX-OF-WARCIO
//
// The lines must be sorted by their bytes, and tell of the same records: time, URL, digest, offset, length. Where the key,
// the media type or the status differ, it is said but no complaint: readers do differ on what a hostile head means.

import { readFileSync } from "node:fs";

const same = ["length", "url", "digest", "offset", "filename"];
const noted = ["mime", "status"];

function read(name) {
  const lines = readFileSync(name).toString("latin1").split("\n").filter((l) => l !== "");
  return lines.map((line) => {
    const [key, timestamp] = line.split(" ", 2);
    return { line, key, timestamp, fields: JSON.parse(line.slice(key.length + timestamp.length + 2)) };
  });
}

const [ours, theirs] = [read(process.argv[2]), read(process.argv[3])];
const plain = ours.length > 0 && ours[0].fields.filename.endsWith(".warc");
let complaints = 0;
let notes = 0;
for (let i = 1; i < ours.length; i++) {
  if (ours[i - 1].line > ours[i].line) {
    console.log(`not sorted at line ${i + 1}`);
    complaints++;
    break;
  }
}
// Of a plain file warcio 2.4.11 counts a record without the empty lines at its end, by two bytes more or less, and gives the record behind one that is
// no HTTP the other's offset. So there it is the capture that counts; its place is only noted.
const place = (e) => (plain ? `${e.fields.url} ${e.timestamp}` : e.fields.offset);
const byPlace = new Map(ours.map((e) => [place(e), e]));
for (const t of theirs) {
  const o = byPlace.get(place(t));
  byPlace.delete(place(t));
  if (!o) {
    console.log(`no line for ${t.fields.url} at ${t.fields.offset}`);
    complaints++;
    continue;
  }
  const differ = same.filter((f) => o.fields[f] !== t.fields[f] && !(plain && (f === "length" || f === "offset")));
  if (o.timestamp !== t.timestamp) differ.push("timestamp");
  if (differ.length > 0) {
    if (complaints < 20) console.log(`at ${t.fields.offset}: ${differ.join(", ")} differ:\n  ours   ${o.line}\n  warcio ${t.line}`);
    complaints++;
  }
  if (o.key !== t.key || noted.some((f) => o.fields[f] !== t.fields[f])) {
    if (++notes <= 5) console.log(`note, at ${t.fields.offset}:\n  ours   ${o.line}\n  warcio ${t.line}`);
  }
}
for (const o of byPlace.values()) {
  console.log(`a line too many: ${o.line}`);
  complaints++;
}
if (complaints + notes > 0) console.log(`cdxj.mjs: ${process.argv[2]}: ${complaints} complaints, ${notes} notes`);
process.exit(complaints > 0 ? 1 : 0);
