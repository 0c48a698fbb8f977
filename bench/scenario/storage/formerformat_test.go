package storage

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/vfs"
)

// A crawl of a format before sync marks was killed. When it is opened, the new number of the format is durable before a
// page is fetched, so that no earlier version reads a journal with marks. The crawl ends whole.
func TestResume_ofAFormerFormatIsMarkedBeforeAPageIsFetched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rig := testbed.MustRig(t, testbed.SmallWorld(*testbed.FirstSeed+60, simweb.Plain()), true)
		fsys, ended := testbed.Kill(t, rig, rig.Config(), vfs.NewMem(1), 20*time.Second, testbed.Sigkill)
		if ended {
			t.Fatal("it ended before it was killed")
		}
		const name, now, former = "crawl/frontier/MANIFEST", "orbweaver-manifest 12 ", "orbweaver-manifest 4 "
		has := func(magic string) bool {
			t.Helper()
			b, err := vfs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			return bytes.HasPrefix(b, []byte(magic))
		}
		b, err := vfs.ReadFile(fsys, name)
		if err != nil {
			t.Fatal(err)
		}
		err = vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
			_, err := w.Write(bytes.Replace(b, []byte(now), []byte(former), 1))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if !has(former) {
			t.Fatalf("the manifest begins with %.40q", b)
		}
		e, err := engine.Open(rig.Config(), rig.Seams(fsys))
		if err != nil {
			t.Fatal(err)
		}
		if fsys = fsys.KillClone(); !has(now) {
			t.Error("the former number is there when the crawl could begin to fetch")
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		e, err = engine.Open(rig.Config(), rig.Seams(fsys))
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := e.Report()
		if err := errors.Join(e.Close(), rig.Net.Close()); err != nil {
			t.Fatal(err)
		}
		testbed.CheckConservation(t, r)
		if r.State != lifecycle.Finished || r.URLsQueued != 0 {
			t.Errorf("%s: %s, %d queued", r.State, r.Reason, r.URLsQueued)
		}
	})
}
