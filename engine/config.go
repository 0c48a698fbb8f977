package engine

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"orbweaver/engine/fetch"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/politeness"
	"orbweaver/engine/skipped"
	"orbweaver/engine/urlx"
	"orbweaver/warc"
)

// Config is everything that decides how a crawl behaves. It is a value: WithDefaults returns a copy, Validate reports
// every fault at once, and nothing changes it after Open (what may change while running lives in Live).
type Config struct {
	Dir  string // the crawl directory
	Name string // prefix of the WARC files [orbweaver]

	// Refresh begins a crawl again that is finished: every URL is new, and servers are asked whether their pages have
	// changed. One that is not finished goes on, as it would without.
	Refresh bool

	Seeds SeedSource // where the crawl starts; nil when only what is queued is to be crawled

	// The five points at which a crawl decides, each all, none, or an expression over what is known there
	// (engine/filter) [all].
	Scope        string            // may this URL enter the frontier: also host, domain or prefix
	FetchFilter  string            // may this URL, taken from the frontier, be asked for now
	ParseFilter  string            // is this page searched for links
	FollowFilter string            // does this link of this page lead on
	Store        string            // is this page kept
	Lists        filter.Lists      // plain rules before the scope, and again before a request
	HostRules    *filter.HostRules // how hosts differ from what is said here; nil: none does
	NoFollow     bool              // obey nofollow in rel, in meta robots and in X-Robots-Tag
	Forms        bool              // follow the action of forms that only read (method GET)
	Sitemaps     bool              // follow the sitemaps that robots.txt files name
	Cookies      bool              // keep what sites set, each for itself, and tell it to them again

	MaxPages   int64 // pages stored in this pass, those that are unchanged among them, 0 for no limit
	MaxDepth   int   // links from a seed, -1 for no limit
	MaxURL     int   // bytes of a URL in normal form, 16 to urlx.LengthMax [2048]
	MaxPerHost int   // pages stored of one site, 0 for no limit

	MaxPerDomain      int      // pages stored of all sites of a registrable domain, 0 for no limit
	MaxHostsPerDomain int      // sites of a registrable domain, 0 for no limit
	MaxHostsPerIP     int      // sites of one address, 0 for no limit
	IPv6Prefix        int      // IPv6 addresses count as one for delays, quotas and leases if so many of their bits are equal, 32 to 128 [64]
	MaxPathRepeats    int      // times that the same folders may follow each other in a path, before a URL is left out; 0 for no limit
	TrapFloor         int      // delayed URLs of a part of a site that are fetched at least, before any is left out [10000]
	StripParams       []string // parameters that links lose: names, or a beginning and *

	MaxTime   time.Duration // of running, all runs of this pass together, 0 for no limit
	MaxDisk   int64         // bytes of archive, frontier and logs, 0 for no limit
	StallWait time.Duration // how long a crawl goes on in which all queued URLs are of sites in trouble; below 0: not at all [1h]
	GiveUp    time.Duration // how long a site that has answered before may fail until its queued URLs are given up [7 days]

	Fetchers int // fetch workers [1024]
	Parsers  int // parse workers [one a core]
	Resolves int // resolver workers [256, which ask for 5,000 names a second of servers that take 50 ms]

	WorkbenchMemory int64 // bytes of queued paths in memory, and of known hosts: what is beyond goes to disk [256 MiB]
	CacheMemory     int64 // bytes of the fingerprint cache [64 MiB]
	SieveMemory     int64 // bytes of the sieve's two buckets [64 MiB]
	SeenMemory      int64 // bytes of the index of payload digests [192 MiB, which is enough for 10^8]
	CookieMemory    int64 // bytes of all sites' cookies, if they are kept [64 MiB]
	NoveltyMemory   int64 // bytes of what is known of how much new the parts of sites bring; below zero no URL is delayed [32 MiB]

	Agents    int           // of the crawl, this one among them, that must be there before it begins; not for one that comes when others have begun [1]
	AgentAway time.Duration // how long the hosts of an agent that stopped in good order wait for it, before others take them over [10m]
	AgentJoin bool          // it was told of others: if none is there they may have stopped just now, and no host is asked for ten seconds
	Quorum    bool          // fetch only with a lease of a majority of the agents: one side of a partition goes on at most
	Recover   int           // how many others are asked whether they have a page, if agents have come or gone; below 0 for none [3]
	PeerQuota int           // how many URLs another agent may send before this one has done any work of its own; below 0 for any number [1000000]

	Checkpoint  time.Duration // between two cuts [30s]
	ReportEvery time.Duration // between two report.json [5s]
	SyncEvery   time.Duration // group commit of archive and journal [50ms]

	Politeness politeness.Policy
	Fetch      fetch.Options
	KeepAlive  time.Duration // how long a connection waits for the next exchange with its site; 0: one connection an exchange
	KeptMax    int           // connections that wait at a time [two for each fetch worker, if KeepAlive is set]
	Ports      []int         // that links may name beside the usual ones

	Operator    string
	Description string
	WARC        WARCConfig
	Rooms       RoomSizes

	// ProxyMode says that connections go to a proxy: addresses decide politeness only.
	ProxyMode bool
	Version   string // of the program, for warcinfo
	Effective string // the configuration as text, for warcinfo's digest
}

// WARCConfig is the archive's part.
type WARCConfig struct {
	Compression warc.Compression
	Level       int
	Dictionary  []byte // of zstd, for all files; nil for none
	SizeMax     int64  // bytes of one file before the next is begun [1 GiB]
	Host        string
	Metadata    Metadata // which captures get a metadata record
	Via         bool     // keep with each queued URL the page that led to it: costs its length on disk, and in memory, for each
	Outlinks    bool     // tell in metadata records what a page links to
	DNS         bool     // keep what name servers said, where the crawl asks them itself
}

// RoomSizes are sizes inside the rooms that nobody needs to set: they are here so that a small crawl can do all that a
// large one does (fill segments, merge runs, collect, rotate). What is zero is the room's own default.
type RoomSizes struct {
	ReadySegment  int64 // bytes of a segment of the ready queue
	QueuesSegment int64 // bytes of a segment of the queues on disk, a multiple of 4096 from 8192 on
	QueuesBuffer  int   // bytes of what is not yet in a segment
	ColdSegment   int64 // bytes of a file of cold hosts, 1 KiB to 64 MiB
	ColdBuffer    int   // bytes of cold hosts that are written together
	SeenBuffer    int   // bytes of page digests that are written together
	SieveRuns     int   // sorted files of the sieve
	JournalStep   int64 // bytes that a journal reserves at a time [1 MiB]
	SiteItems     int   // items of one site in memory; what is beyond goes to disk [64]
}

// WithDefaults returns a copy in which every zero that has a default is filled.
func (c Config) WithDefaults() Config {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def64 := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	defTime := func(p *time.Duration, v time.Duration) {
		if *p == 0 {
			*p = v
		}
	}
	if c.Dir == "" {
		c.Dir = "crawl"
	}
	if c.Name == "" {
		c.Name = "orbweaver"
	}
	for _, point := range []*string{&c.Scope, &c.FetchFilter, &c.ParseFilter, &c.FollowFilter, &c.Store} {
		if *point == "" {
			*point = filter.All
		}
	}
	def(&c.MaxURL, 2048)
	def(&c.Fetchers, 1024)
	def(&c.Parsers, min(runtime.GOMAXPROCS(0), runtime.NumCPU()))
	def(&c.Resolves, 256)
	def(&c.IPv6Prefix, politeness.DefaultIPv6Prefix)
	def(&c.Agents, 1)
	def(&c.Recover, 3)
	def(&c.PeerQuota, 1_000_000)
	defTime(&c.AgentAway, 10*time.Minute)
	def(&c.Rooms.SiteItems, siteItemsMax)
	def64(&c.Rooms.JournalStep, journal.JournalReserve)
	def64(&c.WorkbenchMemory, 256<<20)
	def64(&c.CacheMemory, 64<<20)
	def64(&c.SieveMemory, 64<<20)
	def64(&c.SeenMemory, 192<<20)
	def64(&c.CookieMemory, 64<<20)
	def64(&c.NoveltyMemory, 32<<20)
	def(&c.TrapFloor, 10_000)
	def64(&c.WARC.SizeMax, 1<<30)
	def(&c.WARC.Level, 1)
	if c.KeepAlive > 0 {
		def(&c.KeptMax, 2*c.Fetchers)
	}
	defTime(&c.StallWait, time.Hour)
	defTime(&c.GiveUp, 7*24*time.Hour)
	defTime(&c.Checkpoint, 30*time.Second)
	defTime(&c.ReportEvery, 5*time.Second)
	defTime(&c.SyncEvery, 50*time.Millisecond)
	if c.WARC.Host == "" {
		c.WARC.Host = "localhost"
	}
	return c
}

const trapFloorMax = 1 << 30

// seenMemoryLeast is the least that an index of digests takes, in bytes.
const seenMemoryLeast = 1 << 14

// Validate reports every fault of a Config that has its defaults.
func (c Config) Validate() error {
	var faults []error
	bad := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if c.Fetchers < 1 || c.Fetchers > 1<<17 {
		bad("fetchers: %d is not between 1 and %d", c.Fetchers, 1<<17)
	}
	if c.MaxURL < 16 || c.MaxURL > urlx.LengthMax {
		bad("max-url: %d is not between 16 and %d", c.MaxURL, urlx.LengthMax)
	}
	if c.Parsers < 1 || c.Parsers > 1024 {
		bad("parsers: %d is not between 1 and 1024", c.Parsers)
	}
	if c.WorkbenchMemory < 1<<14 {
		bad("workbench-memory: %d bytes are too few; give at least 16Ki", c.WorkbenchMemory)
	}
	if c.CacheMemory < 1<<16 {
		bad("cache-memory: %d bytes are too few; give at least 64Ki", c.CacheMemory)
	}
	if c.SieveMemory < 1<<16 {
		bad("sieve-memory: %d bytes are too few; give at least 64Ki", c.SieveMemory)
	}
	if c.SeenMemory < seenMemoryLeast {
		bad("seen-memory: %d bytes are too few; give at least 16Ki", c.SeenMemory)
	}
	if c.MaxPerDomain < 0 || c.MaxHostsPerDomain < 0 || c.MaxHostsPerIP < 0 || c.MaxPathRepeats < 0 {
		bad("max-per-domain, max-hosts-per-domain, max-hosts-per-ip and max-path-repeats may not be negative; 0 means no limit")
	}
	if c.TrapFloor < 1 || c.TrapFloor > trapFloorMax {
		bad("trap-floor: %d is not between 1 and %d", c.TrapFloor, trapFloorMax)
	}
	if c.IPv6Prefix < politeness.MinIPv6Prefix || c.IPv6Prefix > politeness.MaxIPv6Prefix {
		bad("ipv6-prefix: %d is not between %d and %d", c.IPv6Prefix, politeness.MinIPv6Prefix, politeness.MaxIPv6Prefix)
	}
	if _, err := urlx.NewParams(c.StripParams); err != nil {
		bad("strip-params: %w", err)
	}
	if c.MaxPages < 0 || c.MaxPerHost < 0 || c.MaxDisk < 0 || c.MaxTime < 0 {
		bad("max-pages, max-per-host, max-disk and max-time may not be negative; 0 means no limit")
	}
	if c.KeepAlive < 0 || c.KeptMax < 0 {
		bad("keep-alive: %v for %d connections; neither may be negative", c.KeepAlive, c.KeptMax)
	}
	if c.GiveUp < 0 {
		bad("give-up: %v is negative", c.GiveUp)
	}
	if c.Checkpoint < time.Second {
		bad("checkpoint: %v is too often; give at least 1s", c.Checkpoint)
	}
	if c.WARC.SizeMax < 1<<16 {
		bad("warc-size: %d bytes are too few; give at least 64Ki", c.WARC.SizeMax)
	}
	if err := c.Politeness.Validate(); err != nil {
		faults = append(faults, err)
	}
	return errors.Join(faults...)
}

// params are what links lose; faults are Validate's to tell.
func (c Config) params() *urlx.Params {
	if len(c.StripParams) == 0 {
		return nil
	}
	p, _ := urlx.NewParams(c.StripParams)
	return p
}

// keep makes what holds connections between two exchanges; nil if none are to be.
func (c Config) keep() *fetch.IdleConns {
	if c.KeepAlive == 0 {
		return nil
	}
	return fetch.NewIdleConns(c.KeepAlive, c.KeptMax)
}

// RulesMemory is from how many bytes of robots.txt rules on memory for them is short: then idle hosts go to disk with
// theirs, and large files are not taken.
func (c Config) RulesMemory() int64 { return max(c.WorkbenchMemory/4, 4<<20) }

// KeptMemory is the most that waiting connections can take, in bytes: those with TLS have buffers of their own.
func (c Config) KeptMemory() int64 { return int64(c.KeptMax) * keptBytes }

// keptBytes is the memory of a waiting connection with TLS.
const keptBytes = 32 << 10

// pagesMax is how many Pages can be out at once: the sum of those who may hold one.
func (c Config) pagesMax() int {
	fetching := c.Fetchers   // one in the hands of each fetch worker
	waiting := 4 * c.Parsers // fetched, not yet taken by a parse worker
	parsing := c.Parsers     // one in the hands of each parse worker
	return fetching + waiting + parsing
}

// pool is the counted memory of Pages: a number that can be printed at the start.
func (c Config) pool() fetch.PoolOptions {
	return fetch.PoolOptions{Pages: c.pagesMax(), SlabBytes: c.Fetch.BufferMax()}.WithDefaults()
}

// PageMemory is the most that the buffers of Pages can take, in bytes. They are made when needed.
func (c Config) PageMemory() int64 {
	p := c.pool()
	return int64(p.Inlines)*int64(p.InlineBytes) + int64(p.Mids)*int64(p.MidBytes) + int64(p.Slabs)*int64(p.SlabBytes)
}

func (c *Config) trapSettings() skipped.Settings {
	s := skipped.Settings{Floor: c.TrapFloor, Repeats: c.MaxPathRepeats}
	if c.NoveltyMemory < 0 {
		s.Floor = 0
	}
	return s
}
