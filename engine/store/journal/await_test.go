package journal

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// AwaitAll waits for the next group commit if something is not, and not at all if
// nothing was written.
func TestLedger_settledWaitsForWhatIsNotDurable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := vfs.NewMem(1)
		w, err := warc.OpenWriter(fsys, warc.Options{Dir: "warc"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := fsys.MkdirAll("frontier"); err != nil {
			t.Fatal(err)
		}
		j, err := Create(fsys, "frontier", 7)
		if err != nil {
			t.Fatal(err)
		}
		l := &Store{Writer: w, syncing: make(chan struct{}, 1), Long: make(chan struct{}, 1)}
		l.TurnTo(j)
		soon := func() error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			return l.AwaitAll(ctx)
		}
		if err := soon(); err != nil {
			t.Errorf("nothing was written: %v", err)
		}
		if err := l.Write(entry(Entry{Kind: KindPage, Outcome: outcome.OK})); err != nil {
			t.Fatal(err)
		}
		if err := soon(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("nobody has synced: %v", err)
		}
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
		if err := soon(); err != nil {
			t.Errorf("after a sync: %v", err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
}
