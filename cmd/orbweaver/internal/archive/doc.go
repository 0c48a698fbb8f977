// Package archive holds the commands that read WARC files: warc ls, cat, verify, index and train.
package archive
