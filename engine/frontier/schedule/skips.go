package schedule

import (
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps/novelty"
	"orbweaver/engine/traps/skipped"
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
	o := outcomeOf(rule)
	s.dead.Counters.Finish(o, 1)
	s.dead.Counters.Skipped[rule].Add(1)
	s.dead.Log.Refusal(it.Rest, it, o, 0)
	return nil
}

// outcomeOf is the outcome of URLs that are skipped by a rule.
func outcomeOf(rule skipped.Rule) outcome.Outcome {
	if rule == skipped.RuleRequisitesOfPage || rule == skipped.RuleRequisitesOfSite {
		return outcome.QuotaRequisites
	}
	return outcome.Novelty
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
	s.dead.Log.Requeue(it.Rest, &it, outcomeOf(rule))
	s.dead.Counters.Finish(outcomeOf(rule), -1)
	s.dead.Counters.Skipped[rule].Add(-1)
	if it.Excess && s.list.RequeueExcess {
		it.Excess = false
		item = queued.Append(nil, &it)
	}
	return item, nil
}
