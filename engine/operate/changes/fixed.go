package changes

import (
	"fmt"
	"maps"
	"slices"
)

// fixed are the reasons why settings cannot be changed while a crawl runs. Each completes "it cannot be changed while
// the crawl runs: ...".
func fixed() map[string]string {
	const (
		table    = "its tables are made at the start, in their size"
		warcInfo = "the open WARC files state it"
		archive  = "the open WARC files are written by it"
		workers  = "the fetch workers have it from their start"
		guard    = "the guard of all connections has it from the start"
		names    = "the resolver has it from the start"
		output   = "standard error has it from the start"
		control  = "the control address is open"
		agents   = "all agents of the crawl go by it"
		start    = "it is for the start of a run"
		senders  = "what sends WARC files has it from the start"
	)
	reasons := map[string]string{}
	for reason, settings := range map[string][]string{
		table: {
			"cache-memory", "sieve-memory", "dedup-memory", "novelty-memory", "near-duplicates", "near-duplicates-max",
		},
		warcInfo: {"user-agent", "contact", "operator", "description", "is-part-of", "warc-info", "http2", "probe-h2"},
		archive: {
			"warc-compression", "warc-level", "warc-size", "warc-metadata", "warc-via", "warc-outlinks", "warc-dns",
			"warc-prefix", "warc-dictionary", "warc-manifest",
		},
		workers: {
			"tls", "header", "keep-alive", "proxy", "cookies", "load-cookies", "netrc", "max-body-files",
		},
		guard:   {"allow-net", "deny-net", "allow-port"},
		names:   {"resolver", "dns-ttl-min", "dns-ttl-max"},
		output:  {"log-format", "progress", "quiet", "json"},
		control: {"listen", "listen-name", "token"},
		agents: {
			"agents", "agent", "agent-file", "agent-plain", "agent-listen", "agent-return-wait", "gossip", "join", "capacity",
			"assign", "quorum", "recover", "peer-quota", "dedup-agents",
		},
		"the indexes of the other archives are read at the start": {"dedup-from", "dedup-max-age"},
		senders: {
			"on-warc-close", "on-warc-close-parallel", "on-warc-close-timeout", "upload", "upload-endpoint",
			"upload-parallel", "upload-part", "upload-then", "upload-wait",
		},
		"the list of skipped URLs goes by it": {"max-requisites-per-page"},
		start: {
			"dir", "config", "preset", "refresh", "refresh-from-store", "dry-run", "depth", "trust-dir",
		},
		"each site has its place by it":     {"ipv6-prefix"},
		"URLs that are known have it":       {"normal-form"},
		"each ready URL has a class by it":  {"score"},
		"the order has it from the start":   {"budgets"},
		"each site has its tries by it":     {"mine", "mine-most"},
		"the program has it from its start": {"hook", "hook-full", "hook-memory", "hook-parallel", "hook-timeout"},
		"its sum is kept from the start":    {"stat"},
		"'ctl add --seeds' adds URLs":       {"seeds"},
	} {
		for _, name := range settings {
			reasons[name] = reason
		}
	}
	return reasons
}

// Fixed returns the settings that cannot be changed while a crawl runs, in order, and the reason of each.
func Fixed() (names []string, reasons map[string]string) {
	reasons = fixed()
	return slices.Sorted(maps.Keys(reasons)), reasons
}

// Changeable returns the names of the settings that can be changed while a crawl runs, except those of its program.
func Changeable() (names []string) {
	for _, r := range rows() {
		names = append(names, r.name)
	}
	slices.Sort(names)
	return names
}

// fixedFault says that a setting cannot be changed now, and what to do.
func fixedFault(name, reason string) error {
	if reason != "" {
		reason = ", since " + reason
	}
	return fmt.Errorf(
		"it cannot be changed while the crawl runs%s: stop the crawl, and give --%s when you resume it", reason, name)
}
