package outage

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// Flapping: the disk has room whenever it is asked and none when it is written to. The pauses grow longer, the room
// that is waited for grows up to what the crawl could use, and after a while without pauses all begins again.
func TestHostile_S02_pausesThatFollowEachOtherGrow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := faultfs.NewScript()
		said := 0
		d := &DiskGuard{
			Fs: faultfs.New(vfs.NewMem(1), script), Dir: ".", Gate: NewGate(func() {}),
			Most: func() int64 { return 5 * DiskNeed }, Warn: func(string, ...any) { said++ },
		}
		pause := func() time.Duration {
			began := time.Now()
			if err := d.Wait(t.Context(), syscall.ENOSPC); err != nil {
				t.Fatal(err)
			}
			return time.Since(began)
		}
		for i, want := range []float64{1, 2, 4, 8, 16, 32, 60, 60} {
			if got := pause(); got.Seconds() != want {
				t.Errorf("pause %d takes %v, not %v s", i+1, got, want)
			}
		}
		if d.need != 5*DiskNeed || said != 2 {
			t.Errorf("it waits for %d bytes and has said %d lines", d.need, said)
		}
		<-time.After(diskPauseGap)
		if got := pause(); got != time.Second || d.need != DiskNeed || said != 4 {
			t.Errorf("after a calm: %v, %d bytes, %d lines", got, d.need, said)
		}
		script.SetFree(DiskNeed - 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := d.Wait(ctx, syscall.ENOSPC); !errors.Is(err, ErrFullAtStop) || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("one byte too few is enough: %v", err)
		}
	})
}

func TestDiskGuard_otherErrorsAreNotWaitedFor(t *testing.T) {
	d := &DiskGuard{}
	for _, err := range []error{syscall.EIO, syscall.EROFS, vfs.Synced(syscall.ENOSPC)} {
		if got := d.Wait(t.Context(), err); got != err { //nolint:errorlint // it is to be the same
			t.Errorf("%v: %v", err, got)
		}
	}
}
