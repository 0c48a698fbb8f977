package fsck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/net/politeness"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/otherarchives"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
	"orbweaver/warc/fixity"
)

// ErrNoCrawl says that the directory holds no crawl.
var ErrNoCrawl = errors.New("fsck: not a crawl directory")

// Options say how to check. The zero value is good.
type Options struct {
	// Progress gets the name of what is checked now, from the goroutine that called Check. Default: not called.
	Progress func(what string)
	// Temp and TempDir are where lists of fingerprints go that do not fit in memory: 24 bytes for each URL that waits,
	// and 48 for each that has a record. The directory is made if missing; its files are gone at the end. Default: in
	// memory.
	Temp    vfs.FS
	TempDir string
	// MemoryBytes is for each of the two lists. Default 64 MiB, at least 64 KiB.
	MemoryBytes int
	// With are directories of WARC files of other archives. If there are any, the payloads of revisits that refer to other
	// archives must be there.
	With []string
}

// WithDefaults returns a copy in which what was zero is filled in.
func (o Options) WithDefaults() Options {
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
	if o.Temp == nil {
		o.Temp, o.TempDir = vfs.NewMem(1), "lists"
	}
	return o
}

// Validate says what is wrong with the options.
func (o Options) Validate() error {
	if o.MemoryBytes < 0 {
		return fmt.Errorf("fsck: %d bytes of memory", o.MemoryBytes)
	}
	return nil
}

// checker is what the checks of one directory share. The checks are types of their own, one for each subject.
type checker struct {
	*findings
	fsys *vfs.Overlay
	o    Options

	cut    inspect.Checkpoint
	hasCut bool // the manifest could be read

	bench  opened[*inspect.Workbench]
	sieve  opened[*sieve.Sieve]
	ready  opened[*diskq.Queue]
	urgent opened[*diskq.Queue] // never if there was one ready queue
	virt   opened[*virtualize.Virtualizer]
	dedup  opened[*dedup.Map]

	agents  *inspect.Cluster   // nil for a crawl of one agent
	fetched opened[*dedup.Map] // never for a crawl of one agent

	originals otherarchives.Originals // in Options.With

	places *places
	policy politeness.Policy

	hasRemoved bool                   // WARC files were sent and removed: not all records were read
	listed     map[string]fixity.File // lines of the manifest, once they are read
	hops       map[xxh3.Uint128]bool  // URLs that were asked for on the way to a robots.txt elsewhere

	closers []io.Closer // of the components
}

// Check examines the crawl directory dir and changes nothing in it. What is wrong with the crawl is in the Report; an
// error says that it could not be examined: there is none (ErrNoCrawl), it is in use (layout.ErrInUse), or ctx ended.
func Check(ctx context.Context, fsys vfs.FS, dir string, o Options) (Report, error) {
	if err := o.Validate(); err != nil {
		return Report{}, err
	}
	c := &checker{
		findings: &findings{ctx: ctx, dir: dir, report: Report{Dir: dir, Areas: []Area{}, Findings: []Finding{}}},
		fsys:     vfs.NewOverlay(ctx, receipts.Over(fsys)), o: o.WithDefaults(),
		originals: otherarchives.NewOriginals(fsys, o.With), policy: politeness.Default(),
		hops: map[xxh3.Uint128]bool{},
	}
	if _, err := fsys.List(dir + "/" + layout.FrontierDir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir); err == nil && len(files) > 0 {
				return Report{}, fmt.Errorf(
					"%w: %s has no directory %s; its archive is there: orbweaver fsck --rebuild makes it again",
					ErrNoCrawl, dir, layout.FrontierDir)
			}
			return Report{}, fmt.Errorf("%w: %s has no directory %s", ErrNoCrawl, dir, layout.FrontierDir)
		}
		return Report{}, fmt.Errorf("fsck: %w", err)
	}
	lock, err := c.lock(fsys)
	if err != nil {
		return Report{}, err
	}
	if c.places, err = newPlaces(c.o.Temp, c.o.TempDir, c.o.MemoryBytes); err == nil {
		err = errors.Join(c.all(), c.places.close())
	}
	err = errors.Join(ctx.Err(), err, c.close(), lock.Close())
	if err != nil {
		return c.report, fmt.Errorf("fsck: %w", err)
	}
	return c.report, nil
}

type noLock struct{}

func (noLock) Close() error { return nil }

// lock keeps the crawl from being started meanwhile. A directory that cannot be written, or that never was locked, is
// examined without: making the file would be a change.
func (c *checker) lock(fsys vfs.FS) (io.Closer, error) {
	name := c.dir + "/" + layout.LockFile
	_, err := fsys.Size(name)
	if err == nil {
		var l io.Closer
		if l, err = fsys.Lock(name); err == nil {
			return l, nil
		}
	}
	switch {
	case errors.Is(err, vfs.ErrLocked):
		return nil, fmt.Errorf("%w: %s; stop it first: orbweaver ctl --dir %s stop", layout.ErrInUse, c.dir, c.dir)
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		c.note("manifest", layout.LockFile, "could not be locked (%v); make sure that no process works here", err)
		return noLock{}, nil
	default:
		return nil, fmt.Errorf("fsck: %w", err)
	}
}

// all runs the checks: the parts first, then what they say of each other. An error is one of the temporary directory.
func (c *checker) all() error {
	c.readManifest()
	if c.hasCut {
		components := componentCheck{c}
		components.checkAll()
		components.checkSeeds()
		components.checkHostRules()
		components.checkReport()
	}
	journaled := (&journalCheck{c}).checkJournal()
	tally := (&archiveCheck{checker: c}).checkArchive(journaled.end)
	places := placeCheck{c}
	if err := places.compareIDs(); err != nil {
		return err
	}
	if !c.hasCut {
		return nil
	}
	(&comparison{c}).compareArchive(tally, journaled)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if err := c.checkQueued(); err != nil {
		return err
	}
	if err := places.comparePlaces(); err != nil {
		return err
	}
	if !tally.damaged.Load() && !c.hasRemoved {
		places.compareAnswers()
	}
	return nil
}

// readManifest reads what names everything else.
func (c *checker) readManifest() {
	c.o.Progress(layout.ManifestFile)
	cut, err := inspect.Open(c.fsys, c.dir)
	switch {
	case err == nil:
		c.cut, c.hasCut = *cut, true
		c.report.Generation, c.report.State, c.report.Clean = cut.Generation, string(cut.State), cut.Clean
		n := &cut.Counters
		c.report.Reason, c.report.URLsLeft = cut.Reason, n.Sieved-n.Known-n.Finished()
	case errors.Is(err, fs.ErrNotExist) && c.emptyArchive():
		c.note("manifest", layout.ManifestFile,
			"there is none: the crawl ended before its first checkpoint, and begins again when it is started")
	default:
		c.fail("manifest", layout.ManifestFile, err)
	}
	c.checked("manifest", 1, "file")
}

func (c *checker) close() error {
	var errs []error
	for _, component := range c.closers {
		errs = append(errs, component.Close())
	}
	return errors.Join(errs...)
}

func (c *checker) path(name string) string { return c.dir + "/" + name }

// emptyArchive says that there is no archive file.
func (c *checker) emptyArchive() bool {
	files, err := warc.Files(c.fsys, c.path(layout.ArchiveDir))
	return err == nil && len(files) == 0
}
