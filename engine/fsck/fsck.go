package fsck

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"syscall"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/inspect"
	"orbweaver/engine/layout"
	"orbweaver/engine/politeness"
	"orbweaver/engine/seen"
	"orbweaver/internal/vfs"
	"orbweaver/sieve"
	"orbweaver/virtualize"
	"orbweaver/virtualize/diskq"
	"orbweaver/warc"
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

// checker is one check.
type checker struct {
	ctx  context.Context //nolint:containedctx // one check's
	fsys *overlay
	dir  string
	o    Options

	cut *inspect.Checkpoint // nil: no manifest that can be read

	// What is open; nil where it could not be opened.
	bench *inspect.Workbench
	sieve *sieve.Sieve
	ready *diskq.Queue
	virt  *virtualize.Virtualizer
	seen  *seen.Map

	agents  *inspect.Cluster // nil for a crawl alone
	fetched *seen.Map        // nil for a crawl alone, too

	places *places
	policy politeness.Policy
	hops   map[xxh3.Uint128]bool // URLs that were asked for on the way to a robots.txt elsewhere

	mu     sync.Mutex
	report Report
}

// Check examines the crawl directory dir and changes nothing in it. What is wrong with the crawl is in the Report; an
// error says that it could not be examined: there is none (ErrNoCrawl), it is in use (layout.ErrInUse), or ctx ended.
func Check(ctx context.Context, fsys vfs.FS, dir string, o Options) (Report, error) {
	if err := o.Validate(); err != nil {
		return Report{}, err
	}
	c := &checker{
		ctx: ctx, fsys: newOverlay(ctx, fsys), dir: dir, o: o.WithDefaults(),
		policy: politeness.Default(), hops: map[xxh3.Uint128]bool{},
		report: Report{Dir: dir, Areas: []Area{}, Findings: []Finding{}},
	}
	if _, err := fsys.List(dir + "/" + layout.FrontierDir); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			if files, err := warc.Files(fsys, dir+"/"+layout.ArchiveDir); err == nil && len(files) > 0 {
				return Report{}, fmt.Errorf(
					"%w: %s has no directory %s; its archive is there: orbweaver fsck --rebuild makes it again",
					ErrNoCrawl,
					dir,
					layout.FrontierDir,
				)
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
	if c.cut != nil {
		c.openRooms()
		c.checkSeeds()
		c.checkHostRules()
		c.checkReport()
	}
	journaled := c.checkJournal()
	tally := c.checkArchive(journaled.end)
	if err := c.compareIDs(); err != nil {
		return err
	}
	if c.cut == nil {
		return nil
	}
	c.compareArchive(tally, journaled)
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if err := c.checkQueued(); err != nil {
		return err
	}
	if err := c.comparePlaces(); err != nil {
		return err
	}
	if !tally.damaged.Load() {
		c.compareAnswers()
	}
	return nil
}

// readManifest reads what names everything else.
func (c *checker) readManifest() {
	c.o.Progress(layout.ManifestFile)
	cut, err := inspect.Open(c.fsys, c.dir)
	switch {
	case err == nil:
		c.cut = cut
		c.report.Generation, c.report.State, c.report.Clean = cut.Generation, string(cut.State), cut.Clean
	case errors.Is(err, fs.ErrNotExist) && c.emptyArchive():
		c.note(
			"manifest",
			layout.ManifestFile,
			"there is none: the crawl ended before its first checkpoint, and begins again when it is started",
		)
	default:
		c.fail("manifest", layout.ManifestFile, err)
	}
	c.checked("manifest", 1, "file")
}

func (c *checker) close() error {
	var errs []error
	if c.sieve != nil {
		errs = append(errs, c.sieve.Close())
	}
	if c.ready != nil {
		errs = append(errs, c.ready.Close())
	}
	if c.virt != nil {
		errs = append(errs, c.virt.Close())
	}
	if c.seen != nil {
		errs = append(errs, c.seen.Close())
	}
	if c.fetched != nil {
		errs = append(errs, c.fetched.Close())
	}
	return errors.Join(errs...)
}

func (c *checker) path(name string) string { return c.dir + "/" + name }

// fault and note add a finding. Safe for concurrent use.
func (c *checker) fault(area, file, format string, args ...any) {
	c.add(Finding{area, file, Error, fmt.Sprintf(format, args...)})
}

func (c *checker) note(area, file, format string, args ...any) {
	c.add(Finding{area, file, Note, fmt.Sprintf(format, args...)})
}

func (c *checker) add(f Finding) {
	if c.ctx.Err() != nil {
		return // what fails now fails because the check was ended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.report.add(f)
}

// checked says how much of an area was examined.
func (c *checker) checked(area string, n int64, unit string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.report.area(area)
	a.Checked, a.Unit = a.Checked+n, unit
}

// fail adds the errors of a room, each by itself, under the file that it names; under file if it names none.
func (c *checker) fail(area, file string, err error) {
	if many, ok := err.(interface{ Unwrap() []error }); ok &&
		err.Error() != "" { //nolint:errorlint // only a joined error at the top is taken apart
		if list := many.Unwrap(); joined(err, list) {
			for _, e := range list {
				c.fail(area, file, e)
			}
			return
		}
	}
	c.fault(area, c.fileOf(file, err), "%v", err)
}

// joined tells a list of errors from one error that wraps two: the text of the latter is its own.
func joined(err error, list []error) bool {
	return err.Error() == errors.Join(list...).Error()
}
