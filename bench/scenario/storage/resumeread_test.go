package storage

import (
	"errors"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// A resume meets a disk that cannot be read for a moment, in the archive, in the journal and in the components: it ends
// with an error and takes it for nothing else. Nothing is cut off, and the next resume goes on as if the one before had
// not been.
func TestHostile_S03_aDiskThatCannotBeReadAtAResumeLosesNothing(t *testing.T) {
	for _, file := range []string{"*.warc.gz*", "journal-*", "aloft-*", "bench-*", "MANIFEST"} {
		t.Run(file, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := testbed.KillHalfWay(t, fewSites(*testbed.FirstSeed+960), 5*time.Second+300*time.Millisecond,
					testbed.Sigkill)
				met, read := 0, 0
				for nth := 1; ; nth++ {
					disk := b.Disk.KillClone()
					script := faultfs.NewScript()
					script.Add(faultfs.Rule{Op: faultfs.Read, Name: file, From: nth, Count: 1, Err: syscall.EIO})
					e, err := engine.Open(b.Cfg, b.Rig.Seams(faultfs.New(disk, script)))
					if err == nil { // so many reads there are not
						read = nth - 1
						if err := e.Close(); err != nil {
							t.Error(err)
						}
						break
					}
					if !errors.Is(err, syscall.EIO) {
						t.Fatalf("read %d: %v", nth, err)
					}
					met++
					if nth%8 == 1 {
						sameJournaled(t, b.Disk, disk)
					}
					if nth > 64 {
						break
					}
				}
				if met == 0 {
					t.Fatalf("no read of %s failed of %d: the test tests nothing", file, read)
				}
				disk := b.Disk.KillClone()
				script := faultfs.NewScript()
				script.Add(faultfs.Rule{Op: faultfs.Read, Name: file, From: met, Count: 1, Err: syscall.EIO})
				if _, err := engine.Open(b.Cfg, b.Rig.Seams(faultfs.New(disk, script))); err == nil {
					t.Fatal("the last read did not fail this time")
				}
				testbed.ResumeToEnd(t, b.Rig, b.Cfg, disk, b.Cfg.Workers.Fetchers)
			})
		})
	}
}

// sameJournaled says that archive and journals are as they were.
func sameJournaled(t *testing.T, before, after *vfs.Mem) {
	t.Helper()
	was, is := testbed.FileContents(t, before), testbed.FileContents(t, after)
	for file, data := range was {
		if (under("warc/", "", "")(file) || under("frontier/", "journal-", "")(file)) && is[file] != data {
			t.Errorf("%s was changed by a resume that failed: %d bytes are %d", file, len(data), len(is[file]))
		}
	}
}
