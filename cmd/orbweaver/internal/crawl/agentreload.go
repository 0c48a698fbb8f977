package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"orbweaver/cmd/orbweaver/internal/cluster"
	"orbweaver/engine/cluster/network"
	"orbweaver/engine/peering/identity"
	"orbweaver/internal/vfs"
)

// generationsName is the file, within the crawl directory, that keeps the newest certificate that was seen of each
// agent, so that a replaced one is refused after a restart.
const generationsName = "generations.json"

// generationsMax bounds what is read of it, in bytes.
const generationsMax = 16 << 20

// keptGenerations is its content.
type keptGenerations struct {
	Crawl  string            `json:"crawl"` // of the authority: under another one all generations begin again
	Newest map[string]uint64 `json:"newest"`
}

// ErrAlone says that a command is for one of several agents.
var ErrAlone = errors.New(
	"this crawl is one process alone: several agents share a crawl if each is given --agent (docs/cluster-use.md)",
)

// keepGenerations has the generations of certificates outlive this process.
func keepGenerations(o *network.Options, dir string) error {
	if o.Identity == nil {
		return nil
	}
	disk, name, crawl := vfs.Disk(), filepath.Join(dir, generationsName), o.Identity.Crawl
	var kept keptGenerations
	b, err := vfs.ReadFile(disk, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return fmt.Errorf("generations of certificates: %w", err)
	case len(b) > generationsMax || json.Unmarshal(b, &kept) != nil:
		return fmt.Errorf(
			"%s, the list of the certificates that were replaced, is damaged: remove it to resume; "+
				"then a file that was stolen and replaced is accepted until its agent has connected with the new one",
			name,
		)
	case kept.Crawl == crawl:
		o.Generations = kept.Newest
	}
	o.SaveGenerations = func(newest map[string]uint64) error {
		if err := disk.MkdirAll(dir); err != nil {
			return err
		}
		return vfs.WriteAtomic(disk, name, func(w io.Writer) error {
			e := json.NewEncoder(w)
			e.SetIndent("", "  ")
			return e.Encode(keptGenerations{crawl, newest})
		})
	}
	return nil
}

// reload reads the agent's file again, and takes its certificate and its gossip keys.
func (p peerConnection) reload() (said string, err error) {
	if p.Network == nil {
		return "", ErrAlone
	}
	if p.file == "" {
		return "", errors.New("this agent has no file (--agent-plain): there is nothing to read again")
	}
	id, warnings, err := cluster.ReadIdentity(p.file, time.Now())
	if err != nil {
		return "", err
	}
	if err := p.Renew(id); err != nil {
		return "", err
	}
	for _, warning := range warnings {
		p.log.Warn(warning)
	}
	return fmt.Sprintf(
		"%s was read again: certificate of %s, good until %s; gossip key %s", p.file,
		time.Unix(0, int64(identity.Generation(id.Certificate.Leaf))).UTC().Format(time.RFC3339),
		id.NotAfter().UTC().Format(time.DateOnly), cluster.KeyNumbers(id.GossipKeys),
	), nil
}
