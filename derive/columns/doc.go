// Package columns makes a columnar index of WARC files: Parquet with the schema of Common Crawl's cc-index table, its
// names, types, order and partitions. So queries that are written for that table run on it.
//
// It reads no pages beyond their first bytes, unless a detector finds out their languages. With an index beside the
// file, damage behind them is not found.
//
//	Record --> capture (compact, in memory) --sort by url_surtkey--> Row --> parquet writer
//
//	DIR/parquet/crawl=NAME/subset=warc/STEM-000.gz.parquet               status 200
//	                       subset=robotstxt/STEM-000.gz.parquet          robots.txt
//	                       subset=crawldiagnostics/STEM-000.gz.parquet   all else
//	DIR/parquet/_SUCCESS
//
// A row corresponds to a line of the CDXJ index: url_surtkey, fetch_time, fetch_status, content_digest,
// content_mime_type, offset and length are the same. Rows of a file are sorted by url_surtkey. A WARC file has one
// Parquet file for each subset, and more if its rows need more memory than Options.Memory.
//
// Offsets and lengths have 32 bits in this schema: a record beyond 2 GiB is a fault and has no row.
//
// A Table may be used by several goroutines. A writer belongs to one.
package columns
