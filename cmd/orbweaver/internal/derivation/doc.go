// Package derivation holds the command derive: other files made from WARC files.
package derivation
