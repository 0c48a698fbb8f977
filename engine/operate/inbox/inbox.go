package inbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/textfile"
	"orbweaver/internal/vfs"
)

// The directories, relative to the crawl directory.
const (
	Dir        = "inbox"
	doneDir    = Dir + "/done"
	refusedDir = Dir + "/refused"
)

const (
	// Quiet is how long nothing must change before files are read, also at the start.
	Quiet = time.Second
	// Again is how long the inbox waits after a fault of the crawl, such as a full disk, before it reads files again.
	Again = 30 * time.Second

	chunk = 5000 // URLs that are added at once

	shownMost = 200 // bytes of a line that is too long
)

// Add adds URLs to the crawl, and returns when a checkpoint has them: operator.Operator.AddURLs.
type Add func(ctx context.Context, urls iter.Seq[string]) (admission.Added, error)

// Watcher says when a directory has changed.
type Watcher interface {
	// Watch calls changed after each change in a directory, until ctx ends.
	Watch(ctx context.Context, dir string, changed func()) error
}

// NoWatcher sees no changes: the files are read at the start of a run alone.
type NoWatcher struct{}

// Watch implements Watcher.
func (NoWatcher) Watch(ctx context.Context, _ string, _ func()) error {
	<-ctx.Done()
	return nil
}

// Inbox is the inbox of a crawl. Make it with Open.
type Inbox struct {
	o       Options
	pending atomic.Bool
}

// Options say where an Inbox is. All fields must be set.
type Options struct {
	FS      vfs.FS
	Dir     string // of the crawl
	Watcher Watcher
	Log     *slog.Logger
}

// Open returns the inbox of a crawl directory, which need not exist.
func Open(o Options) (*Inbox, error) {
	i := &Inbox{o: o}
	names, err := i.files()
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	i.pending.Store(len(names) > 0)
	return i, err
}

// IsPending reports whether there are files from before the start that have not been read yet.
func (i *Inbox) IsPending() bool { return i.pending.Load() }

// Run makes the directories, and adds the URLs of files until ctx ends, or until the Watcher fails.
func (i *Inbox) Run(ctx context.Context, add Add) error {
	defer i.pending.Store(false)
	for _, dir := range []string{doneDir, refusedDir} {
		if err := i.o.FS.MkdirAll(i.o.Dir + "/" + dir); err != nil {
			return fmt.Errorf("inbox: %w", err)
		}
	}
	ctx, end := context.WithCancel(ctx)
	defer end()
	changed, watched, blind := make(chan struct{}, 1), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(blind)
		watched <- i.o.Watcher.Watch(ctx, i.o.Dir+"/"+Dir, func() {
			select {
			case changed <- struct{}{}:
			default:
			}
		})
	}()
	var again time.Duration // when files are read without a change; 0: never
	if i.pending.Load() {
		again = Quiet
	}
	for {
		sizes, isQuiet := i.waitQuiet(ctx, changed, blind, again)
		if !isQuiet {
			end()
			return <-watched
		}
		var err error
		again, err = i.readFiles(ctx, sizes, add)
		i.pending.Store(i.pending.Load() && again > 0)
		if err != nil {
			end()
			return errors.Join(err, <-watched)
		}
	}
}

// waitQuiet waits for a change, or for a time if that is not 0, and until there was no change for Quiet. It returns the
// sizes that the files had since; false when ctx has ended, or when no file waits and no more changes are seen (blind).
func (i *Inbox) waitQuiet(
	ctx context.Context, changed, blind <-chan struct{}, again time.Duration,
) (map[string]int64, bool) {
	if again == 0 {
		select {
		case <-changed:
		case <-blind:
			return nil, false
		case <-ctx.Done():
			return nil, false
		}
		again = Quiet
	}
	for {
		sizes := i.sizes()
		timer := time.NewTimer(again)
		select {
		case <-changed:
			timer.Stop()
			again = Quiet
		case <-timer.C:
			return sizes, true
		case <-ctx.Done():
			timer.Stop()
			return nil, false
		}
	}
}

// sizes are the sizes of the files to read, by their names. A file that cannot be looked at is missing.
func (i *Inbox) sizes() map[string]int64 {
	names, err := i.files()
	if err != nil {
		return nil // readFiles finds the fault, too
	}
	sizes := make(map[string]int64, len(names))
	for _, name := range names {
		if size, err := i.o.FS.Size(i.o.Dir + "/" + Dir + "/" + name); err == nil {
			sizes[name] = size
		}
	}
	return sizes
}

// files are the names of the files to read.
func (i *Inbox) files() (names []string, err error) {
	all, err := i.o.FS.List(i.o.Dir + "/" + Dir)
	if err != nil {
		return nil, err
	}
	for _, name := range all {
		_, derr := i.o.FS.List(i.o.Dir + "/" + Dir + "/" + name)
		if derr != nil && !isUnfinished(name) {
			names = append(names, name)
		}
	}
	return names, nil
}

// isUnfinished reports whether a name says that the file is still written.
func isUnfinished(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".part") || strings.HasSuffix(name, ".tmp") ||
		strings.HasSuffix(name, "~")
}

// errWritten says that a file is still being written.
var errWritten = errors.New("inbox: the file is still being written")

// crawlError is a fault of the crawl, not of the file that is read.
type crawlError struct{ error }

// Unwrap gives the cause.
func (e crawlError) Unwrap() error { return e.error }

// readFiles reads the files that have the sizes of a second ago, and returns when files that stay are read again: those
// that are still being written, and those that the crawl could not take. A fault of one file is logged, and the file
// stays until the directory changes. An error is of the crawl, which ends.
func (i *Inbox) readFiles(ctx context.Context, sizes map[string]int64, add Add) (again time.Duration, err error) {
	names, err := i.files()
	if err != nil {
		return 0, fmt.Errorf("inbox: %w", err)
	}
	for _, name := range names {
		size, isKnown := sizes[name]
		err := errWritten
		if isKnown {
			err = i.readFile(ctx, name, size, add)
		}
		_, isOfCrawl := errors.AsType[crawlError](err)
		switch {
		case errors.Is(err, errWritten):
			again = Quiet
		case errors.Is(err, cluster.ErrEnding) || ctx.Err() != nil:
			return 0, nil //nolint:nilerr // the crawl ends: the file is read in the next run
		case isOfCrawl:
			again = max(again, Again)
			i.o.Log.Warn("the crawl cannot take the URLs of a file of the inbox now; it stays there, and is read again",
				"file", name, "after", Again.String(), "error", err)
		case err != nil:
			i.o.Log.Warn("a file of the inbox could not be read, and stays there", "file", name, "error", err)
		}
	}
	return again, nil
}

// readFile adds the URLs of a file, writes the report, and moves the file. If the file has not the size that is given,
// before or after, it returns errWritten, and the file stays.
func (i *Inbox) readFile(ctx context.Context, name string, size int64, add Add) error {
	from := i.o.Dir + "/" + Dir + "/" + name
	f, err := i.o.FS.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := hasSize(f, size); err != nil {
		return err
	}
	r := &report{}
	report := i.o.Dir + "/" + doneDir + "/." + name + ".report" // in Dir its writing would be seen as a change
	err = vfs.WriteAtomic(i.o.FS, report, func(w io.Writer) error {
		r.out = bufio.NewWriter(w)
		return errors.Join(i.addAll(ctx, f, r, add), r.out.Flush(), hasSize(f, size))
	})
	if err != nil {
		return err
	}
	dir := doneDir
	if r.added.New+r.added.Known+r.added.Sent == 0 {
		dir = refusedDir
	}
	to, err := i.freeName(dir, name)
	if err != nil {
		return err
	}
	if err := i.o.FS.Rename(report, to+".tsv"); err != nil {
		return err
	}
	if err := i.o.FS.Rename(from, to); err != nil {
		return err
	}
	i.o.Log.Info("a file of the inbox has been read", "file", name, "new", r.added.New, "known", r.added.Known, "sent",
		r.added.Sent, "refused", r.added.Refused)
	return errors.Join(i.o.FS.SyncDir(i.o.Dir+"/"+Dir), i.o.FS.SyncDir(i.o.Dir+"/"+dir))
}

// hasSize returns errWritten if a file has another size.
func hasSize(f vfs.File, size int64) error {
	now, err := f.Size()
	if err == nil && now != size {
		err = errWritten
	}
	return err
}

// freeName is the path in a directory under which a file and its report do not replace others.
func (i *Inbox) freeName(dir, name string) (string, error) {
	names, err := i.o.FS.List(i.o.Dir + "/" + dir)
	if err != nil {
		return "", err
	}
	taken := make(map[string]bool, len(names))
	for _, n := range names {
		taken[n] = true
	}
	free := name
	for n := 2; taken[free] || taken[free+".tsv"]; n++ {
		free = fmt.Sprintf("%s.%d", name, n)
	}
	return i.o.Dir + "/" + dir + "/" + free, nil
}

// addAll adds the URLs of a file, some thousands at a time. An error is one of reading or writing, or a crawlError.
func (i *Inbox) addAll(ctx context.Context, f io.Reader, r *report, add Add) error {
	if err := r.line("result", "url", "reason"); err != nil {
		return err
	}
	in := admission.ReadSeeds(f)
	for more := true; more; {
		var urls []string
		for more && len(urls) < chunk {
			if more = in.Scan(); !more {
				break
			}
			if !in.IsCut() {
				urls = append(urls, string(in.Text()))
				continue
			}
			r.added.Refused++
			line := fmt.Sprintf("%.*s", shownMost, in.Text())
			if err := r.line(string(admission.Refused), line, "the line is too long"); err != nil {
				return err
			}
		}
		if err := in.Err(); errors.Is(err, textfile.ErrNoText) {
			r.added.Refused++
			if err := r.line(string(admission.Refused), "-", err.Error()); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
		if len(urls) == 0 {
			continue
		}
		added, err := add(ctx, slices.Values(urls))
		if errors.Is(err, cluster.ErrEnding) || ctx.Err() != nil {
			return errors.Join(cluster.ErrEnding, err)
		}
		if err != nil {
			return crawlError{err}
		}
		if err := r.note(&added); err != nil {
			return err
		}
	}
	return nil
}

// report is what became of the URLs of a file.
type report struct {
	out   *bufio.Writer
	added admission.Added // without the URLs
}

func (r *report) note(added *admission.Added) error {
	for _, u := range added.URLs {
		if err := r.line(string(u.Result), u.URL, u.Reason); err != nil {
			return err
		}
	}
	added.URLs = nil
	r.added.Join(added)
	return nil
}

func (r *report) line(cells ...string) error {
	for n, cell := range cells {
		cells[n] = strings.Map(func(c rune) rune {
			if c < ' ' {
				return ' '
			}
			return c
		}, cell)
	}
	_, err := r.out.WriteString(strings.Join(cells, "\t") + "\n")
	return err
}
