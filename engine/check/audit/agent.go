package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"syscall"

	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/peering/ownership"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// agent is one agent's directory.
type agent struct {
	fsys    vfs.FS
	dir     string
	lock    io.Closer
	id      string
	known   []ownership.Agent // all agents that it ever knew
	from    warc.Checkpoint   // where this pass began
	end     warc.Checkpoint   // of what its last checkpoint has
	archive *warc.Archive
	report  AgentReport
}

// openAgent opens a directory, and holds its lock. What is open is given with an error, too, to be closed.
func openAgent(fsys vfs.FS, dir string, write bool) (a *agent, err error) {
	dir, fsys = strings.TrimRight(dir, "/"), receipts.Over(fsys)
	cut, err := inspect.Open(fsys, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %s has no checkpoint", ErrNoAgent, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", dir, err)
	}
	peers, err := cut.Cluster()
	if err != nil {
		return nil, fmt.Errorf("audit: %s: %w", dir, err)
	}
	if peers == nil {
		return nil, fmt.Errorf("%w: %s is the crawl of one process alone", ErrNoAgent, dir)
	}
	lock, err := fsys.Lock(dir + "/" + layout.LockFile)
	switch {
	case err == nil:
	case errors.Is(err, vfs.ErrLocked):
		return nil, fmt.Errorf("%w: %s; stop it first: orbweaver ctl --dir %s stop", layout.ErrInUse, dir, dir)
	case !write && (errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)): // no crawl can run there either
		lock = io.NopCloser(nil)
	default:
		return nil, fmt.Errorf("audit: %w", err)
	}
	a = &agent{
		fsys: fsys, dir: dir, lock: lock, id: peers.Self.ID, known: append(slices.Clone(peers.All), peers.Self),
		from: cut.From, end: cut.ArchiveEnd(),
		archive: warc.OpenArchive(fsys, dir+"/"+layout.ArchiveDir),
		report:  AgentReport{ID: peers.Self.ID, Capacity: peers.Self.Capacity, Dir: dir, Clean: cut.Clean},
	}
	again, err := inspect.Open(fsys, dir) // a crawl may have run until the lock was had
	if err == nil && again.Generation != cut.Generation {
		err = fmt.Errorf("%w: %s", layout.ErrInUse, dir)
	}
	return a, err
}

func (a *agent) close() error { return errors.Join(a.archive.Close(), a.lock.Close()) }

// order sorts agents by their names, which must differ.
func order(all []*agent) error {
	slices.SortFunc(all, func(a, b *agent) int { return strings.Compare(a.id, b.id) })
	for i := 1; i < len(all); i++ {
		if all[i].id == all[i-1].id {
			return fmt.Errorf("%w: %s and %s are both of %s; leave out the one that is not part of the crawl",
				ErrTwice, all[i-1].dir, all[i].dir, all[i].id)
		}
	}
	return nil
}

// absent are the agents that an audited agent knew and whose directories were not given.
func absent(all []*agent) (names []string) {
	for _, a := range all {
		for _, p := range a.known {
			if !slices.ContainsFunc(all, func(b *agent) bool { return b.id == p.ID }) {
				names = append(names, p.ID)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// files are those of the archive that hold something of this pass and of the last checkpoint.
func (a *agent) files() (files []warc.FileInfo, err error) {
	all, err := warc.Files(a.fsys, a.dir+"/"+layout.ArchiveDir)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	for _, info := range all {
		if info.Serial >= a.from.Serial && (warc.Checkpoint{Serial: info.Serial}).Before(a.end) {
			files = append(files, info)
		}
	}
	return files, nil
}

// counts says that a record belongs to this pass and to the last checkpoint.
func (a *agent) counts(at warc.Checkpoint) bool { return !at.Before(a.from) && at.Before(a.end) }

// lines calls f for each line of the index of a file that counts, with its end and what it says.
func (a *agent) lines(info warc.FileInfo, f func(line []byte, said *cdxj.Line) error) error {
	size := int64(math.MaxInt64)
	if info.Serial == a.end.Serial {
		size = a.end.Length
	}
	err := warc.ScanIndex(
		a.fsys,
		a.dir+"/"+layout.ArchiveDir,
		info,
		size,
		func(line []byte, said *cdxj.Line) error {
			if !a.counts(warc.Checkpoint{Serial: info.Serial, Length: said.Offset}) {
				return nil
			}
			return f(line, said)
		},
	)
	var damage *warc.Fault
	if errors.Is(err, cdxj.ErrLine) || errors.As(err, &damage) {
		return fmt.Errorf("audit: %w; orbweaver fsck %s says what is wrong", err, a.dir)
	}
	return err
}
