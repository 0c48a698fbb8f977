package lifecycle

// State is where a crawl stands.
type State string

// The states of report.json.
const (
	Running  State = "running"
	Paused   State = "paused"
	Finished State = "finished"
	Stopped  State = "stopped"
	Stalled  State = "stalled" // only failing sites have queued URLs; the crawl can be resumed
	Failed   State = "failed"
)
