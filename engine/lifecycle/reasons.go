package lifecycle

// The reasons in report.json.
const (
	ReasonComplete = "complete"
	ReasonLate     = "the crawl of the others was over when this agent came: " +
		"run it again to crawl what is new in its seeds"
	ReasonStalled  = "all sites with queued URLs fail or ask to slow down: run the same command again to go on"
	ReasonMaxPages = "max-pages reached"
	ReasonMaxDisk  = "max-disk reached"
	ReasonMaxTime  = "max-time reached"
	ReasonSignal   = "stopped"
	ReasonLeft     = "left permanently: the other agents have everything"
	ReasonLost     = "no place among the other agents"
)

// ReasonRebuilt is why a rebuilt crawl is stopped.
const ReasonRebuilt = "rebuilt from the archive"

// IsLimit says that a crawl ended because it reached a limit, which a later run may raise.
func IsLimit(reason string) bool {
	return reason == ReasonMaxPages || reason == ReasonMaxDisk || reason == ReasonMaxTime
}
