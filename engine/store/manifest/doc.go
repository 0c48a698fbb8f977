// Package manifest is the file that says what a crawl directory holds: the generation and length of every file of the
// frontier and the state of every component, as of the last checkpoint. The file is replaced in one step. What it does
// not name does not exist.
//
// engine/durable/checkpoint writes it. Open reads it and opens each component with its part. engine/check/fsck reads it
// from outside. docs/formats.md describes the form; bench/golden has files that earlier versions wrote.
package manifest
