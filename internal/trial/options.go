package trial

import (
	"context"
	"io"
	"log/slog"
	"time"

	"orbweaver/engine"
	"orbweaver/engine/frontier/order"
	"orbweaver/engine/workers/parsers"
)

// Options of a crawl.
type Options struct {
	Web       Web
	Dir       string // crawl directory
	HostDelay time.Duration
	IPDelay   time.Duration
	KeepAlive time.Duration // how long a connection stays open for the next request; 0 for one connection a page
	Fetchers  int
	Visit     order.Visit   // the order of visits
	Score     string        // an expression: the score of a link, for the order focused
	MaxPages  int64         // 0 for all
	MaxTime   time.Duration // 0 for no limit
	GiveUp    time.Duration // how long a site may fail that has answered before; 0 for the engine's default
	Records   Records
	Memory    Memory

	SkipVerify bool   // do not read the archive at the end
	Version    string // of the program
	Progress   io.Writer
	Log        *slog.Logger
	Usage      func() (cpu time.Duration, rssPeak int64)

	// OnStart is called with the open engine before it runs. What it returns is called when the crawl has ended.
	OnStart func(e *engine.Engine) (onEnd func())
}

// Records are the options of the archive.
type Records struct {
	Level    int // of gzip
	Metadata parsers.MetadataMode
	Via      bool
	Outlinks bool
}

// Memory is what the components may use, in bytes; 0 is the engine's default.
type Memory struct{ Workbench, Cache, Sieve int64 }

// Web is what a crawl runs against, such as Simulated.
type Web interface {
	// Open starts the web. The caller calls Close.
	Open(ctx context.Context, o *Options) (OpenWeb, error)
}

// OpenWeb is a web that answers.
type OpenWeb interface {
	// Configure sets what the web needs of the engine: seeds, proxy, dialer, resolver.
	Configure(cfg *engine.Config, seams *engine.Seams) error
	// Watch observes the crawl until ctx ends, and may end it. measure returns the result so far.
	Watch(ctx context.Context, e *engine.Engine, end func(), measure func() *Result)
	// Close stops the web and adds its own measurements to the result, which is nil after an error.
	Close(r *Result) error
}
