// Package recrawl holds the scenarios of --refresh: conditional requests, unchanged pages, and a recrawl that is
// killed.
// Package testbed describes how they run.
package recrawl
