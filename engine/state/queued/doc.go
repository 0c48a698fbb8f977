// Package queued defines the URL as the frontier carries it, from admission to a fetch worker, and its encoded form in
// memory and on disk. The encoded form is also described in docs/formats.md; a change of it needs a new version of the
// crawl directory.
package queued
