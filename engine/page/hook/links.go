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

	links, drops, scores atomic.Int64 // of the questions, and of their answers
}

const (
	batchLinks = 1000 // links of a page in one question
	scoreMost  = 15   // as of --score
)

// LinkStats are the numbers of this run.
type LinkStats struct {
	Questions map[string]int64 `json:"questions" metric:"link_hook_questions_total" label:"result" help:"Questions about links by what came back, as of hook_pages_total. In this run."`
	Links     int64            `json:"links" metric:"link_hook_links_total" help:"Links in them."`
	Dropped   int64            `json:"dropped" metric:"link_hook_dropped_total" help:"Links that answers dropped."`
	Scored    int64            `json:"scored" metric:"link_hook_scored_total" help:"Links that answers gave a score."`
	Starts    int64            `json:"starts" metric:"link_hook_starts_total" help:"Starts of the program that is asked about links."`
	Waited    float64          `json:"waited_seconds" metric:"link_hook_waited_seconds_total" help:"Time that parse workers have waited for it, in all."`
	Error     string           `json:"error,omitempty"` // why it failed last; "" since its next answer
}

// NewLinks returns a Links that starts the program of the options with the first question.
func NewLinks(o Options, starter Starter, log *slog.Logger) *Links {
	return &Links{Hook: newHook(LinkKind, o, starter, log)}
}

// Verdict is what a program says of the links of a page.
type Verdict struct {
	Drop   []int // places of those to drop, which ascend
	Scores []int // of the links up to the last one that has a score; below 0 for none
}

// Judge asks about the links of a page, in batches. q has what is known of the page. Links of a batch
// without an answer are kept as they are. An error is that of ctx.
func (l *Links) Judge(ctx context.Context, q LinkQuestion, body []byte, links []Link) (v Verdict, err error) {
	begin := 0
	for q.Links = range slices.Chunk(links, batchLinks) {
		a, err := l.askQuestion(ctx, &q, body)
		if err != nil {
			return Verdict{}, err
		}
		l.links.Add(int64(len(q.Links)))
		if a != nil {
			v.add(a, begin, len(q.Links))
		}
		begin += len(q.Links)
	}
	l.drops.Add(int64(len(v.Drop)))
	for _, score := range v.Scores {
		if score >= 0 {
			l.scores.Add(1)
		}
	}
	return v, nil
}

// add adds the answer about a batch. What it says of links that the batch does not have is ignored.
func (v *Verdict) add(a *Answer, begin, batch int) {
	slices.Sort(a.Drop)
	for _, place := range slices.Compact(a.Drop) {
		if place < batch {
			v.Drop = append(v.Drop, begin+place)
		}
	}
	scores := a.Scores[:min(len(a.Scores), batch)]
	if len(scores) == 0 {
		return
	}
	for len(v.Scores) < begin {
		v.Scores = append(v.Scores, -1)
	}
	for _, score := range scores {
		v.Scores = append(v.Scores, int(min(max(score, 0), scoreMost)))
	}
}

// Stats returns the numbers as they are now; nil if no program is asked.
func (l *Links) Stats() *LinkStats {
	of := l.Hook.Stats()
	if of == nil {
		return nil
	}
	return &LinkStats{
		Questions: of.Pages, Links: l.links.Load(), Dropped: l.drops.Load(), Scored: l.scores.Load(),
		Starts: of.Starts, Waited: of.Waited, Error: of.Error,
	}
}
