package otherarchives

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// Originals are the records of other archives that revisits refer to. They are safe for concurrent use.
type Originals struct{ archive *lookup.Archive }

// NewOriginals returns those in some directories of WARC files.
func NewOriginals(fsys vfs.FS, dirs []string) Originals {
	return Originals{lookup.New(lookup.NewFiles(lookup.Options{FS: receipts.Over(fsys), Dirs: dirs}))}
}

// IsElsewhere says whether a record is a revisit of a record of another archive.
func IsElsewhere(rec *warc.RecordRead) bool {
	return rec.Type == warc.Revisit && rec.Get(RefersToFile) != ""
}

// Open opens the record that a revisit names by its file and its offset. The caller closes it. The error says where the
// payload should be.
func (o Originals) Open(revisit *warc.RecordRead) (*lookup.Record, error) {
	file, owner := revisit.Get(RefersToFile), "another archive"
	if agent := revisit.Get(RefersToAgent); agent != "" {
		owner = "the archive of agent " + agent
	}
	rec, err := o.open(revisit, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("the revisit of %.200q has its payload in %.200q of %.80s: name its directory with --with: %w",
			revisit.TargetURI, file, owner, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("the revisit of %.200q has its payload in %.200q of %.80s: %w",
			revisit.TargetURI, file, owner, err)
	}
	return rec, nil
}

func (o Originals) open(revisit *warc.RecordRead, file string) (*lookup.Record, error) {
	offset, err := strconv.ParseInt(revisit.Get(RefersToOffset), 10, 64)
	if err != nil {
		return nil, err
	}
	at, err := time.Parse(time.RFC3339Nano, revisit.Get("WARC-Refers-To-Date"))
	if err != nil {
		return nil, err
	}
	c := lookup.CaptureAt(file, offset, revisit.Get("WARC-Refers-To-Target-URI"), at)
	rec, err := o.archive.Open(&c)
	if err != nil {
		return nil, err
	}
	to, _ := warc.ParseID(revisit.Get("WARC-Refers-To")) // zero if only an index was known
	digest := revisit.PayloadDigest
	if digest == nil || !isOriginal(rec.RecordRead, *digest) || !to.IsZero() && to != rec.ID {
		return nil, errors.Join(errOther, rec.Close())
	}
	return rec, nil
}

// isOriginal says whether a record has all of a payload.
func isOriginal(rec *warc.RecordRead, digest [20]byte) bool {
	return (rec.Type == warc.Response || rec.Type == warc.Resource) && rec.PayloadDigest != nil &&
		*rec.PayloadDigest == digest && rec.Get("WARC-Truncated") == ""
}
