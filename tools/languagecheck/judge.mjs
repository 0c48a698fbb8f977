// Compares the rows of a corpus with the predictions of fastText for the same lines, and with the tokens of tiktoken.
import { readFileSync } from 'node:fs';
import { get_encoding } from 'tiktoken';

const [rows, predictions] = process.argv.slice(2).map((name) => readFileSync(name, 'utf8').trimEnd().split('\n'));
let complaints = rows.length === predictions.length ? 0 : 1;
let worst = 0;
const found = {};
const encoding = get_encoding('r50k_base');
let tokens = 0;
rows.forEach((text, i) => {
  const row = JSON.parse(text);
  const [label, score] = (predictions[i] ?? '').split(' ');
  const deviation = Math.abs(row.language_score - Math.min(score, 1));
  worst = Math.max(worst, deviation);
  found[row.language] = (found[row.language] ?? 0) + 1;
  if (label !== `__label__${row.language}` || !(deviation <= 1e-4)) {
    complaints++;
    console.log(`languagecheck: COMPLAINT: ${row.url}: ${row.language} ${row.language_score}, want ${predictions[i]}`);
  }
  const count = encoding.encode_ordinary(row.text).length;
  tokens += count;
  if (row.token_count !== count) {
    complaints++;
    console.log(`languagecheck: COMPLAINT: ${row.url}: ${row.token_count} tokens, want ${count}`);
  }
});
console.log(`languagecheck: ${rows.length} rows, ${predictions.length} predictions, ${complaints} complaints,`,
  `largest deviation ${worst.toExponential(1)}`, found, tokens, 'tokens');
process.exit(complaints > 0 ? 1 : 0);
