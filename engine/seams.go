package engine

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"time"

	"orbweaver/dnsres"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/login"
	"orbweaver/engine/operate/changes"
	"orbweaver/engine/operate/upload"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/workers/parsers"
	"orbweaver/internal/vfs"
)

// Seams are the joints to the outside world: all that a simulated world replaces.
type Seams struct {
	// FS is the disk.
	FS vfs.FS
	// Dialer makes connections to web servers and proxies, and decides which addresses may be reached.
	Dialer fetch.Dialer
	// Resolver turns names into addresses.
	Resolver Resolver
	// Allowed says whether an address and port may be connected to, or a proxy be asked for them, with an error that
	// wraps addrguard.ErrBlockedAddress or addrguard.ErrBlockedPort; nil if everything may.
	Allowed func(netip.AddrPort) error
	// Peering is the way to the other agents; nil for a crawl alone.
	Peering cluster.Network
	// Logins are the passwords of hosts; nil for none.
	Logins *login.Logins
	// Usage gives this process's CPU time and peak resident memory; nil if it is not needed.
	Usage func() (cpu time.Duration, rssPeak int64)
	// Boot tells which run of the machine this is; nil if that is unknown.
	Boot lifecycle.Boot
	// Settings keeps settings that change while the crawl runs; nil if the program knows them.
	Settings changes.File
	// OwnSettings are settings of the program that can be changed while the crawl runs.
	OwnSettings []changes.Own
	// Inbox is asked whether URLs wait to be added; nil if there is none.
	Inbox interface{ IsPending() bool }
	// Uploads are closed WARC files that are sent; nil if none are, which Open replaces.
	Uploads upload.Source
	// Hook starts the program of --hook; nil if there is none.
	Hook hook.Starter
	// OnPage is called for each page just before it is stored, by several parse workers; nil for nothing.
	OnPage func(p *parsers.SeenPage)
	// Log takes what an operator should read.
	Log *slog.Logger
}

// Resolver is the seam to the name system; dnsres.Resolver and dnsres.Hashed are its implementations.
type Resolver interface {
	Resolve(ctx context.Context, name string) dnsres.Answer
}

// Opening says what an Open took time for. A new crawl has nothing to load and nothing to replay.
type Opening struct {
	Components time.Duration // opening files: indexes are read, and what is behind the checkpoint is removed
	Bench      time.Duration // loading the workbench
	Replay     time.Duration // of the journal
	Checkpoint time.Duration // the first one, durable before anything is fetched
	Entries    int           // of the journal
	Links      int           // of these entries
}

// Disk returns the file system for the crawls in dirs. Only the owner may read what a crawl writes (settings, report,
// frontier, logs), except the archive and the lists of superseded captures: they follow the umask, since other programs
// replay and index them.
func Disk(dirs ...string) vfs.FS {
	var shared []string
	for _, dir := range dirs {
		for _, part := range []string{layout.ArchiveDir, recovery.MarksDir} {
			shared = append(shared, filepath.ToSlash(filepath.Join(filepath.FromSlash(dir), part)))
		}
	}
	return vfs.PrivateDisk(shared...)
}
