package members

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/memberlist"
)

// Options of a Group. Self has no default.
type Options struct {
	// Self is this agent. Its Gossip is where the others reach it; with port 0, and Listen zero, a free port is taken.
	Self Agent
	// Listen is the address to bind, if it is not Self.Gossip.
	Listen netip.AddrPort
	// Seeds are addresses of other agents, HOST:PORT. One that answers is enough.
	Seeds []string
	// Resolve turns a seed that is not an address into addresses; without it seeds are literal.
	Resolve func(ctx context.Context, seed string) ([]netip.AddrPort, error)
	// Key encrypts what is said: 32 bytes, AES-256-GCM. Without it nothing is encrypted and anybody who reaches the port can join.
	Key []byte
	// Accepted are further keys that messages of others may be encrypted with, while the key is changed: see Group.SetKeys.
	Accepted [][]byte
	// Transport replaces the sockets; it is shut down with the Group. See memberstest.
	Transport memberlist.Transport

	Timings Timings
	// Retells is how often each agent passes a piece of news on, times the number of digits of the group's size; default 12, which a group of a few
	// needs: see retells. One of hundreds does with 4, and a third of the traffic when many come or go.
	Retells int
	Log     *slog.Logger // default: nowhere
}

// Faults. ErrAgent is there, too.
var (
	// ErrOptions is wrapped by every fault of Options.
	ErrOptions = errors.New("members: bad options")
	// ErrName says that another agent of that ID lives.
	ErrName = errors.New("members: the name is taken")
	// ErrCrawl says that an agent belongs to another crawl.
	ErrCrawl = errors.New("members: another crawl")
	// ErrKey says that the others have another gossip key, or one has none.
	ErrKey = errors.New("members: another gossip key")
	// ErrClosed says that the Group is closed.
	ErrClosed = errors.New("members: closed")

	errEnded = errors.New("members: that term has ended")
	errCrowd = errors.New("members: there are too many agents")
)

// KeySize is the length of a gossip key in bytes.
const KeySize = 32

// WithDefaults returns a copy in which zero fields have their defaults.
func (o Options) WithDefaults() Options {
	o.Seeds, o.Key, o.Accepted = slices.Clone(o.Seeds), slices.Clone(o.Key), cloneKeys(o.Accepted)
	if o.Self.Capacity == 0 {
		o.Self.Capacity = 1
	}
	if !o.Listen.IsValid() {
		o.Listen = o.Self.Gossip
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Retells == 0 {
		o.Retells = retells
	}
	o.Timings = o.Timings.WithDefaults()
	return o
}

// Validate returns all faults joined, each wrapping ErrOptions.
func (o Options) Validate() error {
	var faults []error
	check := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf("%w: %s", ErrOptions, fmt.Sprintf(format, args...)))
		}
	}
	for _, fault := range o.Self.faults() {
		faults = append(faults, fmt.Errorf("%w: %w", ErrOptions, fault))
	}
	gossip := o.Self.Gossip
	check(gossip.IsValid() && !gossip.Addr().IsUnspecified(), "Gossip %v: the others must be able to reach it: give an address of this machine", gossip)
	check(gossip.Port() != 0 || o.Listen == gossip, "Gossip %v has no port, but Listen is another address: give the port", gossip)
	check(o.Listen.IsValid(), "Listen %v is no address", o.Listen)
	check(gossip.Addr().Zone() == "" && o.Self.Post.Addr().Zone() == "", "addresses with a zone mean nothing to the others")
	for _, seed := range o.Seeds {
		a, err := netip.ParseAddrPort(seed)
		check(err != nil || a.Port() != 0 && !a.Addr().IsUnspecified(), "seed %q has no port, or is no address of an agent", seed)
		check(err == nil || o.Resolve != nil, "seed %q is not of the form ADDRESS:PORT", seed)
	}
	if fault := keyFault(o.Key, o.Accepted); fault != nil {
		faults = append(faults, fault)
	}
	check(o.Retells >= 1 && o.Retells <= 1000, "Retells %d: want 1 to 1000", o.Retells)
	t := &o.Timings
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"Probe", t.Probe}, {"Answer", t.Answer}, {"Patience", t.Patience}, {"Gossip", t.Gossip}, {"Sync", t.Sync}, {"Stream", t.Stream}, {"Seek", t.Seek}} {
		check(d.d >= time.Millisecond, "%s %v is under 1ms", d.name, d.d)
	}
	check(t.Answer < t.Probe, "Answer %v is not under Probe %v", t.Answer, t.Probe)
	check(t.Patience >= t.Probe, "Patience %v is under Probe %v", t.Patience, t.Probe)
	return errors.Join(faults...)
}
