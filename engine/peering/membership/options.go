package membership

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/netip"
	"slices"
	"time"

	"github.com/hashicorp/memberlist"
)

// Options of a Service. Self has no default.
type Options struct {
	// Self is this agent. Other agents reach it at its GossipAddr, which it binds. With port 0 a free port is used.
	Self Agent
	// Seeds are gossip addresses of other agents, ADDRESS:PORT. One reachable address is enough.
	Seeds []string
	// Key is the gossip key that encrypts messages: 32 bytes, AES-256-GCM. Without it nothing is encrypted, and every
	// process that reaches the port can join.
	Key []byte
	// AcceptedKeys are further gossip keys that open messages while the key is being changed. See Service.SetKeys.
	AcceptedKeys [][]byte
	// Transport replaces the sockets. The Service shuts it down. Package membershiptest has one for tests.
	Transport memberlist.NodeAwareTransport

	Timings Timings
	// RetransmitMult is how often each agent gossips a change, multiplied by the logarithm of the number of agents. The
	// default is 12, for few agents. For hundreds of agents 4 is enough, and saves a third of the traffic while many
	// agents join or leave.
	RetransmitMult int
	Log            *slog.Logger // default: discards
}

// Errors of this package. ErrAgent belongs to them.
var (
	// ErrOptions is wrapped by every error about Options.
	ErrOptions = errors.New("membership: invalid options")
	// ErrNameInUse means that another living process has the ID of this agent.
	ErrNameInUse = errors.New("membership: agent name in use")
	// ErrOtherCrawl means that an agent belongs to another crawl.
	ErrOtherCrawl = errors.New("membership: other crawl")
	// ErrOtherKey means that the gossip keys of two agents differ, or that only one of them has a key.
	ErrOtherKey = errors.New("membership: other gossip key")
	// ErrClosed means that the Service is closed.
	ErrClosed = errors.New("membership: closed")

	errEndedIncarnation = errors.New("membership: ended incarnation")
	errTableFull        = errors.New("membership: too many processes")
)

// KeySize is the length of a gossip key in bytes.
const KeySize = 32

// WithDefaults returns a copy in which zero fields have their defaults.
func (o Options) WithDefaults() Options {
	o.Seeds, o.Key, o.AcceptedKeys = slices.Clone(o.Seeds), slices.Clone(o.Key), cloneKeys(o.AcceptedKeys)
	if o.Self.Capacity == 0 {
		o.Self.Capacity = 1
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.RetransmitMult == 0 {
		o.RetransmitMult = defaultRetransmitMult
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
	gossip := o.Self.GossipAddr
	check(gossip.IsValid() && !gossip.Addr().IsUnspecified(),
		"gossip address %v: other agents must be able to reach it: give an address of this machine", gossip)
	check(gossip.Addr().Zone() == "" && o.Self.MessageAddr.Addr().Zone() == "",
		"an address with a zone: other agents cannot use it")
	for _, seed := range o.Seeds {
		a, err := netip.ParseAddrPort(seed)
		check(err == nil && a.Port() != 0 && !a.Addr().IsUnspecified(), "seed %q is not ADDRESS:PORT of an agent", seed)
	}
	if fault := keyFault(o.Key, o.AcceptedKeys); fault != nil {
		faults = append(faults, fault)
	}
	check(o.RetransmitMult >= 1 && o.RetransmitMult <= 1000, "RetransmitMult %d: want 1 to 1000", o.RetransmitMult)
	t := &o.Timings
	for _, d := range []struct {
		name string
		d    time.Duration
	}{
		{"ProbeInterval", t.ProbeInterval}, {"ProbeTimeout", t.ProbeTimeout}, {"SuspicionTimeout", t.SuspicionTimeout},
		{"GossipInterval", t.GossipInterval}, {"PushPullInterval", t.PushPullInterval},
		{"StreamTimeout", t.StreamTimeout}, {"RejoinInterval", t.RejoinInterval},
	} {
		check(d.d >= time.Millisecond, "%s %v: want at least 1ms", d.name, d.d)
	}
	check(t.ProbeTimeout < t.ProbeInterval,
		"ProbeTimeout %v: want less than ProbeInterval %v", t.ProbeTimeout, t.ProbeInterval)
	check(t.SuspicionTimeout >= t.ProbeInterval,
		"SuspicionTimeout %v: want at least ProbeInterval %v", t.SuspicionTimeout, t.ProbeInterval)
	return errors.Join(faults...)
}

// Timings are the intervals and limits of the protocol. All agents of a crawl should have the same.
type Timings struct {
	ProbeInterval    time.Duration // between two probes of this agent; default 500 ms
	ProbeTimeout     time.Duration // for an answer to a UDP ping, less than ProbeInterval; default 300 ms
	SuspicionTimeout time.Duration // from suspect to dead; default 6 s
	GossipInterval   time.Duration // between gossip messages to three other agents; default 200 ms
	PushPullInterval time.Duration // between full exchanges of state, longer with more than 32 agents; default 5 s
	StreamTimeout    time.Duration // for one exchange over TCP; default 3 s
	RejoinInterval   time.Duration // between attempts to reach missing agents; default 5 s
}

// WithDefaults returns a copy in which zero fields have their defaults.
func (t Timings) WithDefaults() Timings {
	duration := func(d *time.Duration, v time.Duration) {
		if *d == 0 {
			*d = v
		}
	}
	duration(&t.ProbeInterval, 500*time.Millisecond)
	duration(&t.ProbeTimeout, 300*time.Millisecond)
	duration(&t.SuspicionTimeout, 6*time.Second)
	duration(&t.GossipInterval, 200*time.Millisecond)
	duration(&t.PushPullInterval, 5*time.Second)
	duration(&t.StreamTimeout, 3*time.Second)
	duration(&t.RejoinInterval, 5*time.Second)
	return t
}

// Scaled returns t with defaults, multiplied by a factor. A factor below 1 makes the protocol faster.
func (t Timings) Scaled(factor float64) Timings {
	t = t.WithDefaults()
	for _, d := range []*time.Duration{
		&t.ProbeInterval, &t.ProbeTimeout, &t.SuspicionTimeout, &t.GossipInterval,
		&t.PushPullInterval, &t.StreamTimeout, &t.RejoinInterval,
	} {
		*d = time.Duration(math.Round(float64(*d) * factor))
	}
	return t
}

// deadRetention is how long memberlist remembers a dead member, and gossips to it so that it can refute.
func (t *Timings) deadRetention() time.Duration { return 2 * t.SuspicionTimeout }

// suspicionMult is memberlist's SuspicionMult for n processes. Memberlist multiplies it by ProbeInterval and by the
// logarithm of n. The division here removes the logarithm, so that the result is SuspicionTimeout for any n. This keeps
// M2. The timeout is long enough for thousands of agents, which ten rounds of gossip reach.
func (t *Timings) suspicionMult(n int) int {
	scale := max(1, math.Log10(max(1, float64(n))))
	return max(1, int(math.Round(float64(t.SuspicionTimeout)/(scale*float64(t.ProbeInterval)))))
}
