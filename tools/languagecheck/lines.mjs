// Prints the text of each row of a corpus as fastText gets it: the first 8 KiB, in one line.
import { createInterface } from 'node:readline';

const most = 8 << 10;
for await (const row of createInterface({ input: process.stdin })) {
  const bytes = Buffer.from(JSON.parse(row).text);
  let end = Math.min(bytes.length, most);
  while (end < bytes.length && (bytes[end] & 0xc0) === 0x80) end--;
  console.log(bytes.subarray(0, end).toString().replaceAll(/[\n\r]/g, ' '));
}
