// Package inventory reads closed WARC files for a manifest that lacks their lines.
//
//   - Read returns the facts of one file.
//   - Complete adds what a kill has left out, when a crawl opens its archive.
//   - CompleteAll adds all files of a directory, of any crawler.
package inventory
