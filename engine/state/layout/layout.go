package layout

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
	HostRulesFile = FrontierDir + "/host-rules" // need not be there
	BodiesDir     = FrontierDir + "/bodies"     // bodies on their way to the archive
	ReportFile    = "report.json"
	OutboxDir     = FrontierDir + "/outbox"  // messages for other agents; only of a crawl with several
	HistoryFile   = LogsDir + "/history"     // numbers over time, for the dashboard; need not be there
	FetchedDir    = FrontierDir + "/fetched" // URLs that have an answer; only of a crawl with several
)

// SkippedName is the list of URLs left out, relative to FrontierDir.
const SkippedName = "skipped"
