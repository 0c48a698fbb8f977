package engine

import (
	"errors"
	"time"

	"orbweaver/engine/cluster/agent"
	"orbweaver/engine/durable/storage"
	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/frontier/links"
	"orbweaver/engine/frontier/mining"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/net/bodyfile"
	"orbweaver/engine/net/cookie"
	"orbweaver/engine/net/fetch"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/page/filter"
	"orbweaver/engine/page/hook"
	"orbweaver/engine/page/wall"
	"orbweaver/engine/state/limits"
	"orbweaver/engine/state/settings"
	"orbweaver/engine/traps"
	"orbweaver/engine/workers/archive"
	"orbweaver/engine/workers/fetchers"
	"orbweaver/internal/options"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/workbench"
	"orbweaver/workbench/cold"
)

// Config is everything that decides how a crawl behaves: a tree of the components' options. It is a value: WithDefaults
// returns a copy, Validate reports every fault at once, and nothing changes it after Open. What may change while the
// crawl runs is in settings.Live.
//
// A field with the tag help is a flag, a key of the TOML file and an environment variable, by the tags that package
// internal/options describes. Fields with kong:"-" are for programs and tests alone.
type Config struct {
	Dir     string `help:"Crawl directory. It holds the archive, the frontier and the logs. A crawl that is there is resumed." default:"./crawl" placeholder:"DIR" group:"common" basic:""`
	Refresh bool   `help:"Crawl a finished crawl again from its seeds. Servers are asked with If-None-Match and If-Modified-Since. An unchanged page becomes a revisit record without a body. --max-pages, --max-per-host and --max-time count from then on. A crawl that is not finished is resumed." group:"common" basic:""`

	Seeds admission.SeedSource `kong:"-"` // where the crawl starts; nil: with what is queued

	Filters    filter.Options       `embed:"" group:"scope"`
	Admission  admission.Options    `embed:"" group:"scope"`
	Politeness politeness.Policy    `embed:"" group:"polite"`
	Fetch      fetch.Options        `embed:"" group:"requests"`
	Workers    fetchers.Counts      `embed:"" group:"requests"`
	Cookies    cookie.Options       `embed:"" group:"requests"`
	Limits     limits.Options       `embed:"" group:"limits"`
	Order      order.Options        `embed:"" group:"scope"`
	Mining     mining.Options       `embed:"" group:"scope"`
	Hook       hook.Options         `embed:"" group:"scope"`
	Traps      traps.Options        `embed:"" group:"scope"`
	Archive    archive.Options      `embed:"" group:"archive"`
	Workbench  workbench.Options    `embed:"" group:"memory"`
	Sieve      sieve.Options        `embed:"" group:"memory"`
	Seen       storage.DedupOptions `embed:"" group:"archive"`
	Intervals  Intervals            `embed:"" group:"memory"`
	Cluster    agent.Options        `embed:"" group:"agents"`

	Walls  *wall.Table        `kong:"-"` // rules of walls; nil: those of wall.BuiltIn
	Ready  diskq.Options      `kong:"-"` // the ready queue
	Queues virtualize.Options `kong:"-"` // queues of sites on disk
	Cold   cold.Options       `kong:"-"` // idle sites on disk
}

// Intervals are the times between what is repeated.
type Intervals struct {
	Checkpoint time.Duration `name:"checkpoint" help:"Time between two checkpoints. A crash loses no page; after it, what came after the checkpoint is read again from the journal. Raise it if checkpoint pauses disturb." default:"30s" least:"1s" placeholder:"TIME"`

	Report time.Duration `kong:"-" default:"5s"`   // between two report.json
	Sync   time.Duration `kong:"-" default:"50ms"` // group commit of archive and journal
	Others time.Duration `kong:"-" default:"1m"`   // between two looks at the archives of --dedup-from
}

// Polite is the configuration of a public crawl: every setting has its default.
func Polite() Config {
	c := Config{Politeness: politeness.Default()}
	options.SetAllDefaults(&c)
	return c
}

// Simulation is a crawl of a small simulated web in virtual time: little memory and few workers.
func Simulation() Config {
	c := Config{
		Dir: "crawl", Politeness: politeness.Default(),
		Admission: admission.Options{MaxDepth: -1, CacheMemory: 1 << 20, Speculative: admission.SpeculativeOff},
		Workers:   fetchers.Counts{Fetchers: 16, Parsers: 1, Resolvers: 4}, Archive: archive.Options{Version: "test"},
	}
	c.Workbench.MemoryMax, c.Sieve.BucketBytes, c.Seen.MemoryBytes = 1<<20, 1<<20, 1<<20
	c.Fetch.UserAgent, c.Filters.Scope = "orbweaver/test (+https://example.org/bot)", filter.All
	return c
}

// Fast is a crawl of a simulated web on this machine, with delays chosen by its benchmark.
func Fast(hostDelay, ipDelay time.Duration) Config {
	c := Config{Politeness: politeness.Default(), Admission: admission.Options{MaxDepth: -1}}
	c.Admission.Speculative = admission.SpeculativeOff
	c.Filters.Scope, c.Politeness.HostDelay, c.Politeness.IPDelay = filter.All, hostDelay, ipDelay
	c.Limits.StallWait = time.Minute
	return c
}

// WithDefaults returns a copy in which every zero that has a default is filled.
func (c Config) WithDefaults() Config {
	options.SetDefaults(&c)
	c.Workers = c.Workers.WithDefaults()
	c.Workers.Hooked = c.Hook.Workers()
	return c
}

// seenMemoryLeast is the least that an index of digests takes, in bytes.
const seenMemoryLeast = 1 << 14

// Validate reports every fault of a Config that has its defaults.
func (c Config) Validate() error {
	return errors.Join(options.Check(&c), c.Workers.Validate(), c.Admission.Validate(), c.Mining.Validate(),
		c.Hook.Validate(), c.Politeness.Validate())
}

// storage are the options of what the crawl keeps on disk.
func (c *Config) storage() storage.Options {
	skip := c.Traps.SkipSettings()
	skip.Requisites = c.Admission.MaxRequisites
	return storage.Options{
		Sieve: c.Sieve, Ready: c.Ready, Queues: c.Queues, Cold: c.Cold, Dedup: c.Seen, Skip: skip,
	}
}

// warcInfo is the block of the warcinfo records.
func (c *Config) warcInfo(crawlID string) []warc.Field {
	return c.Archive.Info(crawlID, &c.Fetch, archive.DelayFields(&c.Politeness, c.Limits.IPv6Prefix)...)
}

// RulesMemory is from how many bytes of robots.txt rules on memory for them is short: then idle hosts go to disk with
// theirs, and large files are not taken.
func (c Config) RulesMemory() int64 { return max(c.Workbench.MemoryMax/4, 4<<20) }

// PageMemory is the most that the buffers of Pages can take, in bytes. They are made when needed.
func (c Config) PageMemory() int64 { return c.Workers.Pages(c.Fetch.BufferMax()).BytesMax() }

// bounds are the limits of single sites.
func (c *Config) bounds() settings.Bounds {
	return settings.Bounds{MaxPerHost: c.Limits.MaxPerHost, GiveUp: c.Limits.GiveUp, StallWait: c.Limits.StallWait}
}

// linkOptions says which links of a page are taken.
func (c *Config) linkOptions(by *filter.Filters) links.Options {
	return links.Options{
		Nofollow: c.Admission.NoFollow, Requisites: c.Admission.Requisites != admission.RequisitesOff,
		Speculative: c.Admission.Speculative == admission.SpeculativeOn, Forms: c.Admission.Forms,
		PDF:      c.Admission.PDFLinks == admission.PDFLinksOn,
		Sitemaps: c.Admission.Sitemaps, Longest: c.Admission.MaxURL, Strip: c.Admission.Params(),
		Judged: c.Hook.Command(hook.LinkKind) != nil,
		By:     links.Filters{Parse: by.Parse, Follow: by.Follow, Score: by.Score},
	}
}

// ScoresLinks reports whether links have a score, for --visit focused.
func (c *Config) ScoresLinks() bool {
	return c.Filters.Score != "" || c.Hook.Command(hook.LinkKind) != nil
}

// bodyFiles counts the files of long bodies.
func (c *Config) bodyFiles() bodyfile.Stats { return c.Fetch.Long.Files.Stats() }

// reusedConns counts exchanges over a connection that was kept.
func (c *Config) reusedConns() int64 {
	if c.Workers.KeepAlive <= 0 {
		return 0
	}
	return int64(c.Fetch.Keep.Stats().Reused)
}
