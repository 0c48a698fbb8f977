package archive

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"orbweaver/cmd/orbweaver/internal/crawl"
	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/cli/command"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
	"orbweaver/warc/warctool"
)

type warcGetCmd struct {
	crawl.Target
	crawl.Others
	At      string   `help:"The capture closest to this time, such as 20260131 or 2026-01-31T12:00:00Z; the last one without." placeholder:"TIME"`
	Headers bool     `help:"The HTTP head instead of the payload." xor:"part"`
	Record  bool     `help:"The whole WARC record, as it is stored." xor:"part"`
	Encoded bool     `help:"The payload with its content encodings, such as gzip." xor:"part"`
	Args    []string `arg:"" name:"file-or-url" help:"The URL; before it WARC files, instead of --dir."`
}

// Help shows examples.
func (*warcGetCmd) Help() string {
	return `The payload comes without chunking and content encodings. A revisit record has the payload of the capture
that it refers to. Of several captures with the same key in the index, that of exactly this URL is taken. A
running crawl is asked for its index. Otherwise files that were open when the crawl was killed are read up to
their last complete record. Of a file that was removed here (--upload-then delete), the record alone is read from
the object store, with the keys in the environment.

Exit status: 0 printed, 1 there is no capture (near ones are named) or it cannot be read.

Examples:
  orbweaver warc get --dir crawl https://example.org/ >page.html
  orbweaver warc get --dir crawl --at 20260131 --headers https://example.org/
  orbweaver warc get others/*.warc.gz https://example.org/logo.png >logo.png`
}

// Run prints a capture.
func (x *warcGetCmd) Run(inv *command.Invocation, c *Command) error {
	o := warctool.GetOptions{URL: x.Args[len(x.Args)-1]}
	files := x.Args[:len(x.Args)-1]
	if x.At != "" {
		at, err := lookup.ParseTime(x.At)
		if err != nil {
			return command.Misuse(fmt.Errorf("--at: %w", err))
		}
		o.At = at
	}
	switch {
	case x.Headers:
		o.Part = warctool.Headers
	case x.Record:
		o.Part = warctool.WholeRecord
	case x.Encoded:
		o.Part = warctool.EncodedPayload
	}
	if _, _, err := lookup.KeyOf([]byte(o.URL)); err != nil {
		return command.Misuse(fmt.Errorf("%w: give a whole URL, such as https://example.org/", err))
	}
	objects := receivers.NewObjects(inv.Context, inv.Version)
	defer objects.Close()
	damage := &damageNotes{out: inv.Stderr}
	a, err := x.archive(inv, files, objects, damage.note)
	if err != nil {
		return command.Misuse(err)
	}
	err = warctool.Get(inv.Context, c.tool(inv), a, o)
	err = cmp.Or(err, a.Close())
	switch {
	case !errors.Is(err, lookup.ErrNoCapture):
	case damage.err() != nil:
		return fmt.Errorf("no such capture was found, and %w", damage.err())
	case len(files) > 0:
	default:
		err = fmt.Errorf("%w\n'orbweaver explain --dir %s %s' says what became of it", err, x.Dir, o.URL)
	}
	return err
}

// archive returns the archive of the files, or that of the crawl directory without any.
func (x *warcGetCmd) archive(
	inv *command.Invocation, files []string, objects receipts.Objects, onFault func(*warc.Fault),
) (*lookup.Archive, error) {
	if len(files) == 0 {
		_, _ = find(inv, receivers.Disk(), []string{x.Dir}) // says what is not read
		return x.OpenArchive(&x.Others, objects, onFault)
	}
	if slices.Contains(files, warc.Stdin) {
		return nil, warc.ErrStdinInput
	}
	disk := receivers.Disk().ReadRecords(objects)
	files, err := find(inv, disk, files)
	if err != nil {
		return nil, err
	}
	return lookup.New(lookup.NewFiles(lookup.Options{FS: disk, Files: files, OnFault: onFault})), nil
}

// damageNotes are the faults that a search has met. Captures may be missing because of them.
type damageNotes struct {
	out   io.Writer
	mu    sync.Mutex
	count int         // guarded by mu
	lost  int         // of these, how many leave out a record; guarded by mu
	first *warc.Fault // that does; guarded by mu
}

// err is that records could not be read; nil if there are none.
func (d *damageNotes) err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.lost == 0 {
		return nil
	}
	return fmt.Errorf("not all could be read: %w", d.first)
}

// note writes the first faults. An index that is not used leaves out no record.
func (d *damageNotes) note(f *warc.Fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count++
	if !errors.Is(f, warc.ErrReference) {
		if d.lost++; d.lost == 1 {
			d.first = f
		}
	}
	if d.count <= damagedSaid {
		fmt.Fprintln(d.out, f)
	}
}
