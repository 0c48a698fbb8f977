package schedule

import (
	"orbweaver/engine/novelty"
	"orbweaver/engine/queued"
	"orbweaver/engine/skipped"
	"orbweaver/internal/outcome"
)

// skipList skips URLs, for the Distributor: a skipped URL gets its outcome and a place in the list of package skipped.
type skipList struct {
	list *skipped.List
	dead *DeadSites
}

// skip skips a URL, whole in it.Rest. A URL that an earlier run finished keeps its outcome.
func (s *skipList) skip(key []byte, it *queued.URL, rule skipped.Rule, why novelty.Evidence) error {
	if o := s.dead.FinishedAs(it.Rest); o != outcome.None {
		done := *it
		done.Rest = it.Rest[len(key):]
		s.dead.DropUnlessFinished(key, queued.Append(nil, &done), o)
		return nil
	}
	if err := s.list.Add(it, rule, why); err != nil {
		return err
	}
	s.dead.Counters.Finish(outcome.Novelty, 1)
	s.dead.Counters.Skipped[rule].Add(1)
	s.dead.Log.Refusal(it.Rest, it, outcome.Novelty, 0)
	return nil
}

// hasMore reports whether URLs are left that were skipped under a stricter setting.
func (s *skipList) hasMore() bool { return s.list.RequeueCount > 0 }

// next takes the oldest such URL back: it has no outcome now.
func (s *skipList) next() (item []byte, err error) {
	item, rule, err := s.list.Next()
	if err != nil {
		return nil, err
	}
	it := queued.MustDecode(item)
	s.dead.Log.Requeue(it.Rest, &it, outcome.Novelty)
	s.dead.Counters.Finish(outcome.Novelty, -1)
	s.dead.Counters.Skipped[rule].Add(-1)
	return item, nil
}
