package engine

import (
	"bytes"
	"context"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/counters"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/links"
	"orbweaver/engine/parse"
	"orbweaver/engine/queued"
	"orbweaver/engine/settings"
	"orbweaver/engine/urlx"
	"orbweaver/sieve"
	"orbweaver/sieve/fpcache"
)

// Frontier is the one door for URLs: seeds, links of pages and what the operator adds all come through Add. It owns the
// fingerprint cache and the way into the sieve. Safe for many goroutines.
type Frontier struct {
	scope    *filter.Scope
	lists    *filter.Lists // nil if they can refuse nothing
	hosts    *settings.HostRules
	maxDepth int // -1 for no limit
	maxURL   int // bytes; 0 for no limit but urlx.LengthMax
	hashSeed uint64
	cache    *fpcache.Cache
	sieve    *sieve.Sieve
	n        *counters.Live
	router   cluster.Router
	views    *ownership.Current
	// countOutward says that the crawl may have other agents, to which links lead.
	countOutward bool
}

// door is a user's scratch space at the door: one per goroutine, never shared.
type door struct {
	payload []byte

	urls                 [][]byte // at the door, borrowed
	fps                  []xxh3.Uint128
	kinds                []parse.Kind // of urls; empty when nobody asks
	view                 *ownership.View
	isShared             bool         // an agent other than this one may own a URL
	owners               []int        // of urls, if isShared
	host                 []byte       // of the last URL that was checked, borrowed: most links lead where the one before did
	owner                int          // of that, in view
	again                xxh3.Uint128 // if not zero: own URLs are new once more, see peers.retell
	way                  []byte
	found, deep, strange int64
	long                 int64
	warmth               uint64 // what Expect read: nobody needs it
}

func (f *Frontier) begin(d *door) {
	d.urls, d.fps, d.kinds = d.urls[:0], d.fps[:0], d.kinds[:0]
	d.view = f.views.Load()
	if d.isShared = !d.view.OwnsAll(); d.isShared {
		d.owners, d.host = d.owners[:0], nil
	}
	d.found, d.deep, d.strange, d.long = 0, 0, 0, 0
}

// WaitRoom blocks while the sieve has no room, and must be called outside the cut's shared lock: nobody waits inside.
func (f *Frontier) WaitRoom(ctx context.Context) error {
	if err := f.router.WaitRoom(ctx); err != nil {
		return err
	}
	return f.sieve.WaitRoom(ctx)
}

// Add offers one URL in normal form, with its item's Seed, Depth, Hops and Via. It borrows url, never blocks, and must
// be called under the cut's shared lock. The fingerprint enters the cache only after the sieve has taken the URL.
func (f *Frontier) Add(d *door, url []byte, it queued.URL) {
	f.begin(d)
	f.check(d, url, &it)
	f.admit(d, it, false)
}

// Receive is Add for what another agent sent. If that was wrong about whose it is, it goes on to the right one, also if
// it was sent there lately: as long as agents disagree on who is there it goes to and fro, and when they agree it is
// where it belongs.
func (f *Frontier) Receive(d *door, url []byte, it queued.URL) {
	f.begin(d)
	f.check(d, url, &it)
	f.n.Received.Add(1)
	f.admit(d, it, true)
}

// AddAll offers the links of a page, in the form of appendLink, as Add does one after the other. Their fingerprints are
// made first and looked for together, so that the cache's memory is waited for once and not for each. With kinds, one
// for each link, it.Way is that of the page, and each gets its own letter behind it.
func (f *Frontier) AddAll(d *door, links []byte, kinds []parse.Kind, it queued.URL) (n int, err error) {
	f.begin(d)
	err = journal.EachLink(links, func(url []byte) {
		if f.check(d, url, &it) && kinds != nil {
			d.kinds = append(d.kinds, kinds[n])
		}
		n++
	})
	f.admit(d, it, false)
	return n, err
}

// pageAdmission offers the links of pages. Each parse worker has its own.
type pageAdmission struct {
	*Frontier
	door door
}

// AddLinks implements parsers.Admission.
func (p *pageAdmission) AddLinks(page []byte, found *links.Finder, kinds []parse.Kind, item queued.URL) error {
	if found.Refused != (links.Refused{}) {
		p.Refuse(found.Refused)
	}
	if n := found.Userinfo; n > 0 {
		p.n.Userinfo.Add(int64(n))
	}
	if n := found.Budget.Beyond; n > 0 {
		p.n.DroppedBytes.Add(int64(n))
	}
	if n := found.Unfollowed; n > 0 {
		p.Unfollowed(n)
	}
	p.Outward(page, found.Links)
	_, err := p.AddAll(&p.door, found.Links, kinds, item)
	return err
}

// Outward counts, of links in the form of appendLink, those that lead to another host than where they were found, for
// who has other agents.
func (f *Frontier) Outward(from, links []byte) {
	if !f.countOutward {
		return
	}
	home, n := urlx.Host(from), int64(0)
	err := journal.EachLink(links, func(url []byte) {
		if !bytes.Equal(urlx.Host(url), home) {
			n++
		}
	})
	if err == nil && n > 0 { // if not, AddAll says so
		f.n.LinksOut.Add(n)
	}
}

// check keeps a URL at the door, if it belongs to the crawl, and says so.
func (f *Frontier) check(d *door, url []byte, it *queued.URL) bool {
	d.found++
	if f.maxDepth >= 0 && it.Depth > f.maxDepth {
		d.deep++
		return false
	}
	if f.maxURL > 0 && len(url) > f.maxURL {
		d.long++
		return false
	}
	if f.hosts.Excludes(url) || (f.lists != nil && f.lists.Refuses(url) != filter.NoList) || !f.scope.Admits(url,
		filter.Way{Depth: it.Depth, Hops: it.Redirects}) {
		d.strange++
		return false
	}
	fp := urlx.Fingerprint(f.hashSeed, url)
	owner := 0
	if d.isShared {
		owner = d.ownerOf(url)
		d.owners = append(d.owners, owner)
		fp = d.view.Salted(fp, url, owner)
	}
	if owner == d.view.Self {
		fp.Hi, fp.Lo = fp.Hi^d.again.Hi, fp.Lo^d.again.Lo
	}
	d.urls, d.fps = append(d.urls, url), append(d.fps, fp)
	return true
}

// HostOwner is the agent that is responsible for a URL at the door.
func (d *door) ownerOf(url []byte) int {
	if host := urlx.Host(url); d.host == nil || !bytes.Equal(host, d.host) {
		d.host, d.owner = host, d.view.HostOwner(host)
	}
	return d.owner
}

// admit lets those at the door through that were not seen lately, in order, and counts all.
func (f *Frontier) admit(d *door, it queued.URL, received bool) {
	d.warmth += f.cache.Prefetch(d.fps)
	sieved, sent := int64(0), int64(0)
	way := it.HopPath
	for i, fp := range d.fps {
		foreign := d.isShared && d.owners[i] != d.view.Self
		if f.cache.Seen(fp) && !(received && foreign) {
			continue
		}
		it.Rest = d.urls[i]
		if it.Via != nil {
			it.HopPath = nil
			if len(d.kinds) > 0 {
				d.way = queued.AppendHop(append(d.way[:0], way...), d.kinds[i])
				it.HopPath = d.way
			}
		}
		if foreign {
			d.payload = f.router.Route(d.payload, &it)
			sent++
		} else {
			d.payload = queued.Append(d.payload[:0], &it)
			f.sieve.Add(fp, d.payload)
			sieved++
		}
		f.cache.Put(fp)
	}
	f.n.Found.Add(d.found)
	if d.deep > 0 {
		f.n.DroppedDepth.Add(d.deep)
	}
	if d.strange > 0 {
		f.n.DroppedScope.Add(d.strange)
	}
	if d.long > 0 {
		f.n.DroppedLong.Add(d.long)
	}
	if known := int64(len(d.fps)) - sieved - sent; known > 0 {
		f.n.DroppedCache.Add(known)
	}
	if sent > 0 {
		f.n.Sent.Add(sent)
	}
	if sieved > 0 {
		f.n.Sieved.Add(sieved)
	}
}

// Unfollowed counts links that the follow filter refused.
func (f *Frontier) Unfollowed(n int) {
	f.n.Found.Add(int64(n))
	f.n.DroppedFollow.Add(int64(n))
}

// Refuse counts references that are no URLs we can fetch.
func (f *Frontier) Refuse(r links.Refused) {
	f.n.Found.Add(int64(r.Syntax + r.Foreign + r.Long))
	f.n.DroppedSyntax.Add(int64(r.Syntax))
	f.n.DroppedScheme.Add(int64(r.Foreign))
	f.n.DroppedLong.Add(int64(r.Long))
}
