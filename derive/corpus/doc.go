// Package corpus makes rows for builders of text corpora: one for each page that has text, with the field names of
// FineWeb, as JSON lines or Parquet, or those of OSCAR 23.01.
//
//	NAME.warc.gz --> DIR/corpus/NAME.jsonl.gz, NAME.parquet or NAME.jsonl.zst
//
// Nothing is filtered, and no page is left out because it resembles another. The language is the one that the page
// declares, unless a detector finds it out and gives a score. token_count is null without a vocabulary:
// FineWeb counts tokens of GPT-2, and no other number may have this name. word_count counts what white space separates.
// A row says where its record is: file_path, warc_record_offset and warc_record_length.
// Pipelines such as datatrove read id and text, and take the other fields as metadata.
//
// A row of OSCAR has the text, the header of the WET record that derive/extracts writes for the page, and the languages
// of the page and of its long lines. What its other tools compute is null.
//
// A Product may be used by several goroutines, a writer by one. Memory: a row group of Options.GroupBytes of text for
// Parquet.
package corpus
