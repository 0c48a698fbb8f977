// Checks rows in the form of OSCAR 23.01.
//
//   oscar.mjs lines ROWS               prints the lines of the texts that have a language, or could have one
//   oscar.mjs judge ROWS WET PREDICTIONS   compares the rows with the WET records and the predictions of fastText
import { readFileSync } from 'node:fs';

const [what, rowsName, wetName, predictionsName] = process.argv.slice(2);
const rows = readFileSync(rowsName, 'utf8').trimEnd().split('\n').map((row) => JSON.parse(row));
const longLines = (row) => row.content.split(/(?<=\n)/).map((text, at) => ({ text, at }))
  .filter(({ text }) => Buffer.byteLength(text) >= 100);

if (what === 'lines') {
  for (const row of rows) for (const { text } of longLines(row)) console.log(text.replaceAll(/[\n\r]/g, ' '));
  process.exit(0);
}
const headers = new Map();
for (const head of readFileSync(wetName, 'utf8').split('WARC/1.0\r\n').map((record) => record.split('\r\n\r\n')[0])) {
  const fields = Object.fromEntries(head.split('\r\n').map((line) => line.split(/: (.*)/s))
    .map(([name, value]) => [name.toLowerCase(), value]));
  if (fields['warc-type'] === 'conversion') headers.set(fields['warc-record-id'], fields);
}
const predictions = readFileSync(predictionsName, 'utf8').trimEnd().split('\n');
let [complaints, line, named] = [0, 0, 0];
const complain = (row, text) => {
  complaints++;
  console.log(`languagecheck: COMPLAINT: ${row.warc_headers['warc-target-uri']}: ${text}`);
};
const outer = 'harmful_pp,tlsh,quality_warnings,categories';
for (const row of rows) {
  const { identification, sentence_identifications: sentences, ...others } = row.metadata;
  if (Object.keys(others).join() !== outer) complain(row, `metadata is ${Object.keys(row.metadata)}`);
  if (identification && !(identification.prob <= 1.001)) complain(row, `identification ${identification.prob}`);
  const wet = headers.get(row.warc_headers['warc-record-id']) ?? {};
  if (JSON.stringify(Object.entries(wet).sort()) !== JSON.stringify(Object.entries(row.warc_headers).sort())) {
    complain(row, 'its header is not that of the WET record');
  }
  if (sentences.length !== row.content.split('\n').length) complain(row, `${sentences.length} lines have a language`);
  const long = new Map(longLines(row).map(({ at }) => [at, predictions[line++] ?? '']));
  sentences.forEach((got, at) => {
    const [label, score] = (long.get(at) ?? ' 0').split(' ');
    if (got) named++;
    if (got && (label !== `__label__${got.label}` || Math.abs(got.prob - score) > 1e-4) || !got && score > 0.5001) {
      complain(row, `line ${at}: ${JSON.stringify(got)}, want ${label} ${score}`);
    }
  });
}
if (line !== predictions.length || headers.size !== rows.length || named === 0) complaints++;
console.log(`languagecheck: OSCAR: ${rows.length} rows, ${headers.size} WET records, ${line} long lines,`,
  `${named} with a language, ${complaints} complaints`);
process.exit(complaints > 0 ? 1 : 0);
