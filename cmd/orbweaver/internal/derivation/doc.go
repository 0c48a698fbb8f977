// Package derivation holds the commands derive and graph: other files made from WARC files, and ranks of graphs.
package derivation
