//go:build tools

// Package judge pins the verifier of internetarchive/gowarc, a judge of our archives; strict reads with nlnwa/gowarc. It
// is a module of its own, so that nothing that the judges need becomes a dependency of the crawler.
package judge

import _ "github.com/internetarchive/gowarc/cmd/warc"
