package logreport

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"orbweaver/internal/outcome"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
)

// SeedState is what became of a seed, in one word.
type SeedState string

// The states, those that need a look first.
const (
	SeedFailed     SeedState = "failed" // no usable answer, and it is not tried again
	SeedRefused    SeedState = "refused"
	SeedQueued     SeedState = "queued"
	SeedElsewhere  SeedState = "other-agent"
	SeedRedirected SeedState = "redirected"
	SeedFetched    SeedState = "fetched"
)

// SeedStates returns all states, those that need a look first.
func SeedStates() []SeedState {
	return []SeedState{SeedFailed, SeedRefused, SeedQueued, SeedElsewhere, SeedRedirected, SeedFetched}
}

// SeedOrder is how a list of seeds is sorted.
type SeedOrder string

// The orders. Seeds that are equal stay in the order of the list.
const (
	SortAsGiven SeedOrder = "given"
	SortByState SeedOrder = "state" // those that need a look come first
	SortByURL   SeedOrder = "url"
	SortByTime  SeedOrder = "time" // the last attempt comes first
)

// SeedQuery says which seeds are wanted.
type SeedQuery struct {
	Sort    SeedOrder // "" is SortAsGiven
	State   SeedState // "" for all
	Outcome string    // "" for all
	Suffix  string    // of the name of the host, at a dot; "" for all
	Limit   int       // 1 to SeedsListed; 0 is 50

	Owner func(url []byte) string // the ID of the agent that owns a seed, if another one; "" if not
}

// SeedsListed is the most seeds in an answer.
const SeedsListed = 1000

// Seed is a seed, and what became of it.
type Seed struct {
	URL          string    `json:"url"`
	State        SeedState `json:"state"`
	Outcome      string    `json:"outcome"` // as in crawl.log; "queued" without one
	Status       int       `json:"status"`  // of the last attempt; 0 without one
	RedirectedTo string    `json:"redirected_to,omitempty"`
	Time         string    `json:"time,omitempty"`      // of the last attempt
	Owner        string    `json:"owner,omitempty"`     // the agent that owns its host, if another one
	WaitsFor     string    `json:"waits_for,omitempty"` // why a queued seed is not fetched now
}

// SeedList is the answer to a SeedQuery.
type SeedList struct {
	Seeds    []Seed            `json:"seeds"`
	Matching int               `json:"matching"` // also those that are not listed
	States   map[SeedState]int `json:"states"`   // of all seeds
}

// check fills in the defaults of a SeedQuery and says what is wrong with it.
func (q *SeedQuery) check() error {
	if q.Sort == "" {
		q.Sort = SortAsGiven
	}
	if orders := []SeedOrder{SortAsGiven, SortByState, SortByURL, SortByTime}; !slices.Contains(orders, q.Sort) {
		return fmt.Errorf("logreport: sort: %q is not one of %v", q.Sort, orders)
	}
	if q.State != "" && !slices.Contains(SeedStates(), q.State) {
		return fmt.Errorf("logreport: state: %q is not one of %v", q.State, SeedStates())
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	if q.Limit < 1 || q.Limit > SeedsListed {
		return fmt.Errorf("logreport: limit: %d is not between 1 and %d", q.Limit, SeedsListed)
	}
	q.Suffix = strings.ToLower(strings.TrimPrefix(q.Suffix, "."))
	return nil
}

func (q *SeedQuery) matches(s *Seed) bool {
	if q.State != "" && s.State != q.State || q.Outcome != "" && s.Outcome != q.Outcome {
		return false
	}
	if q.Suffix == "" {
		return true
	}
	rest, ok := strings.CutSuffix(string(urlx.Host([]byte(s.URL))), q.Suffix)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}

// compare orders two seeds.
func (q *SeedQuery) compare(a, b Seed) int {
	switch q.Sort {
	case SortByState:
		return cmp.Compare(slices.Index(SeedStates(), a.State), slices.Index(SeedStates(), b.State))
	case SortByURL:
		return cmp.Compare(a.URL, b.URL)
	case SortByTime:
		return cmp.Compare(b.Time, a.Time)
	default:
		return 0
	}
}

// ListSeeds reads the log of the crawl in dir for what became of its seeds. The crawl may run.
func ListSeeds(ctx context.Context, fsys vfs.FS, dir string, q SeedQuery) (list SeedList, err error) {
	if err := q.check(); err != nil {
		return list, err
	}
	list = SeedList{Seeds: []Seed{}, States: map[SeedState]int{}}
	from, err := PassBegin(fsys, dir)
	if err != nil {
		return list, err
	}
	r, err := Make(ctx, fsys, dir, []Kind{Seeds}, Options{From: from})
	if err != nil {
		return list, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	outcomes := outcomesByName()
	err = r.eachSeed(ctx, func(url string, found *seed) error {
		s := Seed{
			URL: url, Outcome: found.outcome, Status: found.status, RedirectedTo: found.location, Time: found.time,
			State: seedState(found.outcome, outcomes), Owner: q.Owner([]byte(url)),
		}
		if s.State == SeedQueued && s.Owner != "" {
			s.State = SeedElsewhere
		}
		list.States[s.State]++
		if !q.matches(&s) {
			return nil
		}
		list.Matching++
		if list.Seeds = append(list.Seeds, s); len(list.Seeds) >= 2*SeedsListed {
			list.Seeds = q.first(list.Seeds)
		}
		return nil
	})
	list.Seeds = q.first(list.Seeds)
	return list, err
}

// first sorts seeds and drops those behind the limit.
func (q *SeedQuery) first(seeds []Seed) []Seed {
	slices.SortStableFunc(seeds, q.compare)
	if len(seeds) > q.Limit {
		clear(seeds[q.Limit:])
		seeds = seeds[:q.Limit]
	}
	return seeds
}

// seedState is the state that follows from the outcome of a seed.
func seedState(name string, outcomes map[string]outcome.Outcome) SeedState {
	o, known := outcomes[name]
	switch {
	case name == seedQueued:
		return SeedQueued
	case o == outcome.HandedOver:
		return SeedElsewhere
	case o == outcome.OK, o == outcome.NotModified:
		return SeedFetched
	case o == outcome.Redirect:
		return SeedRedirected
	case !known, o.Class() == outcome.ClassRefusal: // a seed that was not admitted has no outcome
		return SeedRefused
	default:
		return SeedFailed
	}
}
