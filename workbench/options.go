package workbench

import (
	"errors"
	"fmt"

	"orbweaver/internal/options"
)

// Options configure a Workbench. The zero value of a field means its default.
type Options struct {
	// UrgentFlags are bits of the first byte of an item. An item with one of them precedes all items of its site
	// without, unless it was tried before: the low half of its second byte is not zero. An item that fails must let the
	// others of its site show that the site answers.
	UrgentFlags byte `kong:"-"`
	// PathsPerVisit is K, the most items in one Visit. Default 4, range 1 to 65536.
	PathsPerVisit int `kong:"-"`
	// MemoryMax is the weight in bytes from which Memory.Full returns true. It is advice to the caller: Push works above
	// it as well. Range 1 and more.
	MemoryMax int64 `name:"workbench-memory" type:"size" help:"Memory of queued paths and of idle hosts; more of them go to disk. Raise it for crawls of millions of hosts." default:"256MiB" least:"16KiB" placeholder:"SIZE"`
}

// The defaults and bounds of Options.
const (
	defaultPathsPerVisit = 4
	maxPathsPerVisit     = 1 << 16
)

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o Options) WithDefaults() Options {
	if o.PathsPerVisit == 0 {
		o.PathsPerVisit = defaultPathsPerVisit
	}
	options.SetDefaults(&o)
	return o
}

// Validate returns all faults of o as a joined error, or nil.
func (o Options) Validate() error {
	var faults []error
	if o.PathsPerVisit < 1 || o.PathsPerVisit > maxPathsPerVisit {
		faults = append(faults,
			fmt.Errorf("workbench: PathsPerVisit is %d, must be 1 to %d", o.PathsPerVisit, maxPathsPerVisit))
	}
	if o.MemoryMax < 1 {
		faults = append(faults, fmt.Errorf("workbench: MemoryMax is %d, must be positive", o.MemoryMax))
	}
	return errors.Join(faults...)
}
