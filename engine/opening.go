package engine

import "time"

// Opening is what the time of an Open went into. A new crawl has nothing to load and nothing to replay.
type Opening struct {
	Rooms      time.Duration // files of the rooms: indexes read, what is behind the cut taken back
	Bench      time.Duration // sites and what waits for them
	Replay     time.Duration // what the journal names, brought in again
	Checkpoint time.Duration // the first cut, durable before anything is fetched
	Entries    int           // of the journal
	Links      int           // that they led to
}
