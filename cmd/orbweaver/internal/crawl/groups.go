package crawl

import "github.com/alecthomas/kong"

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
