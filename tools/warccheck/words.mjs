// Writes the content of the frame with the dictionary that a .warc.zst begins with to stdout; exit status 1 if there is none.
//
//   node words.mjs X.warc.zst >FILE

import { closeSync, openSync, readSync, writeSync } from "node:fs";

const file = openSync(process.argv[2]);
const head = Buffer.alloc(8);
const n = readSync(file, head, 0, 8, 0);
if (n < 8 || head.readUInt32LE(0) !== 0x184d2a5d) process.exit(1);
const content = Buffer.alloc(head.readUInt32LE(4));
readSync(file, content, 0, content.length, 8);
closeSync(file);
for (let at = 0; at < content.length; ) at += writeSync(1, content, at);
