package limits

import (
	"context"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/net/bandwidth"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/notify"
)

// Limits ends the crawl when it has had enough: pages, time or disk. Pages are counted under the commit lock, so that
// their limit is exact. Page requisites are no pages here. The limit of the disk is for the archive, the frontier and
// the logs together. It is passed by what is on its way when it is reached, and by what frontier and logs grow between
// two measurements.
type Limits struct {
	// PagesMax is for stored pages without requisites, revisits among them; 0 for no limit. mu guards it and the next two
	PagesMax int64
	DiskMax  int64
	TimeMax  Term
	Finish   func(reason string)

	withRequisites atomic.Bool
	closing        atomic.Bool
	timeChanged    chan struct{} // TimeMax has changed; capacity 1

	mu    sync.Mutex
	Pages int64
	bytes int64 // size of the archive, with files that were removed here
	other int64 // size of frontier and logs, as last measured

	space   Space
	gate    Gate
	removed int64 // bytes of the archive that are not here, as last asked
	isShut  bool  // this has shut the gate
	isSaid  bool  // the log says so
}

// Space is what knows of WARC files that were sent and removed here.
type Space interface {
	Removed() int64 // bytes
	Freeing() int64 // bytes of files that are removed when they are sent
}

// Gate holds exchanges back while it is shut.
type Gate interface {
	Shut(reason string) bool
	Open(reason string) bool
}

// keptFiles is the Space of a crawl that removes no file.
type keptFiles struct{}

func (keptFiles) Removed() int64 { return 0 }
func (keptFiles) Freeing() int64 { return 0 }

// openGate holds nothing back.
type openGate struct{}

func (openGate) Shut(string) bool { return false }
func (openGate) Open(string) bool { return false }

// SetSpace says which files are removed here. While they can make room, the limit of the disk shuts the gate, and does
// not end the crawl.
func (l *Limits) SetSpace(space Space, gate Gate) { l.space, l.gate = space, gate }

// WaitReason is why exchanges wait at the limit of the disk.
const WaitReason = "the disk: --max-disk is reached; the crawl goes on when WARC files are sent and removed " +
	"(--upload-then delete)"

// isFull says whether the limit of the disk is reached and must end the crawl. If files can make room, it shuts the
// gate. The caller holds mu.
func (l *Limits) isFull(archive int64) bool {
	isReached, mayWait := l.DiskMax > 0 && archive+l.other-l.removed >= l.DiskMax, false
	if isReached { // Freeing comes first: what it counts no more is in Removed
		mayWait = l.space.Freeing() > 0
		l.removed = l.space.Removed()
		isReached = archive+l.other-l.removed >= l.DiskMax
		mayWait = mayWait && isReached
	}
	switch {
	case mayWait && !l.isShut:
		l.gate.Shut(WaitReason)
	case !mayWait && l.isShut:
		l.gate.Open(WaitReason)
	}
	l.isShut = mayWait
	return isReached && !mayWait
}

// SetWithRequisites says whether the requisites of the stored pages are still fetched when the limit of pages is
// reached.
func (l *Limits) SetWithRequisites(with bool) { l.withRequisites.Store(with) }

// FinishAtMaxTime ends the crawl at its limit of time, unless ctx ends before. wall returns the time that it has run.
// The error is always nil.
func (l *Limits) FinishAtMaxTime(ctx context.Context, wall func() time.Duration) error {
	for {
		l.mu.Lock()
		most := l.TimeMax
		l.mu.Unlock()
		left, limited := most.left(wall())
		switch {
		case !limited:
			left = math.MaxInt64
		case left <= 0:
			l.Finish(lifecycle.ReasonMaxTime)
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-l.timeChanged:
		case <-ctx.Done():
		}
		if timer.Stop(); ctx.Err() != nil {
			return nil //nolint:nilerr // ctx ended: the loop's ordinary end
		}
	}
}

// SetMaxPages changes the limit of pages; 0 is no limit. If it is reached, the crawl ends as at the limit. It reports
// whether the crawl fetched only requisites before, and fetches pages again.
func (l *Limits) SetMaxPages(most int64) (reopened bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.PagesMax = most
	if most > 0 && l.Pages >= most {
		l.End(lifecycle.ReasonMaxPages)
		return false
	}
	return l.closing.Swap(false)
}

// SetMaxDisk changes the limit of the disk; 0 is no limit. If it is reached, the crawl ends.
func (l *Limits) SetMaxDisk(most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.DiskMax = most; l.isFull(l.bytes) {
		l.Finish(lifecycle.ReasonMaxDisk)
	}
}

// InForce are limits of a whole crawl; 0 is no limit.
type InForce struct {
	MaxPages int64   `json:"max_pages"` // stored, without page requisites
	MaxDisk  int64   `json:"max_disk_bytes"`
	MaxTime  float64 `json:"max_time_seconds"` // of all runs together
	// MaxDate is when the crawl ends; zero if it has no date, or a limit of seconds.
	MaxDate time.Time `json:"max_time_date,omitzero"`
}

// InForce returns the limits as they are now.
func (l *Limits) InForce() InForce {
	l.mu.Lock()
	defer l.mu.Unlock()
	return InForce{
		MaxPages: l.PagesMax, MaxDisk: l.DiskMax, MaxTime: l.TimeMax.Length.Seconds(), MaxDate: l.TimeMax.Date,
	}
}

// SetMaxTime changes the limit of time.
func (l *Limits) SetMaxTime(most Term) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.TimeMax = most
	notify.Send(l.timeChanged)
}

// TakePage says whether one more page may be stored, and counts it unless it is a requisite. A requisite may go beyond
// the limit, see SetWithRequisites.
func (l *Limits) TakePage(isRequisite bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.PagesMax > 0 && l.Pages >= l.PagesMax && !(isRequisite && l.withRequisites.Load()) {
		return false
	}
	if isRequisite {
		return true
	}
	l.Pages++
	if l.Pages == l.PagesMax {
		l.End(lifecycle.ReasonMaxPages)
	}
	return true
}

// End ends the crawl because of a limit. The limit of pages may end it when the requisites are fetched: see
// SetWithRequisites and IsClosing.
func (l *Limits) End(reason string) {
	if reason == lifecycle.ReasonMaxPages && l.withRequisites.Load() {
		l.closing.Store(true)
		return
	}
	l.Finish(reason)
}

// IsClosing reports whether only page requisites are still fetched: the limit of pages is reached.
func (l *Limits) IsClosing() bool { return l.closing.Load() }

// ReturnPage undoes a TakePage that counted a page which could not be written.
func (l *Limits) ReturnPage() {
	l.mu.Lock()
	l.Pages--
	l.mu.Unlock()
}

// Grown notes that the archive is so many bytes larger.
func (l *Limits) Grown(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.setDisk(l.bytes+bytes, l.other)
}

// measured notes how large frontier and logs are.
func (l *Limits) measured(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed = l.space.Removed()
	l.setDisk(l.bytes, bytes)
}

func (l *Limits) setDisk(archive, other int64) {
	before := l.bytes + l.other - l.removed
	l.bytes, l.other = archive, other
	if l.DiskMax > 0 && before < l.DiskMax && archive+other-l.removed >= l.DiskMax && l.isFull(archive) {
		l.Finish(lifecycle.ReasonMaxDisk)
	}
}

// Reached says which limit a crawl with these figures has reached, "" for none.
func (l *Limits) Reached(pages, stored int64, wall time.Duration) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.PagesMax > 0 && pages >= l.PagesMax:
		return lifecycle.ReasonMaxPages
	case l.isFull(stored):
		return lifecycle.ReasonMaxDisk
	case l.TimeMax.isOver(wall):
		return lifecycle.ReasonMaxTime
	default:
		return ""
	}
}

// Options end the crawl, or the part of a site, a domain or an address in it.
type Options struct {
	MaxPages          int64 `help:"Stop after this number of stored pages, unchanged ones included; 0 for no limit. Page requisites (images, style sheets, scripts, frames) do not count, and those of the stored pages are still fetched." default:"0" placeholder:"N" basic:""`
	MaxPerHost        int   `help:"Stored pages of one site, page requisites included, since the server has the same work with each; 0 for no limit. Use it to collect a little of many sites." default:"0" placeholder:"N" basic:""`
	MaxPerDomain      int   `help:"Stored pages of all sites of a registrable domain (public suffix list), page requisites included; 0 for no limit." default:"0" placeholder:"N"`
	MaxHostsPerDomain int   `help:"Sites of a registrable domain; 0 for no limit. Further names are not looked up. Use it against domains with endless host names." default:"0" placeholder:"N"`
	MaxHostsPerIP     int   `name:"max-hosts-per-ip" help:"Sites of one IP address; 0 for no limit." default:"0" placeholder:"N"`
	IPv6Prefix        int   `name:"ipv6-prefix" help:"IPv6 addresses count as one IP address for delays and limits if their first N bits are equal. All agents of a crawl need the same value." default:"64" least:"32" most:"128" placeholder:"N"`

	Bandwidth bandwidth.Options `embed:""`

	MaxTime   Term          `help:"Stop after this running time, earlier runs included, such as 12h; or at a date: 2026-12-01, 2026-12-01T06:00 (local time) or 2026-12-01T06:00+01:00. A resume keeps the date. 0 for no limit." type:"term" default:"0" placeholder:"TIME|DATE" basic:""`
	MaxDisk   int64         `help:"Stop when archive, frontier and logs together have this size; 0 for no limit. The frontier of a small crawl has some 60 MiB, most of it reserved or cache." type:"size" default:"0" placeholder:"SIZE" basic:""`
	StallWait time.Duration `help:"Time to continue when every queued URL is of a site that fails or asks to slow down. Then the crawl stops with its queue, state stalled, exit status 3. A Retry-After within this time is waited for. 0: stop at once. Raise it to wait for long outages. Politeness delays do not count." default:"1h" zero:"-1" placeholder:"TIME"`
	GiveUp    time.Duration `help:"Time a site that has answered before may fail. Then its queued URLs are given up, each with a line in crawl.log. A site that never answered is given up after its tries. Lower it to end crawls with dead sites earlier." default:"7d" least:"1" placeholder:"TIME"`
}

// New returns the Limits of a crawl that has stored some pages. finish is called when one is reached.
func New(o *Options, pages int64, finish func(reason string)) *Limits {
	return &Limits{
		PagesMax: o.MaxPages, DiskMax: o.MaxDisk, TimeMax: o.MaxTime, Finish: finish, Pages: pages,
		timeChanged: make(chan struct{}, 1), space: keptFiles{}, gate: openGate{},
	}
}

// Quotas are the limits of domains and addresses.
func (o *Options) Quotas() QuotaOptions {
	return QuotaOptions{
		HostsPerDomain: o.MaxHostsPerDomain, PagesPerDomain: o.MaxPerDomain, HostsPerAddr: o.MaxHostsPerIP,
	}
}
