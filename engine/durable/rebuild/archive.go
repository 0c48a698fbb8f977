package rebuild

import (
	"context"
	"fmt"
	"time"

	"orbweaver/engine/records/capture"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/site"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// progress counts the bytes of the archive that a reading is done with.
type progress struct {
	ctx      context.Context //nolint:containedctx // of one rebuild
	tell     func(Progress)  // nil if no progress is wanted
	lastTold time.Time
	before   int64 // bytes in files that this reading is done with
	total    int64 // bytes of the archive
}

// at is called for every record. It reports about once a second, and returns the reason why the rebuild must stop.
func (p *progress) at(stage, file string, offset int64) error {
	if now := time.Now(); p.tell != nil && now.Sub(p.lastTold) >= time.Second {
		p.lastTold = now
		p.tell(Progress{stage, layout.ArchiveDir + "/" + file, p.before + offset, p.total})
	}
	return p.ctx.Err()
}

// gapMax is how many files in a row may be missing. More are a sign that the archive is not all there.
const gapMax = 1 << 16

// fillGaps writes an empty file in the place of each missing one, and notes the damage.
func (r *rebuilder) fillGaps() error {
	files, err := warc.Files(r.FS, r.archiveDir())
	if err != nil {
		return err
	}
	next := uint32(0)
	for _, f := range files {
		if f.Serial-next > gapMax && f.Serial > next {
			return fmt.Errorf("the archive has no files with serial numbers from %05d to %05d: is it all there?",
				next, f.Serial-1)
		}
		for ; next < f.Serial; next++ {
			info, err := warc.Placeholder(r.FS, warc.Options{
				Dir: r.archiveDir(), Prefix: r.settings.Prefix, Host: r.settings.Host, Compression: f.Compression,
			}, next, r.began)
			if err != nil {
				return err
			}
			r.out.addDamage(info.Final(), 0, "the file with this serial number was missing; what was in it is fetched again")
		}
		next = f.Serial + 1
	}
	return nil
}

// beginReading lists the archive and begins to count its bytes.
func (r *rebuilder) beginReading() ([]warc.FileInfo, error) {
	files, err := warc.Files(r.FS, r.archiveDir())
	if err != nil {
		return nil, err
	}
	r.progress.before, r.progress.total = 0, 0
	for i, f := range files {
		if i > 0 && files[i-1].Serial == f.Serial {
			return nil, fmt.Errorf("%s and %s have the same serial number; move the one that does not belong there away",
				files[i-1].Name, f.Name)
		}
		size, err := r.FS.Size(r.archiveDir() + "/" + f.Name)
		if err != nil {
			return nil, err
		}
		r.progress.total += size
	}
	return files, nil
}

// CheckArchive returns ErrNoArchive if the crawl in dir has no WARC file, and vfs.ErrElsewhere if files were removed.
func CheckArchive(fsys vfs.FS, dir string) error {
	files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	if len(files) == 0 {
		return fmt.Errorf("%w: %s/%s is empty", ErrNoArchive, dir, layout.ArchiveDir)
	}
	if err := receipts.CheckAllHere(fsys, dir, "a rebuild"); err != nil {
		return fmt.Errorf("rebuild: %w", err)
	}
	return nil
}

// ArchiveEnd returns where the archive of the crawl in dir ends: the serial number of its last file, and that file's
// size. There must be a file: see CheckArchive.
func ArchiveEnd(fsys vfs.FS, dir string) (*warc.Checkpoint, error) {
	files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir)
	if err != nil {
		return nil, err
	}
	last := files[len(files)-1]
	size, err := fsys.Size(dir + "/" + layout.ArchiveDir + "/" + last.Name)
	if err != nil {
		return nil, err
	}
	return &warc.Checkpoint{Serial: last.Serial, Length: size}, nil
}

// storedCapture is a response or revisit of the archive. It borrows the record.
type storedCapture struct {
	capture.Capture
	rec        *warc.RecordRead
	url        []byte
	repeatable bool // a crawl tries such a URL again, unless this was its last try
}

// captureOf looks at a record, and reads the rest of its block.
func (r *rebuilder) captureOf(rec *warc.RecordRead) (c storedCapture, err error) {
	if c.Capture, err = capture.Read(rec); err == nil {
		err = rec.Skip()
	}
	c.rec, c.url = rec, rec.TargetURI
	c.repeatable = c.Again(&r.settings.Politeness)
	return c, err
}

// countStored counts a page against the limit of its site.
func (r *rebuilder) countStored(c *storedCapture) {
	if r.settings.MaxPerHost > 0 {
		r.Workbench.Site(r.siteOf(c.url)).Update(site.CountStored)
	}
}
