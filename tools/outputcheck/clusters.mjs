// Joins the pages of signatures that share a bucket, and compares the result with clusters.jsonl.gz.
//
//   node clusters.mjs OUT/minhash
import {readFileSync, readdirSync} from "node:fs";
import {gunzipSync} from "node:zlib";

const dir = process.argv[2];
const rowsOf = (name) => gunzipSync(readFileSync(name)).toString().split("\n").filter(Boolean).map((l) => JSON.parse(l));
const rows = readdirSync(`${dir}/signatures`).flatMap((name) => rowsOf(`${dir}/signatures/${name}`));
const parent = rows.map((_, i) => i);
const find = (i) => {
	while (parent[i] !== i) i = parent[i];
	return i;
};
const pageOf = new Map();
rows.forEach((row, i) => {
	if (row.buckets.length !== (row.words < 5 ? 0 : 14)) throw new Error(`buckets of ${row.url}`);
	row.buckets.forEach((hash, bucket) => {
		const key = `${bucket} ${hash}`;
		if (pageOf.has(key)) parent[find(i)] = find(pageOf.get(key));
		else pageOf.set(key, i);
	});
});
const clusters = new Map(); // root -> ids
rows.forEach((row, i) => clusters.set(find(i), [...(clusters.get(find(i)) ?? []), row.id]));
const text = (lists) => lists.map((ids) => ids.sort().join(" ")).sort().join("\n");
const want = text([...clusters.values()].filter((ids) => ids.length > 1));
const said = new Map();
for (const m of rowsOf(`${dir}/clusters.jsonl.gz`)) {
	said.set(m.cluster, [...(said.get(m.cluster) ?? []), m.id]);
}
if (text([...said.values()]) !== want) {
	console.log("outputcheck: COMPLAINT: clusters are not those of the signatures");
	process.exit(1);
}
console.log(`outputcheck: ${rows.length} signatures, ${said.size} clusters`);
