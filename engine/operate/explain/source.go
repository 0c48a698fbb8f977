package explain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/net/underway"
	"orbweaver/engine/operate/hosts"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/traps"
	"orbweaver/internal/urlx"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/warc/lookup"
)

// Evidence is what a crawl knows about one URL.
type Evidence struct {
	URL     string `json:"url"` // in normal form
	Running bool   `json:"running"`
	AsOf    string `json:"as_of,omitempty"` // of a stopped crawl: its last checkpoint
	Verdict string `json:"verdict"`         // what became of it, in one sentence
	Result  Result `json:"result"`          // the same for programs

	Sieve    string        `json:"sieve"` // "known", "pending", "merging" or "unknown"
	Exchange float64       `json:"exchange_seconds,omitempty"`
	Host     *hosts.Host   `json:"host,omitempty"`
	Queue    *Queue        `json:"queue,omitempty"` // if the URL is queued
	Robots   *hosts.Robots `json:"robots,omitempty"`
	Order    Order         `json:"order"`
	Attempts []Attempt     `json:"attempts"` // of crawl.log, the last first
	Captures []Capture     `json:"captures"` // in the archive, the last first
	Skipped  string        `json:"skipped,omitempty"`
	Via      string        `json:"via,omitempty"`   // the page that linked to it, if that is kept
	Trap     *traps.State  `json:"trap,omitempty"`  // of the part of the site, if the crawl looks for traps
	Owner    string        `json:"owner,omitempty"` // another agent that owns the host
	Says     *Evidence     `json:"owner_says,omitempty"`
	Notes    []string      `json:"notes,omitempty"` // what was not read, and why

	ownerFault error // why the owner did not answer
	logLeft    bool  // older lines of crawl.log were not read
}

// Queue is where a URL is queued.
type Queue struct {
	hosts.QueuedURL

	Of uint64 `json:"of"` // URLs queued for the site
}

// Order is what the order of visits does with a URL.
type Order struct {
	order.Explanation
	Position  uint64 `json:"position,omitempty"` // in its queue of the order; 0: it is in none, or not in what was read
	IsEarlier bool   `json:"earlier,omitempty"`  // it was queued in an earlier order, whose URLs come first
}

// Result is what became of a URL.
type Result string

// The results.
const (
	InExchange Result = "in-exchange"
	Fetched    Result = "fetched"
	Queued     Result = "queued"
	Refused    Result = "refused" // by the crawler, when its turn came
	Failed     Result = "failed"
	Skipped    Result = "skipped"
	Waiting    Result = "waiting" // known, and on its way to its queue
	Unclear    Result = "unclear" // known, and not found in what was read
	NeverSeen  Result = "never-seen"
	Elsewhere  Result = "other-agent"
)

// Source has the parts of a crawl. All fields must be set.
type Source struct {
	FS       vfs.FS
	Dir      string // of the crawl
	HashSeed uint64
	Running  bool
	AsOf     string // of a stopped crawl

	Hosts     *hosts.Lister
	Sieve     *sieve.Sieve
	Ready     func() uint64 // URLs between the sieve and the queues of their sites
	Exchanges *underway.Table
	Views     *ownership.Current // of a cluster; empty for a crawl of one agent
	FlushLog  func()
	Order     func() order.Policy

	Captures   lookup.Lines // of the archive
	UnreadFile string       // of a stopped crawl: the file of the archive that Captures leaves out; "" for none
	Traps      *traps.Detector
	// AskOwner asks another agent. The error is ErrNotAsked if it cannot.
	AskOwner func(ctx context.Context, agent string, url []byte) (*Evidence, error)
}

// ErrNotAsked says that the agent that owns a host is not asked.
var ErrNotAsked = errors.New("explain: the owner is not asked")

// AskNoOwner is Source.AskOwner of a crawl that does not run, and of an agent that answers another one.
func AskNoOwner(context.Context, string, []byte) (*Evidence, error) { return nil, ErrNotAsked }

// Limits bound what Collect reads. Zero fields have their defaults.
type Limits struct {
	LogBytes int64 // of crawl.log, from its end; default 16 MiB; less than 0: all, also the compressed parts
	Queue    int   // URLs of a queue; default 10^6
	Skipped  int   // entries of the list of skipped URLs; default 10^5
}

func (l Limits) withDefaults() Limits {
	if l.LogBytes == 0 {
		l.LogBytes = 16 << 20
	}
	if l.Queue == 0 {
		l.Queue = 1_000_000
	}
	if l.Skipped == 0 {
		l.Skipped = 100_000
	}
	return l
}

// Collect returns what the crawl knows about a URL. An error is of the disk, or says that it is no URL.
func (s *Source) Collect(ctx context.Context, raw string, limits Limits) (*Evidence, error) {
	url, err := normalize(raw)
	if err != nil {
		return nil, err
	}
	limits = limits.withDefaults()
	e := &Evidence{
		URL: string(url), Running: s.Running, AsOf: s.AsOf, Attempts: []Attempt{}, Captures: []Capture{},
	}
	if e.Owner = s.Views.OtherOwner(url); e.Owner != "" {
		if e.Says, e.ownerFault = s.AskOwner(ctx, e.Owner, url); e.ownerFault != nil {
			e.note("agent %s: %v", e.Owner, e.ownerFault)
		}
	}
	s.addExchange(e)
	s.addTrap(e, url)
	for _, add := range []func(context.Context, *Evidence, []byte, Limits) error{
		s.addSieve, s.addFrontier, s.addOrder, s.addCaptures, s.addAttempts, s.addSkipped,
	} {
		if err := add(ctx, e, url, limits); err != nil {
			return nil, err
		}
	}
	s.conclude(e)
	return e, nil
}

// normalize returns the normal form of a URL.
func normalize(raw string) ([]byte, error) {
	url, err := urlx.Normalize(nil, admission.CompleteSeed([]byte(raw)))
	if err != nil {
		return nil, fmt.Errorf("explain: %.200q: %s", raw, urlx.Reason(err))
	}
	return url, nil
}

// note adds a note.
func (e *Evidence) note(format string, args ...any) {
	e.Notes = append(e.Notes, fmt.Sprintf(format, args...))
}

// exchangesMost is how many exchanges are compared with the URL.
const exchangesMost = 1 << 17

func (s *Source) addExchange(e *Evidence) {
	for _, x := range s.Exchanges.List(exchangesMost) {
		if string(x.URL) == e.URL && x.Kind == underway.Page {
			e.Exchange = max(time.Since(x.Began).Seconds(), 0.001)
			return
		}
	}
}

// addTrap says whether the crawl takes the part of the site for a trap.
func (s *Source) addTrap(e *Evidence, url []byte) {
	if s.Traps.Enabled() {
		e.Trap = new(s.Traps.Explain(url))
	}
}

func (s *Source) addSieve(_ context.Context, e *Evidence, url []byte, _ Limits) error {
	place, err := s.Sieve.Find(urlx.Fingerprint(s.HashSeed, url))
	e.Sieve = [...]string{"unknown", "known", "pending", "merging"}[place]
	if err != nil {
		e.note("the list of known URLs could not be read: %v", err)
	}
	return nil
}

func (s *Source) addFrontier(ctx context.Context, e *Evidence, url []byte, limits Limits) error {
	f, err := s.Hosts.Find(ctx, url, limits.Queue)
	if errors.Is(err, hosts.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}
	e.Host, e.Robots = &f.Host, &f.Robots
	if f.Queued {
		e.Queue = &Queue{QueuedURL: f.At, Of: f.Host.Queued}
		e.Via = f.At.Via
	}
	if !f.ReadAll {
		e.note("the queue of the host was read up to %d URLs", limits.Queue)
	}
	return nil
}

// addOrder says what the order does with the URL. Depth and score are known of a queued URL alone.
func (s *Source) addOrder(ctx context.Context, e *Evidence, url []byte, limits Limits) (err error) {
	policy, it, queue := s.Order(), queued.URL{Rest: url}, -1
	switch {
	case e.Queue != nil:
		it.Depth, it.Score, it.Seed = e.Queue.Depth, e.Queue.Score, e.Queue.Seed
	case e.Sieve != "unknown":
		queue, err = s.findInQueues(ctx, e, &it, queuesFor(policy, url), limits.Queue)
	}
	e.Order.Explanation = policy.Explain(&it, e.Queue != nil || queue >= 0)
	switch {
	case queue < 0:
	case policy.Owns(queue) && queue < order.Classes:
		e.Order.Class = queue + 1
	case policy.Owns(queue): // of its domain
	default:
		e.Order.IsEarlier = true
	}
	return err
}

// classSlice is the number of URLs of a queue that are read from disk under one lock.
const classSlice = 4096

// queuesFor are the queues of the order in which a URL may be: those of all classes, and that of its domain.
func queuesFor(policy order.Policy, url []byte) []int {
	queues := make([]int, 0, order.Classes+1)
	for class := range order.Classes {
		queues = append(queues, class)
	}
	if of := policy.Explain(&queued.URL{Rest: url}, false).Place; of != nil {
		queues = append(queues, of.Queue)
	}
	return queues
}

// findInQueues looks for a URL that has not come to its site in queues of the order, up to a number of URLs. It returns
// the queue, -1 if it is in none, and fills in the URL.
func (s *Source) findInQueues(
	ctx context.Context, e *Evidence, it *queued.URL, queues []int, most int,
) (int, error) {
	left := most
	for _, queue := range queues {
		position, isFound := uint64(0), false
		for from, more := uint64(0), true; more; {
			if err := ctx.Err(); err != nil {
				return -1, err
			}
			next, err := s.Hosts.OnDisk.PeekOrdered(queue, from, min(left+1, classSlice), func(item []byte) {
				if isFound {
					return
				}
				position, left = position+1, left-1
				if one, ok := queued.Decode(item); ok && bytes.Equal(one.Rest, it.Rest) {
					isFound, it.Depth, it.Score, it.Seed, e.Via = true, one.Depth, one.Score, one.Seed, string(one.Via)
				}
			})
			switch {
			case err != nil:
				return -1, err
			case isFound:
				e.Order.Position = position
				return queue, nil
			case left < 0:
				e.note("the queues of the order were read up to %d URLs", most)
				return -1, nil
			}
			from, more = next, next != from
		}
	}
	return -1, nil
}

func (s *Source) addSkipped(_ context.Context, e *Evidence, url []byte, limits Limits) error {
	if len(e.Attempts) > 0 || e.Queue != nil {
		return nil // a skipped URL has a line of its own
	}
	errEnough := errors.New("enough")
	n := 0
	err := eachSkipped(s.FS, s.Dir, func(u traps.SkippedURL) error {
		if u.URL == string(url) {
			e.Skipped = u.Because()
			return errEnough
		}
		if n++; n == limits.Skipped {
			e.note("the list of skipped URLs was read up to %d entries", n)
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return err
}
