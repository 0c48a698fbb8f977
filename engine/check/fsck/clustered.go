package fsck

import (
	"bytes"
	"errors"
	"io/fs"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/state/layout"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
	"orbweaver/warc/zipnum"
)

// clustered are index lines of one file: how many, and the sum of their hashes, which their order does not change.
type clustered struct {
	lines int64
	sum   uint64
}

func (k *clustered) add(line []byte) {
	k.lines++
	k.sum += xxh3.Hash(line)
}

// lineSum is a writer that adds up the lines of an index.
type lineSum struct {
	clustered

	rest []byte // of a line that has not ended yet
}

// Write implements io.Writer.
func (w *lineSum) Write(p []byte) (int, error) {
	for part := range bytes.Lines(p) {
		w.rest = append(w.rest, part...)
		if line, isWhole := bytes.CutSuffix(w.rest, []byte{'\n'}); isWhole {
			w.add(line)
			w.rest = w.rest[:0]
		}
	}
	return len(p), nil
}

// readCluster reads the lines of the cluster beside the archive, once. Without a cluster there are none.
func (c *archiveCheck) readCluster() error {
	if c.clusters != nil {
		return nil
	}
	c.clusters = map[string]clustered{}
	in, err := zipnum.Open(c.fsys, c.path(layout.ArchiveDir), nil, []byte{0xff}, func(file string, at int64, what string) {
		c.fault(areaIndex, layout.ArchiveDir+"/"+file, "at %d: %v: %s", at, zipnum.ErrCluster, what)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for c.hasCluster = true; err == nil && in.Line() != nil; err = in.Next() {
		line, damage := cdxj.ParseLine(in.Line())
		if damage != nil || bytes.HasPrefix(in.Line(), []byte(dnsKey)) {
			continue
		}
		of := c.clusters[string(line.File)]
		of.add(in.Line())
		c.clusters[string(line.File)] = of
	}
	return err
}

// isInCluster reports whether the cluster beside the archive has the index lines of a file, which z reads.
func (c *archiveCheck) isInCluster(info warc.FileInfo, z *warc.Reader) (bool, error) {
	if err := c.readCluster(); err != nil || !c.hasCluster {
		return false, err
	}
	var want lineSum
	err := warc.WriteIndex(&want, z, info.Final(), warc.StopAtDamage)
	return err == nil && c.clusters[info.Final()] == want.clustered, err
}
