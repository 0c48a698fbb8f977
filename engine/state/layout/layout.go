package layout

import (
	"errors"
	"fmt"
	"strings"

	"orbweaver/internal/vfs"
)

// The parts of a crawl directory.
const (
	FrontierDir   = "frontier"
	ArchiveDir    = "warc"
	LogsDir       = "logs"
	ReportsDir    = "reports"
	UploadsDir    = "uploads"    // receipts for WARC files that were sent; need not be there
	SettingsFile  = "crawl.toml" // of the command crawl; need not be there
	LockFile      = FrontierDir + "/lock"
	ManifestFile  = FrontierDir + "/MANIFEST"
	SieveDir      = FrontierDir + "/sieve"
	ReadyDir      = FrontierDir + "/ready"
	UrgentDir     = FrontierDir + "/urgent" // ready URLs that precede the others
	QueuesDir     = FrontierDir + "/queues"
	SkippedDir    = FrontierDir + "/" + SkippedName // need not be there
	SeenDir       = FrontierDir + "/seen"
	NearDir       = FrontierDir + "/near" // texts of pages, of --near-duplicates; need not be there
	ColdDir       = FrontierDir + "/cold"
	CacheFile     = FrontierDir + "/cache"
	AgentsDir     = FrontierDir + "/agent-payloads" // of --dedup-agents; made again if it is missing
	OthersDir     = FrontierDir + "/other-payloads" // of --dedup-from; made again if it is missing
	FeedDir       = FrontierDir + "/feed"           // made again from the archive if it is missing
	SeedsFile     = FrontierDir + "/seeds"
	AddedSeeds    = SeedsFile + "-added"          // of an operator, while the crawl ran; need not be there
	HostRulesFile = FrontierDir + "/host-rules"   // need not be there
	BodiesDir     = FrontierDir + "/bodies"       // bodies on their way to the archive
	SessionsFile  = FrontierDir + "/tls-sessions" // of TLS, beyond their memory; removed at the end of a run
	ReportFile    = "report.json"
	OutboxDir     = FrontierDir + "/outbox"  // messages for other agents; only of a crawl with several
	HistoryFile   = LogsDir + "/history"     // numbers over time, for the dashboard; need not be there
	FetchedDir    = FrontierDir + "/fetched" // URLs that have an answer; only of a crawl with several
)

// SkippedName is the list of URLs left out, relative to FrontierDir.
const SkippedName = "skipped"

// EachGeneration calls f for the files of the workbench, of URLs in flight, of the outbox and of the journal.
func EachGeneration(fsys vfs.FS, dir string, f func(name, kind string, generation uint64) error) error {
	names, err := fsys.List(dir)
	if err != nil {
		return fmt.Errorf("layout: checkpoint: %w", err)
	}
	for _, name := range names {
		for _, kind := range []string{"bench-", "aloft-", "outbox-", "journal-"} {
			var g uint64
			number, ok := strings.CutPrefix(name, kind)
			if !ok {
				continue
			}
			if _, err := fmt.Sscanf(number, "%d", &g); err != nil {
				continue
			}
			if err := f(dir+"/"+name, kind, g); err != nil {
				return fmt.Errorf("layout: checkpoint: %w", err)
			}
		}
	}
	return nil
}

// RemoveOlder deletes the files of generations before keep, except workbench files whose generation is named.
func RemoveOlder(fsys vfs.FS, dir string, keep uint64, named func(generation uint64) bool) error {
	return EachGeneration(fsys, dir, func(name, kind string, g uint64) error {
		if g >= keep || (kind == "bench-" && named(g)) {
			return nil
		}
		return vfs.RemoveIfExists(fsys, name)
	})
}

// Youngest is the highest generation that any file has. A new one must be higher: what a power cut left of an older
// file of the same name could show through.
func Youngest(fsys vfs.FS, dir string) (generation uint64, err error) {
	err = EachGeneration(fsys, dir, func(_, _ string, g uint64) error {
		generation = max(generation, g)
		return nil
	})
	return generation, err
}

// ErrInUse says that another process works in the crawl directory: it holds the lock.
var ErrInUse = errors.New("layout: the crawl directory is in use by another process")
