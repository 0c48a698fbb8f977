package crawl

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"orbweaver/cmd/orbweaver/internal/receivers"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/cli/command"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
	"orbweaver/warc/waczfs"
)

// Others are further archives of a command that reads one.
type Others struct {
	With []string `help:"Further crawl directory or directory of WARC files, with the payloads that revisit records of --dedup-from and --dedup-agents refer to (repeatable)." placeholder:"DIR" sep:"none"`
}

// Dirs returns the directories with the WARC files.
func (o *Others) Dirs(disk vfs.FS) (dirs []string, err error) {
	for _, name := range o.With {
		dir, err := lookup.FindDir(disk, name)
		if err != nil {
			return nil, fmt.Errorf("--with: %w", err)
		}
		dirs = append(dirs, dir)
	}
	return dirs, nil
}

// OpenArchive returns the archive of the crawl directory, and further ones; the caller closes it. A running crawl is
// asked for its index; if none answers, the files are read, and onFault is told of damage. Removed files are read from
// objects.
func (t *Target) OpenArchive(
	others *Others, objects receipts.Objects, onFault func(*warc.Fault),
) (*lookup.Archive, error) {
	if err := command.FindDir(t.Dir); err != nil {
		return nil, err
	}
	disk := receivers.Disk().ReadRecords(objects)
	if t.Dir == warc.Stdin {
		return nil, warc.ErrStdinInput
	}
	if len(others.With) == 0 && IsFile(disk, t.Dir) {
		return lookup.New(lookup.NewFiles(lookup.Options{FS: disk, Files: []string{t.Dir}, OnFault: onFault})), nil
	}
	dir, err := lookup.FindDir(disk, t.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("there is no crawl in %s", t.Dir)
	}
	if err != nil {
		return nil, fmt.Errorf("--dir: %w", err)
	}
	with, err := others.Dirs(disk)
	if err != nil {
		return nil, err
	}
	client, err := t.Client()
	if err != nil {
		return nil, err
	}
	files := lookup.NewFiles(lookup.Options{FS: disk, Dirs: []string{dir}, OnFault: onFault})
	lines := firstOf{client.Captures(), files}
	if len(with) == 0 {
		return lookup.New(files).WithLines(lines), nil
	}
	further := lookup.NewFiles(lookup.Options{FS: disk, Dirs: with, OnFault: onFault})
	all := lookup.NewFiles(lookup.Options{FS: disk, Dirs: append(with, dir)})
	return lookup.New(all).WithLines(lookup.Merged{lines, further}, files, further), nil
}

// IsFile reports whether a name is that of a file of any name, and neither a directory nor a WACZ.
func IsFile(disk vfs.FS, name string) bool {
	_, err := disk.Size(name)
	_, listErr := disk.List(name)
	return err == nil && listErr != nil && !waczfs.Is(name)
}

// firstOf takes the lines of a running crawl, or else those of its files.
type firstOf struct{ running, files lookup.Lines }

// Scan asks the running crawl. If it does not answer at all, the files are searched.
func (f firstOf) Scan(ctx context.Context, want lookup.Range, do func(line []byte) error) error {
	answered := false
	err := f.running.Scan(ctx, want, func(line []byte) error {
		answered = true
		return do(line)
	})
	if err == nil || answered || ctx.Err() != nil {
		return err
	}
	return f.files.Scan(ctx, want, do)
}
