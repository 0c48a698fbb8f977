package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/state/queued"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// Queue is what is queued for a site.
type Queue struct {
	Host
	URLs []QueuedURL `json:"urls"` // the next ones, in order
}

// QueuedURL is a queued URL.
type QueuedURL struct {
	Position   uint64  `json:"position"` // 1 is next; 0: an exchange for it is under way or about to begin
	URL        string  `json:"url"`
	DueSeconds float64 `json:"due_in_seconds"` // expected, if nothing fails and the delay stays
	Place      string  `json:"place"`          // "visit", "memory", "disk" or "delayed"
	Depth      int     `json:"depth"`          // links from a seed
	Tries      int     `json:"tries"`          // earlier ones that failed
	Seed       bool    `json:"seed,omitempty"`
	Via        string  `json:"via,omitempty"` // the page that linked to it, if the crawl keeps that
}

// The places of a queued URL.
const (
	InVisit   = "visit"
	InMemory  = "memory"
	OnDisk    = "disk"
	IsDelayed = "delayed" // as part of a likely trap: it comes after all others
)

// ErrUnknown says that the crawl does not know a host.
var ErrUnknown = errors.New("hosts: the crawl does not know this host")

// diskSlice is the number of URLs that are read from disk under one lock.
const diskSlice = 4096

// Queues returns the queues of a host, each with up to limit URLs. name is a host, a host with port, or a site. A host
// may have several sites. The error wraps ErrUnknown if it has none.
func (l *Lister) Queues(ctx context.Context, name string, limit int) ([]Queue, error) {
	if limit < 0 || limit > LimitMax {
		return nil, fmt.Errorf("hosts: limit: %d is not between 0 and %d", limit, LimitMax)
	}
	keys, err := l.sitesOf(ctx, name)
	if err != nil {
		return nil, err
	}
	var all []Queue
	for _, key := range keys {
		q, known, err := l.queueOf(ctx, key, limit)
		if err != nil {
			return nil, err
		}
		if known {
			all = append(all, q)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%w: %.200q", ErrUnknown, name)
	}
	return all, nil
}

// sitesOf returns the keys of the sites that a name may mean.
func (l *Lister) sitesOf(ctx context.Context, name string) (keys [][]byte, err error) {
	schemes := []string{"https://", "http://"}
	if strings.Contains(name, "://") {
		schemes = []string{""}
	}
	for _, scheme := range schemes {
		url, err := urlx.Normalize(nil, []byte(scheme+strings.TrimSuffix(name, "/")+"/"))
		if err != nil {
			return nil, fmt.Errorf("hosts: %.200q is not the name of a host: %s", name, urlx.Reason(err))
		}
		key, _ := urlx.Split(url)
		keys = append(keys, bytes.Clone(key))
	}
	for _, key := range keys {
		if l.Workbench.Get(key) != nil {
			return keys, nil
		}
	}
	if len(keys) == 1 {
		return keys, nil
	}
	return l.otherPorts(ctx, keys)
}

// otherPorts adds the sites of a host at other ports.
func (l *Lister) otherPorts(ctx context.Context, keys [][]byte) ([][]byte, error) {
	const sitesMost = 16
	host := urlx.Host(keys[0])
	l.turn.Lock()
	defer l.turn.Unlock()
	var views []view
	var scratch []byte // for keys
	for from := uint64(1); from != 0 && len(keys) < sitesMost; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		views, scratch, from = l.Workbench.Listing().Views(from, views[:0], scratch[:0])
		for i := range views {
			if bytes.Equal(urlx.Host(views[i].Key), host) {
				keys = append(keys, bytes.Clone(views[i].Key))
			}
		}
	}
	return keys, nil
}

// queueOf reads the queue of a site.
func (l *Lister) queueOf(ctx context.Context, key []byte, limit int) (q Queue, known bool, err error) {
	now := time.Now()
	seen := func(u QueuedURL) bool {
		q.URLs = append(q.URLs, u)
		return len(q.URLs) < limit
	}
	q.URLs = []QueuedURL{}
	v, known, err := l.read(ctx, key, now, limit, seen)
	if err != nil || !known {
		return q, known, err
	}
	q.Host = l.host(&v, now)
	return q, true, nil
}

// Found is what the frontier knows about a URL.
type Found struct {
	Host    Host
	At      QueuedURL // if IsQueued
	Queued  bool      // the URL is queued
	ReadAll bool      // the whole queue was read, up to the URL
	Robots  Robots
}

// Robots is the copy of a robots.txt that the crawl uses, and what it says about a URL.
type Robots struct {
	State      string  `json:"state"` // "valid", "missing" or "unreachable"
	Allowed    bool    `json:"allowed"`
	Line       int     `json:"line,omitempty"` // of the deciding rule, from 1; 0: no rule decides
	Rule       string  `json:"rule,omitempty"`
	CrawlDelay float64 `json:"crawl_delay_seconds,omitempty"`
	DelayLine  int     `json:"crawl_delay_line,omitempty"` // of the Crawl-delay; 0 if there is none, or if it is not known
	Expires    string  `json:"expires,omitempty"`
}

// Find looks for a URL, in normal form, in the queue of its site, and stops after limit URLs. The error wraps
// ErrUnknown if the site is not known.
func (l *Lister) Find(ctx context.Context, url []byte, limit int) (f Found, err error) {
	now, n := time.Now(), 0
	key, path := urlx.Split(url)
	f.ReadAll = true
	v, known, err := l.read(ctx, key, now, limit, func(u QueuedURL) bool {
		if n++; u.URL == string(url) {
			f.Queued, f.At = true, u
			return false
		}
		f.ReadAll = n < limit
		return f.ReadAll
	})
	if err != nil {
		return f, err
	}
	if !known {
		return f, fmt.Errorf("%w: %.200q", ErrUnknown, key)
	}
	f.Host, f.Robots = l.host(&v, now), robotsOf(&v, path, now)
	return f, nil
}

// robotsOf asks the copy of a site's robots.txt about a path.
func robotsOf(v *view, path []byte, now time.Time) Robots {
	s := &v.Data
	switch until := time.Unix(int64(s.RulesUntil), 0); {
	case s.Rules != nil && until.After(now):
		e := s.Rules.Explain(path)
		return Robots{
			State: "valid", Allowed: e.Allowed, Line: e.Line, Rule: e.Rule, CrawlDelay: s.CrawlDelay().Seconds(),
			DelayLine: s.Rules.CrawlDelayLine(), Expires: until.UTC().Format(time.RFC3339),
		}
	case s.DenyAll:
		return Robots{State: "unreachable"}
	default:
		return Robots{State: "missing"}
	}
}

// read passes the queued URLs of a site to f until it returns false.
func (l *Lister) read(
	ctx context.Context, key []byte, now time.Time, limit int, f func(QueuedURL) bool,
) (v view, known bool, err error) {
	handle, v, inMemory := l.hold(key, limit)
	if handle == nil {
		v, known, err = l.idle(key)
		return v, known, err
	}
	due, delay, position := dueIn(&v, now), l.delay(&v), uint64(0)
	emit := func(item []byte, place string) bool {
		it, ok := queued.Decode(item)
		if !ok || it.RobotsOf != nil { // a redirect of a robots.txt is no URL of the crawl
			return true
		}
		u := QueuedURL{
			URL: string(key) + string(it.Rest), Place: place, Depth: it.Depth, Tries: it.Tries, Seed: it.Seed,
			Via: string(it.Via),
		}
		if place != InVisit {
			position++
			u.Position = position
			u.DueSeconds = (due + time.Duration(position-1)*delay).Seconds()
		}
		return f(u)
	}
	for i, h := range inMemory {
		place := InMemory
		if h.inVisit {
			place = InVisit
		}
		if h.inVisit && i > 0 { // only the first item of a Visit is fetched; the others return to the queue
			place = InMemory
		}
		if !emit(h.item, place) {
			return v, true, nil
		}
	}
	return v, true, l.readDisk(ctx, handle, key, emit)
}

// held is a queued URL in memory.
type held struct {
	item    []byte
	inVisit bool
}

// hold copies what a site has in memory, up to limit URLs; a nil handle says that it is not in memory.
func (l *Lister) hold(key []byte, limit int) (handle *visit.State, v view, inMemory []held) {
	l.Sites.UseLoaded(key, func(vs *visit.State) {
		handle, v = vs, l.Workbench.Site(vs).View()
		l.Workbench.Site(vs).Items(limit, func(item []byte, inVisit bool) {
			inMemory = append(inMemory, held{bytes.Clone(item), inVisit})
		})
	})
	return handle, v, inMemory
}

// readDisk reads the queues of a site on disk, in slices.
func (l *Lister) readDisk(ctx context.Context, vs *visit.State, key []byte, emit func([]byte, string) bool) error {
	for k, place := range [...]string{OnDisk, OnDisk, OnDisk, OnDisk, OnDisk, IsDelayed} {
		for from, more := uint64(0), true; more; {
			if err := ctx.Err(); err != nil {
				return err
			}
			if l.Workbench.Get(key) != vs { // the site was moved to disk, and its number may be another site's
				return nil
			}
			next, err := l.OnDisk.Peek(vs, k, from, diskSlice, func(item []byte) {
				more = more && emit(item, place)
			})
			if err != nil || !more {
				return err
			}
			from, more = next, next != from
		}
	}
	return nil
}

// idle describes a site that is on disk, without URLs.
func (l *Lister) idle(key []byte) (v view, known bool, err error) {
	known, err = l.Sites.ReadEvicted(key, func(e sites.Evicted) {
		v = view{Key: bytes.Clone(key), Data: e.State, State: workbench.Idle}
		v.IP.Addr = e.Addr
	})
	return v, known, err
}

// EachQueued calls f for the queued URLs of all sites, site after site, until ctx ends. It reports whether it came to
// the end. URLs that are on their way to their site are not among them. f borrows its arguments.
func (l *Lister) EachQueued(ctx context.Context, f func(url []byte, it *queued.URL)) (complete bool, err error) {
	l.turn.Lock()
	defer l.turn.Unlock()
	var views []view
	var scratch, url []byte
	for from := uint64(1); from != 0; {
		views, scratch, from = l.Workbench.Listing().Views(from, views[:0], scratch[:0])
		for i := range views {
			v := &views[i]
			if queuedURLs(v) == 0 {
				continue
			}
			emit := func(item []byte, _ string) bool {
				it, ok := queued.Decode(item)
				if ok && it.RobotsOf == nil {
					url = append(append(url[:0], v.Key...), it.Rest...)
					f(url, &it)
				}
				return ctx.Err() == nil
			}
			err := eachOf(ctx, l, bytes.Clone(v.Key), emit)
			if ctx.Err() != nil {
				return false, nil //nolint:nilerr // the time is over
			}
			if err != nil {
				return false, err
			}
		}
	}
	return true, nil
}

// eachOf calls emit for the queued URLs of a site until it returns false.
func eachOf(ctx context.Context, l *Lister, key []byte, emit func(item []byte, place string) bool) error {
	handle, _, inMemory := l.hold(key, math.MaxInt)
	if handle == nil {
		return nil
	}
	for _, h := range inMemory {
		if !emit(h.item, InMemory) {
			return errors.New("hosts: ended early")
		}
	}
	return l.readDisk(ctx, handle, key, emit)
}
