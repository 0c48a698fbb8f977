// Package warc writes and reads WARC archives.
package warc
