package receivers

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"orbweaver/engine/operate/upload"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/plural"
	"orbweaver/internal/vfs"
)

// Sending gives closed WARC files to the receivers that the options name.
type Sending struct {
	fsys vfs.FS
	dir  string // of the crawl
	o    *upload.Options
	log  *slog.Logger

	earlier      sync.Once
	earlierBytes int64 // of WARC files that earlier runs have removed

	version string                         // of the program
	uploads atomic.Pointer[upload.Uploads] // nil if nothing is sent
	until   atomic.Int64                   // when Finish ends at last, in seconds of Unix; 0 if it does not run
	kill    context.Context                //nolint:containedctx // its end ends what is under way at once
	abort   context.CancelFunc
}

// New returns what sends the files of the crawl in dir, once it is started.
func New(fsys vfs.FS, dir string, o *upload.Options, version string, log *slog.Logger) *Sending {
	s := &Sending{fsys: fsys, dir: dir, o: o, version: version, log: log}
	s.kill, s.abort = context.WithCancel(context.Background())
	return s
}

// Start begins to send. The crawl directory must be locked.
func (s *Sending) Start(ctx context.Context) error {
	var to []upload.Outlet
	if s.o.Target != "" {
		store, err := OpenStore(s.o, s.version)
		if err != nil {
			return err
		}
		to = append(to, upload.Outlet{Receiver: store, Parallel: s.o.Parallel})
	}
	if s.o.Command != "" {
		to = append(to, upload.Outlet{Receiver: newProgram(s.o, s.dir, s.log), Parallel: s.o.Commands})
	}
	if len(to) == 0 {
		return nil
	}
	u, err := upload.Start(ctx, upload.Parts{FS: s.fsys, Dir: s.dir, Log: s.log, To: to, Then: s.o.Then})
	s.uploads.Store(u)
	return err
}

// Stats implements upload.Source.
func (s *Sending) Stats() *upload.Stats {
	if u := s.uploads.Load(); u != nil {
		return u.Stats()
	}
	return nil
}

// Removed implements upload.Source.
func (s *Sending) Removed() int64 {
	s.earlier.Do(func() {
		var err error
		if s.earlierBytes, err = receipts.RemovedBytes(s.fsys, s.dir); err != nil {
			s.log.Warn("receipts of sent WARC files cannot be read: --max-disk counts these files", "error", err)
		}
	})
	if u := s.uploads.Load(); u != nil {
		return s.earlierBytes + u.Removed()
	}
	return s.earlierBytes
}

// Freeing implements upload.Source. Before Start it lists the archive.
func (s *Sending) Freeing() int64 {
	if s.o.Then != upload.Delete {
		return 0
	}
	if u := s.uploads.Load(); u != nil {
		return u.Freeing()
	}
	n, err := upload.Removable(s.fsys, s.dir, func(string) bool { return false })
	if err != nil {
		s.log.Warn("the archive cannot be listed", "error", err)
	}
	return n
}

// stopWait is how long a crawl that was stopped waits for files on their way.
const stopWait = 30 * time.Second

// refreshPatience is how long a fetch waits for a store that sends nothing.
const refreshPatience = 10 * time.Second

// Objects implements upload.Source. Its requests end with Abort or Stop.
func (s *Sending) Objects() receipts.Objects {
	if !s.o.FromStore {
		return receipts.NoObjects{}
	}
	objects := NewObjects(s.kill, s.version, s.o.Endpoint)
	objects.patience = refreshPatience
	return objects
}

// Finish waits until all files are sent. The crawl has ended. It waits for --upload-wait at most, and once stopping has
// ended, for stopWait at most. It returns how many files are left.
func (s *Sending) Finish(stopping context.Context) (left int64) {
	u := s.uploads.Load()
	if u == nil {
		return 0
	}
	wait, cancel := context.WithTimeout(s.kill, s.o.Wait)
	defer cancel()
	hurry := time.AfterFunc(s.o.Wait, cancel)
	defer hurry.Stop()
	s.until.Store(time.Now().Add(s.o.Wait).Unix())
	defer s.until.Store(0)
	defer context.AfterFunc(stopping, func() {
		hurry.Reset(min(stopWait, s.o.Wait))
		s.until.Store(time.Now().Add(min(stopWait, s.o.Wait)).Unix())
	})()
	if left = u.Finish(wait); left > 0 {
		s.log.Warn("WARC files are not sent yet: the next run or 'orbweaver upload' sends them", "dir", s.dir, "files", left)
	}
	return left
}

// Ending implements upload.Source.
func (s *Sending) Ending() string {
	until, n := s.until.Load(), s.Stats()
	if until == 0 || n == nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(n.Waiting)) {
		if n.Waiting[name] == 0 && n.Errors[name] == "" {
			continue
		}
		part := "the upload of " + plural.Count(n.Waiting[name], "file")
		if name == upload.Command {
			part = "the command of --on-warc-close for " + plural.Count(n.Waiting[name], "file")
		}
		if reason := cmp.Or(n.Refused[name], n.Errors[name]); reason != "" {
			part += fmt.Sprintf(" (%.120s)", reason)
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 {
		parts = []string{"the last uploads"}
	}
	return strings.Join(parts, "; ") + ", until " + time.Unix(until, 0).Format("15:04")
}

// Abort ends what is under way at once, also a Finish. Files without a receipt are sent by the next run.
func (s *Sending) Abort() { s.abort() }

// Stop ends what Finish has not ended.
func (s *Sending) Stop() {
	s.abort()
	if u := s.uploads.Load(); u != nil {
		u.Stop()
	}
}
