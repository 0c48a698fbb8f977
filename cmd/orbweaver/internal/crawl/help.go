package crawl

import "github.com/alecthomas/kong"

// longHelp is what --help=all says about a crawl, besides its flags, and what the man page says.
func longHelp() string {
	return `The crawl ends when nothing is left, at a limit, or at a signal. The first signal finishes the exchanges in
flight, the second stops at once. The crawl also stops when only failing sites have queued URLs
(--stall-wait). The same command resumes the crawl. Exit status: 0 finished; 1 failed, also when no page
could be fetched; 2 wrong usage; 3 stalled with URLs queued; 4 finished, and its archive was not sent;
130 stopped by a signal.

Expressions are those of https://expr-lang.org. All five filters know url, site, scheme, host, port, domain,
path, query, depth, hops, seed, in_host, in_domain and in_prefix. --fetch also knows try and, with
--warc-via, via. --follow knows kind, nofollow, via, via_host, via_domain, same_host, same_domain, and
status and content_type of the page. --parse and --store know status, content_type, size and truncated.
--store knows duplicate and, with --warc-via, via. docs/filters.md has more.

` + shortHelp() + `
  orbweaver crawl --dir crawl --refresh                        # after its end: again, for what has changed
  orbweaver crawl --seeds seeds.txt.gz --config crawl.toml
  orbweaver crawl --scope all --proxy http://127.0.0.1:8080 --resolver hashed --seeds seeds.txt   # a simulated web
  orbweaver crawl --scope 'in_domain && depth <= 5' --follow 'kind != "image" && not nofollow' https://example.org/
  orbweaver crawl --surts surts.txt --exclude-extensions jpg,png,mp4 --store 'status == 200' --seeds seeds.txt
  orbweaver crawl --host-rules hosts.txt --seeds seeds.txt     # .example.org host-delay=20s max-per-host=1000
  orbweaver crawl --dir crawl --dry-run --depth 2 https://example.org/a.jpg     # what would happen to it, and why`
}

// shortHelp is what --help says about a crawl, besides its flags.
func shortHelp() string {
	return presetsHelp() + `
Examples:
  orbweaver crawl --contact you@example.org --preset site https://www.example.org/
  orbweaver crawl --contact https://example.org/crawl --max-pages 10000 https://example.org/
  orbweaver crawl --dir crawl                                  # resume the crawl in this directory`
}

// Groups are the headings of the flags, in --help, the man page and the sample configuration. Their order is that of
// the first flag of each.
func Groups() []kong.Group {
	return []kong.Group{
		{Key: "common", Title: "What each crawl needs:"},
		{Key: "scope", Title: "Which URLs are fetched and kept (docs/filters.md, docs/traps.md):"},
		{Key: "polite", Title: "Delays and tries:"},
		{Key: "requests", Title: "Requests:"},
		{Key: "limits", Title: "Limits:"},
		{Key: "archive", Title: "The archive (docs/warc.md):"},
		{Key: "memory", Title: "Memory and checkpoints:"},
		{Key: "network", Title: "Network, passwords and cookies:"},
		{Key: "control", Title: "Control and messages:"},
		{Key: "upload", Title: "Sending closed WARC files elsewhere (docs/guide/upload.md):"},
		{
			Key:   "agents",
			Title: "Several agents that share a crawl (docs/cluster-use.md):",
			Description: "Example, on each machine with its own name and addresses, and all with the same seeds and " +
				"limits:\norbweaver crawl --agent a1 --agent-file a1.agent --gossip 192.0.2.1:7946 " +
				"--join 192.0.2.2:7946 --agents 2 --seeds seeds.txt",
		},
	}
}
