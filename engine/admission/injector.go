package admission

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"orbweaver/engine/cluster"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/queued"
	"orbweaver/internal/urlx"
)

// Injector offers the URLs of an operator as seeds. It is for one call of Add.
type Injector struct {
	Frontier   *Frontier
	Seeds      *filter.Seeds
	Journal    *journal.Store
	IsStopping func() bool
	Wake       func() // wakes the distributor

	Refused bool // Add ended early
	scratch Scratch
}

// Add offers URLs as fast as there is room for them. The error names the first of those that are no URLs; the others
// are added all the same.
func (i *Injector) Add(ctx context.Context, urls iter.Seq[string]) (added int, err error) {
	var bad badURLs
	for raw := range urls {
		url, err := urlx.Normalize(nil, []byte(raw))
		if err != nil {
			bad.add(raw, errors.New(urlx.Reason(err)))
			continue
		}
		if err := i.Seeds.Add(url); err != nil {
			bad.add(raw, err)
			continue
		}
		if err := i.Frontier.WaitRoom(ctx); err != nil {
			i.Refused = true
			return added, errors.Join(bad.err(), err)
		}
		if !i.add(url) {
			i.Refused = true
			return added, errors.Join(bad.err(), cluster.ErrEnding)
		}
		if added++; added%1024 == 0 {
			i.Wake()
		}
	}
	i.Wake()
	if added == 0 && i.IsStopping() {
		err = cluster.ErrEnding
	}
	return added, errors.Join(bad.err(), err)
}

// add offers one URL, unless the crawl stops: then the last checkpoint might have been taken already.
func (i *Injector) add(url []byte) bool {
	i.Journal.Steps.Begin()
	defer i.Journal.Steps.End()
	if i.IsStopping() {
		return false
	}
	i.Frontier.Add(&i.scratch, url, queued.URL{Seed: true})
	return true
}

// badURLs collects what is no URL: the first few by name, the others by their number.
type badURLs struct {
	named []error
	more  int
}

func (b *badURLs) add(raw string, why error) {
	if len(b.named) == BadSeedsLogged {
		b.more++
		return
	}
	b.named = append(b.named, fmt.Errorf("%.200q: %w", raw, why))
}

func (b *badURLs) err() error {
	if b.more > 0 {
		return errors.Join(append(b.named, fmt.Errorf("engine: and %d more", b.more))...)
	}
	return errors.Join(b.named...)
}
