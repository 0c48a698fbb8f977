// Package inspect holds the commands that read crawl directories: fsck (with --rebuild), audit and skipped.
package inspect
