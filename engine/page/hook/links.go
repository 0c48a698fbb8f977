package hook

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
)

// Links asks the program of --hook link=CMD. Safe for concurrent use.
type Links struct {
	*Hook

	links, drops atomic.Int64 // of the questions, and of their answers
}

// batchLinks is how many links of a page are in one question.
const batchLinks = 1000

// LinkStats are the numbers of this run.
type LinkStats struct {
	Questions map[string]int64 `json:"questions" metric:"link_hook_questions_total" label:"result" help:"Questions about links by what came back, as of hook_pages_total. In this run."`
	Links     int64            `json:"links" metric:"link_hook_links_total" help:"Links in them."`
	Dropped   int64            `json:"dropped" metric:"link_hook_dropped_total" help:"Links that answers dropped."`
	Starts    int64            `json:"starts" metric:"link_hook_starts_total" help:"Starts of the program that is asked about links."`
	Waited    float64          `json:"waited_seconds" metric:"link_hook_waited_seconds_total" help:"Time that parse workers have waited for it, in all."`
	Error     string           `json:"error,omitempty"` // why it failed last; "" since its next answer
}

// NewLinks returns a Links that starts the program of the options with the first question.
func NewLinks(o Options, starter Starter, log *slog.Logger) *Links {
	return &Links{Hook: newHook(LinkKind, o, starter, log)}
}

// Drops asks about the links of a page, in batches. It returns the places of those to drop, which ascend. A batch
// without an answer has none. An error is that of ctx.
func (l *Links) Drops(ctx context.Context, page string, depth int, links []Link) (places []int, err error) {
	begin := 0
	for batch := range slices.Chunk(links, batchLinks) {
		a, err := l.askQuestion(ctx, &LinkQuestion{URL: page, Depth: depth, Links: batch}, nil)
		if err != nil {
			return nil, err
		}
		l.links.Add(int64(len(batch)))
		if a != nil {
			slices.Sort(a.Drop)
			for _, place := range slices.Compact(a.Drop) {
				if place < len(batch) {
					places = append(places, begin+place)
				}
			}
		}
		begin += len(batch)
	}
	l.drops.Add(int64(len(places)))
	return places, nil
}

// Stats returns the numbers as they are now; nil if no program is asked.
func (l *Links) Stats() *LinkStats {
	of := l.Hook.Stats()
	if of == nil {
		return nil
	}
	return &LinkStats{
		Questions: of.Pages, Links: l.links.Load(), Dropped: l.drops.Load(), Starts: of.Starts, Waited: of.Waited,
		Error: of.Error,
	}
}
