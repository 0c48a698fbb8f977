package hosts

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"orbweaver/engine/frontier/sites"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/state/site"
	"orbweaver/engine/state/visit"
	"orbweaver/internal/urlx"
	"orbweaver/workbench"
)

// Lister answers questions about hosts. All fields must be set. Safe for concurrent use.
type Lister struct {
	Workbench *visit.Workbench
	Sites     *sites.Table
	OnDisk    sites.DiskQueues
	Live      *settings.Live
	Paused    func() string // why no exchange begins; "" if exchanges begin

	turn sync.Mutex // held by eachView, so that many calls do not take many cores
}

// view is what the workbench knows of a site.
type view = workbench.View[site.State]

// Host is one site: scheme, host and port.
type Host struct {
	Site         string  `json:"site"`
	State        string  `json:"state"`
	Queued       uint64  `json:"queued"`  // URLs, with those of an exchange under way
	OnDisk       uint64  `json:"on_disk"` // of these
	Pages        int64   `json:"pages"`   // stored
	Bytes        int64   `json:"bytes"`   // received, in whole KiB for each exchange
	Errors       int64   `json:"errors"`  // exchanges that failed
	Failures     int     `json:"failures_in_a_row"`
	Address      string  `json:"address,omitempty"`
	Group        string  `json:"group,omitempty"` // of hosts that share a delay
	DelaySeconds float64 `json:"delay_seconds"`   // between two requests, as the crawl keeps it now
	DueSeconds   float64 `json:"due_in_seconds"`  // 0: it can be asked now
	Waits        []Wait  `json:"waits"`           // why it is not asked now, the longest first
}

// Wait is one reason why a site is not asked now.
type Wait struct {
	Reason  string  `json:"reason"`
	Seconds float64 `json:"seconds,omitempty"` // that are left; 0 if that is not known
	Text    string  `json:"text"`              // the reason in words
}

// Order is how a list is sorted.
type Order string

// The orders: the largest is first.
const (
	ByQueue  Order = "queue"
	ByDelay  Order = "delay" // between two requests
	ByDue    Order = "due"   // time until it can be asked
	ByErrors Order = "errors"
	ByPages  Order = "pages"
	ByBytes  Order = "bytes"
)

// Query says which hosts are wanted.
type Query struct {
	Sort   Order  // "" is ByQueue
	Suffix string // of the name of the host, at a dot; "" for all
	State  string // as in Host.State; "" for all
	Limit  int    // 1 to LimitMax; 0 is 50
}

// LimitMax is the most hosts in an answer.
const LimitMax = 1000

// List is the answer to a Query.
type List struct {
	Hosts    []Host         `json:"hosts"`
	Matching int            `json:"matching"`         // sites that match, also those that are not listed
	Queued   uint64         `json:"queued"`           // their URLs
	States   map[string]int `json:"states"`           // sites of the crawl by state; idle ones on disk are "on-disk"
	Paused   string         `json:"paused,omitempty"` // why no exchange begins; "" if exchanges begin
}

// check fills in the defaults of a Query and says what is wrong with it.
func (q *Query) check() error {
	if q.Sort == "" {
		q.Sort = ByQueue
	}
	if orders := []Order{ByQueue, ByDelay, ByDue, ByErrors, ByPages, ByBytes}; !slices.Contains(orders, q.Sort) {
		return fmt.Errorf("hosts: sort: %q is not one of %v", q.Sort, orders)
	}
	var names []string
	for s := workbench.Unresolved; s <= workbench.Dead; s++ {
		names = append(names, s.String())
	}
	if q.State != "" && !slices.Contains(names, q.State) {
		return fmt.Errorf("hosts: state: %q is not one of %v", q.State, names)
	}
	if q.Limit == 0 {
		q.Limit = 50
	}
	if q.Limit < 1 || q.Limit > LimitMax {
		return fmt.Errorf("hosts: limit: %d is not between 1 and %d", q.Limit, LimitMax)
	}
	q.Suffix = strings.ToLower(strings.TrimPrefix(q.Suffix, "."))
	return nil
}

// matches reports whether a site is wanted.
func (q *Query) matches(v *view) bool {
	if q.State != "" && v.State.String() != q.State {
		return false
	}
	if q.Suffix == "" {
		return true
	}
	rest, ok := strings.CutSuffix(string(urlx.Host(v.Key)), q.Suffix)
	return ok && (rest == "" || strings.HasSuffix(rest, "."))
}

// candidate is a site that may be in the answer.
type candidate struct {
	view
	size float64 // by which the list is sorted
}

// List returns the hosts that match, in order. An error says what is wrong with the query, or that ctx has ended.
func (l *Lister) List(ctx context.Context, q Query) (List, error) {
	answer := List{States: map[string]int{}, Paused: l.Paused()}
	if err := q.check(); err != nil {
		return answer, err
	}
	now := time.Now()
	var first []candidate
	var least float64 // of the candidates that are kept, once there are enough
	err := l.eachView(ctx, func(v *view) {
		answer.States[v.State.String()]++
		if !q.matches(v) {
			return
		}
		answer.Matching++
		answer.Queued += queuedURLs(v)
		if size := l.size(q.Sort, v, now); len(first) < q.Limit || size > least {
			first = append(first, candidate{*v, size})
			first[len(first)-1].Key = bytes.Clone(v.Key)
		}
		if len(first) >= 2*q.Limit {
			first = keepFirst(first, q.Limit)
			least = first[q.Limit-1].size
		}
	})
	if err != nil {
		return answer, err
	}
	if _, onDisk := l.Sites.Counts(); onDisk > 0 {
		answer.States["on-disk"] = onDisk
	}
	answer.Hosts = make([]Host, 0, q.Limit)
	for _, c := range keepFirst(first, q.Limit) {
		answer.Hosts = append(answer.Hosts, l.host(&c.view, now))
	}
	return answer, nil
}

// eachView calls f for all sites in memory, until ctx ends. Sites come in slices, so that f runs without a lock of the
// workbench. f borrows the view. One call runs at a time.
func (l *Lister) eachView(ctx context.Context, f func(v *view)) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	var views []view
	var scratch []byte // for keys
	for from := uint64(1); from != 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		views, scratch, from = l.Workbench.Listing().Views(from, views[:0], scratch[:0])
		for i := range views {
			f(&views[i])
		}
	}
	return nil
}

// keepFirst sorts candidates and drops those behind limit.
func keepFirst(first []candidate, limit int) []candidate {
	slices.SortFunc(first, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.ID, b.ID))
	})
	if len(first) > limit {
		clear(first[limit:])
		first = first[:limit]
	}
	return first
}

func queuedURLs(v *view) uint64 { return uint64(v.Queued+v.InVisit) + v.OnDisk }

// size is by what a list is sorted.
func (l *Lister) size(by Order, v *view, now time.Time) float64 {
	switch by {
	case ByDelay:
		return l.delay(v).Seconds()
	case ByDue:
		return dueIn(v, now).Seconds()
	case ByErrors:
		return float64(v.Data.Errors)
	case ByPages:
		return float64(v.Data.Stored)
	case ByBytes:
		return float64(v.Data.KiB)
	default:
		return float64(queuedURLs(v))
	}
}

// delay is the time between two requests to a site, as the crawl keeps it now.
func (l *Lister) delay(v *view) time.Duration {
	policy, terms := l.Live.Policy(), l.Live.Hosts.Terms(v.Key)
	return policy.SlowedDelay(policy.SiteDelay(terms.Delay(), v.Data.CrawlDelay()), v.Data.Slowdown)
}

// dueIn is the time until site and address can be asked.
func dueIn(v *view, now time.Time) time.Duration {
	return max(v.Due.Sub(now), v.IP.Due.Sub(now), v.Deferred.Sub(now), 0)
}

// host describes a site.
func (l *Lister) host(v *view, now time.Time) Host {
	h := Host{
		Site: string(v.Key), State: v.State.String(), Queued: queuedURLs(v), OnDisk: v.OnDisk, Pages: int64(v.Data.Stored),
		Bytes: int64(v.Data.KiB) << 10, Errors: int64(v.Data.Errors), Failures: int(v.Data.FailureStreak().Count),
		DelaySeconds: l.delay(v).Seconds(), DueSeconds: dueIn(v, now).Seconds(), Waits: l.waits(v, now),
	}
	if v.IP.Addr.IsValid() {
		h.Address = v.IP.Addr.String()
	}
	if politeness.IsGroupKey(v.IP.Addr) {
		h.Address, h.Group = v.Data.Addrs().Current(v.IP.Addr).String(), l.Live.Hosts.Groups()[v.IP.Addr].Name
	}
	return h
}
