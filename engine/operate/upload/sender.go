package upload

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"time"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/manifest"
	"orbweaver/engine/store/receipts"
	"orbweaver/internal/notify"
	"orbweaver/internal/throttle"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// Receiver takes closed WARC files.
type Receiver interface {
	// Name is a word for logs and metrics, and the name of the directory of its receipts.
	Name() string
	// Target says where files go.
	Target() string
	// Send returns when the receiver has the file and its index. The receipt needs only what Send knows: the caller
	// fills in the rest.
	Send(ctx context.Context, f *File) (receipts.Receipt, error)
}

// File is a closed WARC file that never changes again.
type File struct {
	FS     vfs.FS
	Dir    string // where it and its index are
	Name   string
	Index  string
	Serial uint32
	Length int64
	SHA256 string // in hex, of its line in the manifest; empty without one
	Draft  Draft
}

// Path is the name of the file with its directory.
func (f *File) Path() string { return f.Dir + "/" + f.Name }

// ErrDamaged is wrapped by the error of Send if the file is not what its line in the manifest says.
var ErrDamaged = errors.New("its SHA-256 is not that of its line in the manifest")

// RefusedError is the error of Send if the receiver will refuse the file again, until the operator changes something.
type RefusedError struct {
	Reason string // in a word or two, such as the code of an object store
	All    bool   // it refuses every file
	Err    error
}

func (e *RefusedError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

const (
	scanEvery = 5 * time.Second
	// After the first failure a receiver has a pause of retryFirst, then twice as long each time.
	retryFirst = time.Second
	retryMost  = 2 * time.Minute
)

// waitingFile is a file that a receiver does not have yet.
type waitingFile struct {
	File

	tries     int
	notBefore time.Time
	isRunning bool
	refused   string // why the receiver refuses it; it gets one more try when the crawl has ended
}

// result is the end of a Send.
type result struct {
	file    *waitingFile
	receipt receipts.Receipt
	err     error
	took    time.Duration
}

// sender gives files to one receiver. Only run writes its fields.
type sender struct {
	fsys     vfs.FS
	dir      string // of the crawl
	to       Receiver
	parallel int
	log      *slog.Logger
	receipts receipts.List
	wake     chan struct{}
	ended    context.Context //nolint:containedctx // its end says that the crawl has ended: no more files come

	known    map[string]receipts.Receipt // by file
	damaged  map[string]bool             // files that are not sent in this run; guarded by mu for other goroutines
	waiting  []*waitingFile              // by serial; guarded by mu for other goroutines, as all below
	removal  remover
	failures int       // since the last success
	paused   time.Time // no try before
	hasRest  bool      // the files beside the WARC files were sent, or refused
	isLast   bool      // the crawl has ended: a file that is refused now stays
	quiet    throttle.Log
	logged   bool // the failures since the last success are in the log

	mu    sync.Mutex
	stats senderStats
}

// senderStats are the numbers of one receiver in this run.
type senderStats struct {
	waiting, waitingBytes int64
	sent, sentBytes       int64
	failed                int64
	damaged               int64 // files that are not what their lines in the manifest say
	removed, removedBytes int64
	down                  time.Time // of the first failure since the last success; zero if there was none
	lastError             string
	refused               string // why the receiver refuses all that it gets; "" after a success or another error
	rest                  int64  // files beside the WARC files that could not be sent
}

func (s *sender) open() (err error) {
	s.receipts, s.damaged = receipts.List{FS: s.fsys, Dir: s.dir + "/" + receipts.Dir(s.to.Name())}, map[string]bool{}
	if err := s.fsys.MkdirAll(s.receipts.Dir); err != nil {
		return fmt.Errorf("upload: %w", err)
	}
	if s.known, err = s.receipts.Of(s.to.Target()); err != nil {
		return err
	}
	for name, receipt := range s.known { // a file that was rebuilt since is another one
		length, err := s.fsys.Size(s.dir + "/" + layout.ArchiveDir + "/" + name)
		if err == nil && length != receipt.Length {
			delete(s.known, name)
		}
	}
	return nil
}

// run sends files until ctx ends, or until the crawl has ended and nothing waits.
func (s *sender) run(ctx context.Context) {
	results := make(chan result)
	running := 0
	for {
		isEnded := s.ended.Err() != nil // before the scan: after the end no file comes
		err := s.scan()
		if err != nil {
			s.warn("the archive cannot be searched for closed files", "error", err)
		}
		isRemoved := s.removal.removeSent(ctx, time.Now())
		now := time.Now()
		if isEnded && !s.isLast {
			s.beginLast()
		}
		switch {
		case err != nil || !isEnded:
		case len(s.waiting) == 0:
			if s.sendRest(ctx, now) && isRemoved {
				return
			}
		case running == 0 && areAllRefused(s.waiting):
			return
		}
		for running < s.allowed() {
			file := s.next(now)
			if file == nil {
				break
			}
			file.isRunning = true
			running++
			go func() { results <- s.send(ctx, file) }()
		}
		timer := time.NewTimer(s.pause(now))
		select {
		case r := <-results:
			running--
			s.settle(ctx, r)
		case <-timer.C:
		case <-s.wake:
		case <-ctx.Done():
			for ; running > 0; running-- {
				s.settle(ctx, <-results)
			}
			timer.Stop()
			return
		}
		timer.Stop()
	}
}

// beginLast gives each file another try at once.
func (s *sender) beginLast() {
	s.isLast, s.paused = true, time.Time{}
	for _, f := range s.waiting {
		f.refused, f.notBefore = "", time.Time{}
	}
}

// areAllRefused reports whether no file that waits may be sent any more.
func areAllRefused(waiting []*waitingFile) bool {
	return !slices.ContainsFunc(waiting, func(f *waitingFile) bool { return f.refused == "" })
}

// allowed is how many files may be on their way: a receiver that fails gets one at a time (UL4).
func (s *sender) allowed() int {
	if s.failures > 0 {
		return 1
	}
	return s.parallel
}

// next returns the file to send now: the oldest of those with the fewest tries; nil if there is none.
func (s *sender) next(now time.Time) (best *waitingFile) {
	if now.Before(s.paused) {
		return nil
	}
	for _, f := range s.waiting {
		isLeft := s.isLast && f.refused != ""
		if !f.isRunning && !isLeft && !now.Before(f.notBefore) && (best == nil || f.tries < best.tries) {
			best = f
		}
	}
	return best
}

// pause is how long nothing needs to be done, unless a file is sent or the crawl ends.
func (s *sender) pause(now time.Time) time.Duration {
	pause := scanEvery
	for _, f := range s.waiting {
		due := f.notBefore
		if due.Before(s.paused) {
			due = s.paused
		}
		if wait := due.Sub(now); !f.isRunning && wait > 0 {
			pause = min(pause, wait)
		}
	}
	return pause
}

// scan adds the closed files that are new to the waiting ones (UL1).
func (s *sender) scan() error {
	archive := s.dir + "/" + layout.ArchiveDir
	files, err := warc.Files(s.fsys, archive)
	if err != nil {
		return err
	}
	waits := make(map[string]bool, len(s.waiting))
	for _, f := range s.waiting {
		waits[f.Name] = true
	}
	var end *warc.Checkpoint
	for _, info := range files {
		if _, isSent := s.known[info.Name]; isSent || info.Open || waits[info.Name] || s.damaged[info.Name] {
			continue
		}
		if end == nil {
			if end, err = durableEnd(s.fsys, s.dir); err != nil {
				return err
			}
		}
		length, err := s.fsys.Size(archive + "/" + info.Name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return fmt.Errorf("upload: %w", err)
		}
		if end.Before(warc.Checkpoint{Serial: info.Serial, Length: length}) {
			break // the files behind it are not durable either
		}
		s.waiting = append(s.waiting, &waitingFile{File: File{
			FS: s.fsys, Dir: archive, Name: info.Name, Index: info.Index(), Serial: info.Serial, Length: length,
			Draft: &DraftFile{FS: s.fsys, Name: s.receipts.Dir + "/" + info.Name + draftSuffix},
		}})
	}
	s.count()
	return nil
}

// durableEnd is the end of the archive in the last durable checkpoint. A resume removes nothing before it.
func durableEnd(fsys vfs.FS, dir string) (*warc.Checkpoint, error) {
	m, err := manifest.Read(fsys, dir+"/"+layout.FrontierDir)
	if err != nil {
		return nil, fmt.Errorf("upload: %w", err)
	}
	if m == nil || m.Archive == nil {
		return new(warc.Checkpoint), nil
	}
	return m.Archive, nil
}

func (s *sender) send(ctx context.Context, f *waitingFile) result {
	began := time.Now()
	listed, err := listedFiles(s.fsys, s.dir)
	if err != nil {
		return result{file: f, err: err}
	}
	if one, ok := listed[f.Name]; ok {
		f.SHA256 = hex.EncodeToString(one.SHA256[:])
	}
	receipt, err := s.to.Send(ctx, &f.File)
	return result{file: f, receipt: receipt, err: err, took: time.Since(began)}
}

// settle notes the end of a Send (UL2).
func (s *sender) settle(ctx context.Context, r result) {
	r.file.isRunning = false
	if r.err == nil {
		r.receipt.File, r.receipt.Length, r.receipt.Target = r.file.Name, r.file.Length, s.to.Target()
		r.receipt.Sent = time.Now().UTC().Truncate(time.Second)
		r.err = s.removal.writeReceipt(&r.receipt)
	}
	now := time.Now()
	switch {
	case r.err == nil:
		s.succeed(&r)
	case ctx.Err() != nil: // ended by a stop: no failure of the receiver
	case errors.Is(r.err, ErrDamaged):
		s.leaveOut(&r)
	case s.isGone(r.file):
		s.warn("a closed WARC file has disappeared before it was sent", "file", r.file.Name)
		s.drop(r.file)
	default:
		s.fail(&r, now)
	}
	s.count()
}

func (s *sender) isGone(f *waitingFile) bool {
	_, err := s.fsys.Size(f.Path())
	return errors.Is(err, fs.ErrNotExist)
}

// leaveOut notes a file that the disk has damaged. Its object would have the damage.
func (s *sender) leaveOut(r *result) {
	s.drop(r.file)
	s.mu.Lock()
	s.damaged[r.file.Name] = true
	s.stats.damaged++
	s.mu.Unlock()
	s.log.Error("a WARC file was damaged on the disk since it was closed; it is not sent", "receiver", s.to.Name(),
		"file", r.file.Name, "error", r.err)
}

func (s *sender) succeed(r *result) {
	s.known[r.file.Name] = r.receipt
	_ = r.file.Draft.Remove() // without its file it says nothing
	s.drop(r.file)
	if s.logged {
		s.log.Info("files are sent again", "receiver", s.to.Name(), "target", s.to.Target(), "failures", s.failures)
	}
	s.failures, s.logged, s.paused = 0, false, time.Time{}
	s.mu.Lock()
	s.stats.sent++
	s.stats.sentBytes += r.file.Length
	s.stats.down, s.stats.lastError, s.stats.refused = time.Time{}, "", ""
	s.mu.Unlock()
	s.log.Info("WARC file sent", "receiver", s.to.Name(), "file", r.file.Name, "bytes", r.file.Length,
		"took", r.took.Round(time.Millisecond).String())
}

func (s *sender) fail(r *result, now time.Time) {
	s.failures++
	r.file.tries++
	s.paused = now.Add(backOff(s.failures))
	r.file.notBefore = now.Add(backOff(r.file.tries))
	reason := noteRefusal(r, s.waiting)
	s.mu.Lock()
	s.stats.failed++
	s.stats.lastError, s.stats.refused = r.err.Error(), reason
	if s.stats.down.IsZero() {
		s.stats.down = now
	}
	s.mu.Unlock()
	s.warn("a WARC file could not be sent; it waits on the disk, and is sent later", "file", r.file.Name,
		"waiting_files", len(s.waiting), "error", r.err)
}

// noteRefusal marks the files that the receiver refuses, and returns the reason; "" if the fault may pass.
func noteRefusal(r *result, waiting []*waitingFile) (reason string) {
	refusal, ok := errors.AsType[*RefusedError](r.err)
	if !ok {
		r.file.refused = ""
		return ""
	}
	r.file.refused = refusal.Reason
	if refusal.All {
		for _, f := range waiting {
			f.refused = refusal.Reason
		}
	}
	return refusal.Reason
}

// backOff is the pause after so many failures.
func backOff(failures int) time.Duration {
	return min(retryFirst<<min(failures-1, 10), retryMost)
}

func (s *sender) drop(f *waitingFile) {
	for i, one := range s.waiting {
		if one == f {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return
		}
	}
}

// count makes the number of waiting files visible to other goroutines.
func (s *sender) count() {
	var bytes int64
	for _, f := range s.waiting {
		bytes += f.Length
	}
	s.mu.Lock()
	s.stats.waiting, s.stats.waitingBytes = int64(len(s.waiting)), bytes
	s.mu.Unlock()
}

func (s *sender) warn(msg string, args ...any) {
	if n, ok := s.quiet.Allow(time.Now()); ok {
		s.logged = true
		s.log.Warn(msg, append(args, "receiver", s.to.Name(), "target", s.to.Target(), "times", n)...)
	}
}

// numbers returns the numbers of this run.
func (s *sender) numbers() senderStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

func (s *sender) look() { notify.Send(s.wake) }
