package archive

import (
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// keptManifest is the manifest of an archive that is opened.
type keptManifest struct {
	listeners []fixity.Listener
	complete  func() error // adds what a kill has left out, after the Writer was opened
}

// openManifest opens the manifest in dir. Without one, a manifest that an earlier run has kept is removed: it would
// lack the files that are closed from now on.
func (o *Options) openManifest(fsys vfs.FS, dir string, end *warc.Checkpoint) (k keptManifest, err error) {
	if o.Manifest == ManifestNone {
		k.complete = func() error { return nil }
		return k, fixity.Remove(fsys, dir)
	}
	m, err := fixity.Open(fsys, dir, firstListed(end))
	k.listeners = []fixity.Listener{m}
	k.complete = func() error { return warc.CompleteManifest(fsys, dir, m) }
	return k, err
}

// firstListed is the serial of the first file that a new manifest lists. Of an archive without a manifest, the files
// before the checkpoint are not read again for it.
func firstListed(end *warc.Checkpoint) uint32 {
	if end == nil || *end == (warc.Checkpoint{}) {
		return 0
	}
	return end.Serial + 1
}
