package hosts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
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
	Score      int     `json:"score,omitempty"` // of --score
	Via        string  `json:"via,omitempty"`   // the page that linked to it, if the crawl keeps that
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

// Queues is what is queued for the sites of a name.
type Queues struct {
	Sites  []Queue `json:"sites"`
	Paused string  `json:"paused,omitempty"` // why no exchange begins; "" if exchanges begin
}

// Queues returns the queues of a name, each with up to limit URLs. The name is a host, a host with port, a site, or an
// IP address: then it also means the sites that are asked at this address. A host may have several sites. The error
// wraps ErrUnknown if it has none.
func (l *Lister) Queues(ctx context.Context, name string, limit int) (q Queues, err error) {
	if limit < 0 || limit > LimitMax {
		return q, fmt.Errorf("hosts: limit: %d is not between 0 and %d", limit, LimitMax)
	}
	keys, err := l.sitesOf(ctx, name)
	if err != nil {
		return q, err
	}
	q.Paused = l.Paused()
	for _, key := range keys {
		of, known, err := l.queueOf(ctx, key, limit)
		if err != nil {
			return q, err
		}
		if known {
			q.Sites = append(q.Sites, of)
		}
	}
	if len(q.Sites) == 0 {
		return q, fmt.Errorf("%w: %.200q", ErrUnknown, name)
	}
	return q, nil
}

// sitesMost is how many sites of one name are shown.
const sitesMost = 16

// sitesOf returns the keys of the sites that a name may mean.
func (l *Lister) sitesOf(ctx context.Context, name string) (keys [][]byte, err error) {
	addr, noAddr := netip.ParseAddr(strings.Trim(name, "[]"))
	schemes := []string{"https://", "http://"}
	if strings.Contains(name, "://") {
		schemes = []string{""}
	}
	if noAddr == nil && addr.Is6() {
		name = "[" + addr.String() + "]"
	}
	for _, scheme := range schemes {
		url, err := urlx.Normalize(nil, []byte(scheme+strings.TrimSuffix(name, "/")+"/"))
		if err != nil {
			return nil, fmt.Errorf("hosts: %.200q is not the name of a host: %s", name, urlx.Reason(err))
		}
		key, _ := urlx.Split(url)
		keys = append(keys, bytes.Clone(key))
	}
	isKnown := slices.ContainsFunc(keys, func(key []byte) bool { return l.Workbench.Get(key) != nil })
	if !addr.IsValid() && (isKnown || len(keys) == 1) {
		return keys, nil
	}
	host := urlx.Host(keys[0])
	err = l.eachView(ctx, func(v *view) { // the other ports of the host, the sites at the address
		if len(keys) < sitesMost && (bytes.Equal(urlx.Host(v.Key), host) || addr.IsValid() && addrOf(v) == addr.Unmap()) &&
			!slices.ContainsFunc(keys, func(key []byte) bool { return bytes.Equal(key, v.Key) }) {
			keys = append(keys, bytes.Clone(v.Key))
		}
	})
	return keys, err
}

// addrOf is the address at which a site is asked; not valid if it has none.
func addrOf(v *view) netip.Addr { return v.Data.Addrs().Current(v.IP.Addr).Unmap() }

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
			Score: it.Score, Via: string(it.Via),
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
	var url []byte
	stop, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := l.eachView(stop, func(v *view) {
		if err != nil || queuedURLs(v) == 0 {
			return
		}
		emit := func(item []byte, _ string) bool {
			it, ok := queued.Decode(item)
			if ok && it.RobotsOf == nil {
				url = append(append(url[:0], v.Key...), it.Rest...)
				f(url, &it)
			}
			return ctx.Err() == nil
		}
		if err = eachOf(ctx, l, bytes.Clone(v.Key), emit); err != nil {
			cancel()
		}
	})
	if ctx.Err() != nil {
		return false, nil // the time is over
	}
	return err == nil && ended == nil, err
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
