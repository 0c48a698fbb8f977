package gossip

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// Options of a simulation.
type Options struct {
	Sizes  []int         // of the groups, each 3 to 5,000
	Agents int           // in all groups of one size together, at least; 1 to 10,000
	Deaths int           // in all groups of one size together, about; each group has one at least
	Quiet  time.Duration // how long traffic is measured while nothing happens
	Pace   float64       // all times of the agents are multiplied by it: 1 is real time
	Seed   uint64        // of the network
	Say    io.Writer     // is told how far it is
}

// ErrOptions is wrapped by every fault of Options.
var ErrOptions = errors.New("gossip: bad options")

// Validate returns all faults joined.
func (o *Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
		}
	}
	for _, n := range o.Sizes {
		check(n >= 3 && n <= 5000, "a group of %d: want 3 to 5000", n)
	}
	check(len(o.Sizes) > 0, "no sizes")
	check(o.Agents >= 1 && o.Agents <= 10000, "%d agents: want 1 to 10000", o.Agents)
	check(o.Deaths >= 1 && o.Deaths <= 10000, "%d deaths: want 1 to 10000", o.Deaths)
	check(o.Quiet >= time.Second, "Quiet %v is under 1s", o.Quiet)
	check(o.Pace >= 0.05 && o.Pace <= 100, "a pace of %v: want 0.05 to 100", o.Pace)
	return errors.Join(faults...)
}
