// Package layout names the files and directories of a crawl. All names are relative to the crawl directory and use a
// slash. docs/formats.md says what is in them.
package layout
