// Package skipped is the list of URLs that were left out as parts of traps, on disk, with the rule and its evidence. A
// resume whose settings leave out less queues them again. The format is in docs/formats.md.
package skipped
