package checkpoint

import (
	"io"

	"orbweaver/engine/state/cluster"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/vfs"
)

// clusterState saves what is about other agents. A crawl of one agent has no such state, and no file.
type clusterState struct {
	None
	fs    vfs.FS
	dir   string // frontier/
	part  cluster.CheckpointPart
	image []byte // what the queues of the outbox do not hold
}

func (p *clusterState) MarkState(m *manifest.Manifest) (err error) {
	m.Peers, p.image, err = p.part.MarkState()
	return err
}

func (p *clusterState) Write(m *manifest.Manifest) error {
	if m.Peers == nil {
		return nil
	}
	return WriteFile(p.fs, manifest.OutboxPath(p.dir, m.Generation), func(w io.Writer) error {
		_, err := w.Write(p.image)
		return err
	})
}

func (p *clusterState) Sync(m *manifest.Manifest) error {
	if err := p.part.Sync(); err != nil || m.Peers == nil {
		return err
	}
	return SyncFile(p.fs, manifest.OutboxPath(p.dir, m.Generation))
}

func (p *clusterState) Release(m *manifest.Manifest) error {
	if m.Peers == nil {
		return nil
	}
	return p.part.Release(m.Peers)
}

func (p *clusterState) Abandon() { p.image = nil }
