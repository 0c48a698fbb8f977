package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"orbweaver/bench/netns"
	"orbweaver/internal/trial/load"
)

// Cut is how the smaller side of a partition is cut off.
type Cut string

// The cuts.
const (
	Full   Cut = "full"    // nothing passes
	OneWay Cut = "one-way" // what the smaller side sends is lost, what it is sent arrives
	Flap   Cut = "flap"    // ways are cut, either or both, and mended again, at random
)

// Cuts are all there are.
func Cuts() []Cut { return []Cut{Full, OneWay, Flap} }

// cutFrom is the part of the pages from which on there is a partition: then each agent has had something of each host.
const cutFrom = 0.1

// In a flapping one, how long a way is cut, in seconds: membership takes some 8 s for its verdict, a side without a
// majority stops after 10 s, and hosts are taken over some 30 s after a cut, so some last long enough for most of
// these.
const (
	flapLeast = 4
	flapMost  = 28
)

// The ports of agents in namespaces of their own, and of the web that each has on its loopback.
const (
	gossipPort = 7946
	postPort   = 7947
	webPort    = 8080
)

// partition is one that is being played.
type partition struct {
	land    *netns.Land
	small   []int // the agents of the smaller side: the last ones
	large   []int
	seals   string // folder of the agents' certificates
	log     string // file of what the web saw
	rng     *rand.Rand
	severed bool // now
	changes int
	next    time.Time // of the changes

	cut      time.Time // zero before
	mended   time.Time // after the last change
	together time.Time // when the last agent saw all others again

	unanswered int64 // questions up to then
}

// newPartition makes the namespaces. close removes them.
func newPartition(ctx context.Context, p *plan, dir string) (*partition, error) {
	land, err := netns.New(ctx, p.agents)
	if err != nil {
		return nil, err
	}
	c := &partition{
		land:  land,
		seals: filepath.Join(dir, "ca"),
		log:   filepath.Join(dir, "web.log"),
		rng:   rand.New(rand.NewPCG(p.world.Seed, 0)),
	}
	for k := range p.agents {
		if k < p.agents-smaller(p.agents) {
			c.large = append(c.large, k)
		} else {
			c.small = append(c.small, k)
		}
	}
	return c, nil
}

// place implements network.
func (c *partition) place(_ context.Context, _ *fleet, a *agent, k int) error {
	a.enter = func(command ...string) []string { return c.land.In(k, command...) }
	a.gossip = fmt.Sprintf("%s:%d", c.land.Address(k), gossipPort)
	a.post = fmt.Sprintf("%s:%d", c.land.Address(k), postPort)
	return nil
}

// smaller is how many agents are fewer than the others.
func smaller(agents int) int { return (agents - 1) / 2 }

// seal makes certificates: agents that are not on one loopback have them.
func (c *partition) seal(ctx context.Context, f *fleet) error {
	commands := [][]string{{"ca", "init", "--dir", c.seals}}
	for _, a := range f.agents {
		commands = append(commands, []string{"ca", "issue", a.id, "--dir", c.seals})
	}
	for _, args := range commands {
		if said, err := exec.CommandContext(ctx, f.o.Program, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("agents: %s %s: %w: %s", args[0], args[1], err, lastLine(said))
		}
	}
	return nil
}

// serve starts a web that each agent has on its own loopback.
func (c *partition) serve(ctx context.Context, f *fleet, args []string) (*load.Child, error) {
	if err := c.seal(ctx, f); err != nil {
		return nil, err
	}
	var where []string
	for k := range f.agents {
		where = append(where, fmt.Sprintf("127.0.0.1:%d@%s", webPort, c.land.Namespace(k)))
	}
	return load.StartChildAt(ctx, c.land.Hub(f.o.Program), f.p.world, where, append(args, "--log", c.log)...)
}

// complete implements network. --max-time ends an agent that this program can no longer stop.
func (c *partition) complete(f *fleet, a *agent, args []string) []string {
	args = append(args, "--agent", a.id, "--agent-file", filepath.Join(c.seals, a.id+".agent"),
		"--agents", fmt.Sprint(len(f.agents)), "--gossip", a.gossip, "--agent-listen", a.post,
		"--max-time", (f.o.Most + time.Minute).String())
	for _, b := range f.agents {
		if a != b {
			args = append(args, "--join", b.gossip)
		}
	}
	if f.p.quorum {
		args = append(args, "--quorum")
	}
	return append(args, f.o.Pass...)
}

// step does what is due.
func (c *partition) step(ctx context.Context, f *fleet, now time.Time) error {
	switch {
	case c.cut.IsZero():
		if part, err := f.stored(); err != nil || part < cutFrom {
			return err
		}
		if err := c.sever(ctx, f.p.cut); err != nil {
			return err
		}
		c.cut = time.Now() // from here on nothing passes
		c.next = c.cut.Add(c.between(flapLeast, flapMost))
	case c.mended.IsZero() && now.After(c.cut.Add(f.o.CutTime)):
		c.mended = time.Now()
		return c.land.Mend(ctx)
	case c.mended.IsZero() && f.p.cut == Flap && now.After(c.next):
		return c.flap(ctx)
	case !c.mended.IsZero() && c.together.IsZero():
		return c.look(f)
	}
	return nil
}

// sever cuts the smaller side off.
func (c *partition) sever(ctx context.Context, kind Cut) error {
	c.severed = true
	c.changes++
	switch kind {
	case Flap:
		switch c.rng.IntN(4) {
		case 0:
			return c.land.Lose(ctx, c.small, c.large)
		case 1:
			return c.land.Lose(ctx, c.large, c.small)
		}
	case OneWay:
		return c.land.Lose(ctx, c.small, c.large)
	case Full:
	}
	return c.land.Part(ctx, c.small)
}

// flap is one change.
func (c *partition) flap(ctx context.Context) error {
	if !c.severed {
		c.next = time.Now().Add(c.between(flapLeast, flapMost))
		return c.sever(ctx, Flap)
	}
	c.severed, c.next = false, time.Now().Add(c.between(1, 6))
	c.changes++
	return c.land.Mend(ctx)
}

// between is some time between two numbers of seconds.
func (c *partition) between(least, most float64) time.Duration {
	return time.Duration((least + (most-least)*c.rng.Float64()) * float64(time.Second))
}

// look notes when the sides have found each other, by what the agents report.
func (c *partition) look(f *fleet) error {
	last, unanswered := c.mended, int64(0)
	for _, a := range f.agents {
		t, err := a.readReport()
		if err != nil {
			return err
		}
		unanswered += t.Peers.Unanswered
		since, err := a.sees(len(f.agents))
		if err != nil || since.IsZero() {
			return err
		}
		if since.After(last) {
			last = since
		}
	}
	c.together, c.unanswered = last, unanswered
	return nil
}

// sees is since when an agent sees so many others and itself, as it last reported; zero if it does not.
func (a *agent) sees(want int) (last time.Time, err error) {
	var r struct {
		Peers struct {
			Agents []struct {
				State string    `json:"state"`
				Since time.Time `json:"state_since"`
			} `json:"agents"`
		} `json:"cluster"`
	}
	b, err := os.ReadFile(filepath.Join(a.dir, "report.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		return last, fmt.Errorf("agents: what %s reports: %w", a.id, err)
	}
	n := 0
	for _, peer := range r.Peers.Agents {
		if peer.State == "alive" {
			n++
			last = slices.MaxFunc([]time.Time{last, peer.Since}, time.Time.Compare)
		}
	}
	if n < want {
		return time.Time{}, nil
	}
	return last, nil
}

// checkPlayed implements network.
func (c *partition) checkPlayed(f *fleet) error {
	if c.mended.IsZero() {
		return fmt.Errorf("agents: the run was over before its partition of %v: give it more pages or longer delays",
			f.o.CutTime)
	}
	return nil
}

func (c *partition) close() { c.land.Close() }
