package engine

import (
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/cluster/outbox"
	"orbweaver/engine/cluster/ownership"
	"orbweaver/engine/layout"
	"orbweaver/engine/manifest"
	"orbweaver/engine/seen"
	"orbweaver/engine/site"
	"orbweaver/internal/vfs"
)

// Where what concerns other agents lies, relative to the crawl directory.
const (
	OutboxDir  = layout.FrontierDir + "/outbox"
	FetchedDir = layout.FrontierDir + "/fetched"
)

// PeersView is what a cut says of other agents.
type PeersView struct {
	Self  ownership.Agent   // the agent whose crawl this is
	Peers []ownership.Agent // who was there, Self among them
	All   []ownership.Agent // who ever was; nobody before the crawl has run
	// Changed says that agents have come or gone since the crawl began: then the sieve may know the URLs of hosts on
	// loan, and those that were told again, by other fingerprints than their own, and each more than once.
	Changed bool
	Outbox  outbox.Checkpoint
	Fetched seen.Cut // the URLs that have an answer, by the keys that FetchedKey makes of their fingerprints; and others, see IsOwnKey
}

// Agents is what the cut says of other agents; nil for a crawl alone.
func (i *Inspection) Agents() (*PeersView, error) {
	if i.peers == nil {
		return nil, nil //nolint:nilnil // as the comment says
	}
	v := &PeersView{Peers: i.peers.Agents, All: i.peers.EverAll, Changed: i.peers.Turns > 1,
		Outbox: i.peers.Outbox, Fetched: i.peers.Fetched}
	self := func(p ownership.Agent) bool { return p.Store == i.store }
	if n := slices.IndexFunc(v.All, self); n >= 0 && !slices.ContainsFunc(v.Peers, self) { // it leaves for good, or has left
		v.Self = v.All[n]
		return v, nil
	}
	n := slices.IndexFunc(v.Peers, self)
	if n < 0 {
		return nil, fmt.Errorf("%w: none of the agents that it names has the data here, whose number is %016x", manifest.ErrDamaged, i.store)
	}
	v.Self = v.Peers[n]
	return v, nil
}

// OutboxFile is what the queues of the outbox do not hold, relative to the crawl directory.
func (i *Inspection) OutboxFile() string {
	return manifest.OutboxPath(layout.FrontierDir, i.Generation)
}

// OutboxImage reads it.
func (i *Inspection) OutboxImage() ([]byte, error) {
	return readOutboxImage(i.fsys, i.dir, i.Generation)
}

func readOutboxImage(fsys vfs.FS, dir string, generation uint64) ([]byte, error) {
	name := manifest.OutboxPath(dir, generation)
	b, err := vfs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("engine: outbox: %w", err)
	}
	image, ok := cutSum(b)
	if !ok {
		return nil, fmt.Errorf("%w: %s", errOutbox, name)
	}
	return image, nil
}

// FetchedKey is the key of a URL in the map of those that have an answer, by its fingerprint.
func FetchedKey(fp xxh3.Uint128) seen.Digest { return fetchedKey(fp) }

// IsOwnKey says of a key there that the answer is this agent's; the others are of agents that left for good, or died
// while they did.
func IsOwnKey(key seen.Digest) bool { return markOf(key) == 0 }

// KeptItem says of an item for another agent that whoever takes its place is told it, too.
func KeptItem(item []byte) bool { return kindOf(item) == letterLink || kindOf(item) == letterHop }

// CheckItem says how many links an item of a letter has, or why it cannot be read.
func CheckItem(item []byte) (links int64, err error) {
	p := &peers{hosts: &hosts{rules: site.NewRulesPool(0)}}
	if err := p.readItem(item); err != nil {
		return 0, err
	}
	switch kindOf(item) {
	case letterLink:
		links = 1
	case letterSite:
		move, err := readSiteMove(item)
		if err != nil {
			return 0, err
		}
		for _, err := range move.urls() {
			if err != nil {
				return links, err
			}
			links++
		}
	}
	return links, nil
}
