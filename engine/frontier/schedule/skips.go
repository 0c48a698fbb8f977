package schedule

import (
	"orbweaver/engine/state/counters"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps"
	"orbweaver/engine/traps/novelty"
	"orbweaver/internal/outcome"
)

// skipList skips URLs, for the Distributor: a skipped URL gets its outcome and a place in the list of package skipped.
type skipList struct {
	list     *traps.SkippedList
	dead     *DeadSites
	counters *counters.Live
}

// skip skips a URL, whole in it.Rest. A URL that an earlier run finished keeps its outcome.
func (s *skipList) skip(it *queued.URL, rule traps.Rule, why novelty.Evidence) error {
	if s.dead.DropIfFinished(it.Rest, it) {
		return nil
	}
	if err := s.list.Add(it, rule, why); err != nil {
		return err
	}
	s.counters.Skipped[rule].Add(1)
	s.dead.finish(it.Rest, it, outcomeOf(rule))
	return nil
}

// outcomeOf is the outcome of URLs that are skipped by a rule.
func outcomeOf(rule traps.Rule) outcome.Outcome {
	if rule == traps.RuleRequisitesOfPage || rule == traps.RuleRequisitesOfSite {
		return outcome.QuotaRequisites
	}
	return outcome.Novelty
}

// hasMore reports whether URLs are left that were skipped under a stricter setting.
func (s *skipList) hasMore() bool { return s.list.RequeueCount > 0 }

// next takes the oldest such URL back, if there is one, and appends it to scratch: it has no outcome now.
func (s *skipList) next(scratch []byte) (item []byte, ok bool, err error) {
	if !s.hasMore() {
		return scratch, false, nil
	}
	item, rule, err := s.list.Next()
	if err != nil {
		return scratch, false, err
	}
	it := queued.MustDecode(item)
	s.counters.Skipped[rule].Add(-1)
	s.dead.requeue(it.Rest, &it, outcomeOf(rule))
	it.Excess = it.Excess && !s.list.RequeueExcess
	return queued.Append(scratch, &it), true, nil
}
