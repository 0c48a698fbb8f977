// Lets DuckDB judge the columnar index of `orbweaver derive --parquet`: the types, each row against the CDXJ index, and
// queries in the manner of Common Crawl's examples.
//
//   node columns.mjs OUT WARCDIR [QUERIES]
//
// OUT has parquet/, WARCDIR the .cdxj files. QUERIES is a directory of .sql files, such as src/sql/examples/cc-index of
// commoncrawl/cc-index-table. Exit status: 0 no complaint, 1 a complaint.
import { DuckDBInstance } from '@duckdb/node-api';
import fs from 'node:fs';
import path from 'node:path';

const [out, warcs, queries] = process.argv.slice(2);
let complaints = 0;
const complain = (text) => { console.log('outputcheck: COMPLAINT: ' + text); complaints++; };
const db = await (await DuckDBInstance.create(':memory:')).connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowObjectsJson();

await db.run('CREATE SCHEMA ccindex');
await db.run(`CREATE VIEW ccindex.ccindex AS
  SELECT * FROM read_parquet('${path.join(out, 'parquet')}/**/*.parquet', hive_partitioning = true)`);
// Where Athena's functions have other names.
await db.run('CREATE MACRO regexp_like(s, p) AS regexp_matches(s, p)');
await db.run('CREATE MACRO levenshtein_distance(a, b) AS levenshtein(a, b)');

await db.run('CREATE MACRO slice(l, start, n) AS list_slice(l, start, start + n - 1)');
await db.run("CREATE MACRO url_extract_path(u) AS regexp_extract(u, '^[a-z]+://[^/?#]*([^?#]*)', 1)");
await db.run("CREATE TABLE ccindex.alexa_top_1m AS SELECT 1 AS rank, 'example.com' AS site");
await db.run("SET search_path = 'main,ccindex'");

// The types of Common Crawl's schema. A nullable column that is always null has the same type.
const types = {
  url_port: 'INTEGER', fetch_time: 'TIMESTAMP WITH TIME ZONE', fetch_status: 'SMALLINT', warc_record_offset: 'INTEGER',
  warc_record_length: 'INTEGER',
};
const columns = await rows('DESCRIBE ccindex.ccindex');
for (const c of columns) {
  const want = types[c.column_name] ?? 'VARCHAR';
  if (c.column_type !== want) complain(`column ${c.column_name} is ${c.column_type}, not ${want}`);
}
if (columns.length !== 32) complain(`${columns.length} columns, not 32`);

// Each row is a line of the index.
const want = [];
for (const name of fs.readdirSync(warcs).filter((n) => n.endsWith('.cdxj'))) {
  for (const line of fs.readFileSync(path.join(warcs, name), 'utf8').split('\n').filter(Boolean)) {
    const [key, stamp] = line.split(' ', 2);
    const said = JSON.parse(line.slice(key.length + stamp.length + 2));
    want.push([key, stamp, said.url, said.mime ?? null, Number(said.status ?? -1), said.digest ?? null,
      Number(said.length), Number(said.offset), said.filename].join('\t'));
  }
}
const got = (await rows(`SELECT url_surtkey k, strftime(fetch_time AT TIME ZONE 'UTC', '%Y%m%d%H%M%S') t, url,
  content_mime_type m, fetch_status s, content_digest d, warc_record_length l, warc_record_offset o, warc_filename f
  FROM ccindex.ccindex`)).map((r) => [r.k, r.t, r.url, r.m, r.s, r.d, r.l, r.o, r.f].join('\t'));
want.sort();
got.sort();
if (want.length !== got.length) complain(`${got.length} rows, ${want.length} lines in the index`);
const differ = want.filter((w, i) => w !== got[i]);
if (differ.length) complain(`${differ.length} rows differ from the index, such as ${differ[0]}`);
console.log(`outputcheck: ${got.length} rows, ${want.length} lines of the index`);

// Statistics of row groups must find a key without reading the others, as Athena and DuckDB do.
const stats = await rows(`SELECT count(*) n, count(stats_min_value) m FROM
  parquet_metadata('${path.join(out, 'parquet')}/**/*.parquet') WHERE path_in_schema = 'url_surtkey'`);
if (stats[0].n !== stats[0].m) complain(`${stats[0].n - stats[0].m} row groups have no statistics of url_surtkey`);

const own = {
  'captures by partition': 'SELECT crawl, subset, count(*) n FROM ccindex.ccindex GROUP BY ALL ORDER BY ALL',
  'pages, hosts and domains by TLD': `SELECT url_host_tld, count(*) n, count(DISTINCT url_host_name) hosts,
    count(DISTINCT url_host_registered_domain) domains FROM ccindex.ccindex WHERE subset = 'warc' GROUP BY ALL`,
  'media types, declared and detected': `SELECT content_mime_type, content_mime_detected, count(*) n
    FROM ccindex.ccindex WHERE subset = 'warc' GROUP BY ALL ORDER BY n DESC LIMIT 5`,
  'targets of redirects': `SELECT fetch_status, count(fetch_redirect) n FROM ccindex.ccindex
    WHERE fetch_status BETWEEN 300 AND 399 GROUP BY ALL ORDER BY ALL`,
};
for (const [name, sql] of Object.entries(own)) {
  const result = await rows(sql);
  console.log(`outputcheck: ${name}: ${JSON.stringify(result.slice(0, 6))}`);
}

// Queries of others, for the crawl at hand: none may name a column that is missing, or meet another type.
let ran = 0;
for (const file of queries ? fs.readdirSync(queries).filter((n) => n.endsWith('.sql')) : []) {
  const sql = fs.readFileSync(path.join(queries, file), 'utf8').replaceAll(/CC-MAIN-\d{4}-\d\d/g, 'demo')
    .replaceAll(/BERNOULLI \(([.0-9]+)\)/g, 'BERNOULLI ($1 PERCENT)');
  try {
    const result = await db.runAndReadAll(sql);
    console.log(`outputcheck: ${file}: ${result.currentRowCount} rows`);
    ran++;
  } catch (err) {
    const text = String(err.message).split('\n')[0];
    console.log(`outputcheck: ${file}: NOT RUN: ${text}`);
    if (/column .* not found|Conversion/i.test(text)) complain(`${file}: ${text}`);
  }
}
if (queries) console.log(`outputcheck: ${ran} of the queries ran`);
process.exit(complaints ? 1 : 0);
