package fetchers

import (
	"errors"
	"fmt"
	"runtime"
	"time"

	"orbweaver/engine/net/fetch"
)

// Counts are the loops of an agent, by number, and the connections and items that they hold.
type Counts struct {
	Fetchers int `help:"Number of fetch workers: requests at the same time. Raise it if report.json is waiting for servers. Lower it if the network, the memory or the number of open files is short." default:"1024" least:"1" most:"131072" placeholder:"N" basic:""`

	Parsers   int `kong:"-"`                        // parse workers; default: one for each processor
	Hooked    int `kong:"-"`                        // further parse workers, for those that wait for --hook
	Resolvers int `kong:"-"`                        // lookups of names at the same time; default: see resolversOf
	SiteItems int `kong:"-" default:"64" least:"1"` // items of one site in memory; more go to disk

	KeepAlive time.Duration `help:"Time a connection stays open at most for the next request to its site; 0: one connection for each request. It is kept only if that request is due while the server keeps it, too: above --host-delay." default:"15s" zero:"-1" placeholder:"TIME"`
	// IdleConnsMax limits open connections without a request. The default is eight for each fetch worker, but from 1,024
	// on no more than workers; none if KeepAlive is -1.
	IdleConnsMax int `kong:"-"`
}

// WithDefaults returns a copy whose zeros are filled that depend on this machine or on other options.
func (o Counts) WithDefaults() Counts {
	if o.Parsers == 0 {
		o.Parsers = min(runtime.GOMAXPROCS(0), runtime.NumCPU())
	}
	if o.Resolvers == 0 {
		o.Resolvers = resolversOf(o.Fetchers)
	}
	if o.KeepAlive > 0 && o.IdleConnsMax == 0 {
		o.IdleConnsMax = max(o.Fetchers, min(8*o.Fetchers, 1024)) // a worker has several sites in turn
	}
	return o
}

// resolversOf returns how many names are looked up at the same time, for so many fetch workers. 640 lookups resolve
// some 11,000 names a second of a server that takes 50 ms. There are never few: a name with dead servers takes 15 s.
func resolversOf(workers int) int { return min(max(workers, 256), 640) }

// Validate reports the faults of Options with defaults that their tags do not find.
func (o *Counts) Validate() error {
	var faults []error
	if n := o.Parsers; n < 1 || n > 1024 {
		faults = append(faults, fmt.Errorf("parsers: %d is not between 1 and 1024", n))
	}
	if o.Resolvers < 1 {
		faults = append(faults, fmt.Errorf("resolvers: %d is not positive", o.Resolvers))
	}
	if o.IdleConnsMax < 0 {
		faults = append(faults, fmt.Errorf("idle connections: %d is negative", o.IdleConnsMax))
	}
	return errors.Join(faults...)
}

// KeepConnections makes what holds connections between two exchanges; nil if connections are not kept.
func (o *Counts) KeepConnections() *fetch.IdleConns {
	if o.KeepAlive <= 0 {
		return nil
	}
	return fetch.NewIdleConns(o.KeepAlive, o.IdleConnsMax)
}

// KeptMemory is the most that waiting connections can take, in bytes: those with TLS have buffers of their own.
func (o *Counts) KeptMemory() int64 { return int64(o.IdleConnsMax) * keptBytes }

// SessionMemory is the memory of TLS sessions in bytes: for some five servers a worker, and 5,000 at most.
func (o *Counts) SessionMemory() int64 { return min(64<<20, int64(o.Fetchers)*(64<<10)) }

// keptBytes is the memory of a waiting connection with TLS.
const keptBytes = 32 << 10

// Pages is the counted memory of Pages, each with a buffer of so many bytes: a number that can be printed at the start.
func (o *Counts) Pages(bufferMax int) fetch.PoolOptions {
	return fetch.PoolOptions{Pages: o.pagesMax(), SlabBytes: bufferMax}.WithDefaults()
}

// pagesMax is how many Pages can be out at once: the sum of all places that may hold one.
func (o *Counts) pagesMax() int {
	fetching := o.Fetchers                            // one in the hands of each fetch worker
	waiting := 4*o.Parsers + o.LongParsers()          // fetched, not yet taken by a parse worker
	parsing := o.Parsers + o.Hooked + o.LongParsers() // one in the hands of each parse worker
	return fetching + waiting + parsing
}

// LongParsers is how many parse workers there are besides, for pages whose body is in a file. A body of a gigabyte
// takes seconds, and the other pages do not wait for it.
func (o *Counts) LongParsers() int { return max(1, o.Parsers/2) }
