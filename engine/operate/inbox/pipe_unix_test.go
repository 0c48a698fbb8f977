//go:build unix

package inbox

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/vfs"
)

// What is no regular file stays in the inbox, and nothing waits for it: a named pipe without a writer, a device, a
// socket. The files beside it are read.
func TestInbox_aNamedPipeHoldsNothing(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	inside := filepath.Join(dir, Dir)
	for _, err := range []error{
		os.MkdirAll(inside, 0o755), syscall.Mkfifo(filepath.Join(inside, "a-pipe"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(inside, "device.txt")),
		os.WriteFile(filepath.Join(inside, "urls.txt"), []byte("http://a.test/\n"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	var said atomic.Int32
	log := slog.New(slog.NewTextHandler(writerFunc(func(b []byte) {
		if strings.Contains(string(b), "not a regular file") {
			said.Add(1)
		}
	}), nil))
	r := &rig{fs: vfs.NewMem(1)}
	i, err := Open(Options{FS: vfs.Disk(), Dir: dir, Watcher: NoWatcher{}, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithTimeout(t.Context(), 10*Quiet)
	defer end()
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx, r.add) }()
	for r.count() == 0 || said.Load() < 2 {
		select {
		case err := <-done:
			t.Fatalf("it ended before the file was read: %v; %d files are called irregular", err, said.Load())
		case <-time.After(Quiet / 100):
		}
	}
	end()
	if err := <-done; err != nil || i.IsPending() {
		t.Errorf("%v, pending %v", err, i.IsPending())
	}
}

// writerFunc is a writer that calls itself.
type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) {
	f(b)
	return len(b), nil
}
