// Package settings holds what an operator may change while the crawl runs: the delays, the fetch filter (Live), and the
// rules of single hosts (HostRules), which are kept in a file of the crawl directory. ClampLog logs what sites ask for
// beyond the settings.
package settings
