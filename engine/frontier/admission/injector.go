package admission

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"orbweaver/engine/page/filter"
	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/plural"
	"orbweaver/internal/urlx"
)

// Injector offers the URLs of an operator as seeds. It is for one call of Add.
type Injector struct {
	Frontier   *Frontier
	Seeds      *filter.Seeds
	Steps      *journal.Steps
	IsStopping func() bool
	Wake       func() // wakes the distributor
	Added      *AddedSeeds

	Refused bool // Add ended early
	scratch Scratch
	kept    []byte // lines for Added
}

// keptMost is how many bytes of lines wait until they are kept.
const keptMost = 1 << 20

// Add offers URLs as fast as there is room for them, and returns what became of them. An error is a fault of the crawl:
// what is no URL is counted as refused, and the others are added all the same.
func (i *Injector) Add(ctx context.Context, urls iter.Seq[string]) (added Added, err error) {
	defer func() { err = errors.Join(err, i.keepLines()) }()
	for raw := range urls {
		text, left := SeedURL([]byte(raw))
		url, err := urlx.Normalize(nil, CompleteSeed(text))
		widens := err == nil && !i.Seeds.Has(url)
		if err == nil {
			err = i.Seeds.Add(url)
		}
		if err != nil {
			added.note(raw, Refused, urlx.Reason(err))
			continue
		}
		if err := i.Frontier.WaitRoom(ctx); err != nil {
			i.Refused = true
			return added, err
		}
		result, reason, ok := i.add(url)
		if !ok {
			i.Refused = true
			return added, cluster.ErrEnding
		}
		if result == New || result == Sent || result == Known && widens {
			i.kept = append(append(i.kept, url...), '\n')
		}
		if len(left) > 0 && reason == "" {
			reason = fmt.Sprintf("text beside the URL is left out: %.200s", left)
		}
		if added.note(string(url), result, reason); added.Count()%1024 == 0 {
			i.Wake()
		}
		if len(i.kept) >= keptMost {
			if err := i.keepLines(); err != nil {
				return added, err
			}
		}
	}
	i.Wake()
	if added.New+added.Known == 0 && i.IsStopping() {
		err = cluster.ErrEnding
	}
	return added, err
}

// keepLines keeps the lines that wait.
func (i *Injector) keepLines() error {
	err := i.Added.keepLines(i.kept)
	i.kept = i.kept[:0]
	return err
}

// add offers one URL, unless the crawl stops: then the last checkpoint might have been taken already.
func (i *Injector) add(url []byte) (result AddResult, reason string, ok bool) {
	i.Steps.Begin()
	defer i.Steps.End()
	if i.IsStopping() {
		return "", "", false
	}
	result, reason = i.Frontier.AddSeed(&i.scratch, url)
	return result, reason, true
}

// AddResult is what became of a URL that an operator added.
type AddResult string

// The results.
const (
	New     AddResult = "new"     // it is queued
	Known   AddResult = "known"   // it was added or found before
	Sent    AddResult = "sent"    // another agent owns its host and decides
	Refused AddResult = "refused" // it is not a URL, or does not belong to the crawl
)

// Added is what became of the URLs of one call.
type Added struct {
	New     int        `json:"new"`
	Known   int        `json:"known"`
	Sent    int        `json:"sent,omitempty"`
	Refused int        `json:"refused"`
	URLs    []AddedURL `json:"urls"` // the first AddedListed
}

// AddedURL is what became of one URL.
type AddedURL struct {
	URL    string    `json:"url"`
	Result AddResult `json:"result"`
	Reason string    `json:"reason,omitempty"`
}

// AddedListed is how many URLs of one call have their results listed.
const AddedListed = 10_000

func (a *Added) note(url string, result AddResult, reason string) {
	switch result {
	case New:
		a.New++
	case Known:
		a.Known++
	case Sent:
		a.Sent++
	case Refused:
		a.Refused++
	}
	if len(a.URLs) < AddedListed {
		a.URLs = append(a.URLs, AddedURL{URL: url, Result: result, Reason: reason})
	}
}

// Join adds the results of a later call.
func (a *Added) Join(b *Added) {
	a.New, a.Known, a.Sent, a.Refused = a.New+b.New, a.Known+b.Known, a.Sent+b.Sent, a.Refused+b.Refused
	a.URLs = append(a.URLs, b.URLs...)
}

// Count is the number of URLs.
func (a *Added) Count() int { return a.New + a.Known + a.Sent + a.Refused }

// RefusedError names the first URLs that were refused, with the reasons; nil if none was.
func (a *Added) RefusedError() error {
	if a.Refused == 0 {
		return nil
	}
	said := fmt.Sprintf("%d of %s %s refused", a.Refused, plural.Count(a.Count(), "URL"),
		plural.Verb(a.Refused, "was", "were"))
	named := 0
	for _, u := range a.URLs {
		if u.Result == Refused && named < BadSeedsLogged {
			said += fmt.Sprintf("\n%.200q: %s", u.URL, u.Reason)
			named++
		}
	}
	if more := a.Refused - named; more > 0 {
		said += fmt.Sprintf("\nand %d more", more)
	}
	return errors.New(said)
}
