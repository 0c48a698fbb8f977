//go:build scenario

package storage

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// hurt is something done to an archive file.
type hurt struct {
	name  string
	loses bool // captures
	do    func(t *testing.T, fsys *vfs.Mem, file string)
}

func hurts() []hurt {
	rewrite := func(change func([]byte) []byte) func(*testing.T, *vfs.Mem, string) {
		return func(t *testing.T, fsys *vfs.Mem, file string) {
			t.Helper()
			data, err := vfs.ReadFile(fsys, file)
			if err != nil {
				t.Fatal(err)
			}
			writeFile(t, fsys, file, change(data))
		}
	}
	return []hurt{
		{"a wrong byte in many records", true, func(t *testing.T, fsys *vfs.Mem, file string) {
			t.Helper()
			data, err := vfs.ReadFile(fsys, file)
			if err != nil {
				t.Fatal(err)
			}
			const member = "\x1f\x8b\x08\x00\x00\x00\x00\x00"
			for n, begin := 0, 0; ; n++ {
				next := bytes.Index(data[begin+1:], []byte(member))
				if next < 0 {
					return
				}
				if n%3 == 2 { // of groups of two, and now and then three
					testbed.FlipByte(t, fsys, file, begin+(next+1)/2)
				}
				begin += 1 + next
			}
		}},
		{"the first byte", false, func(t *testing.T, fsys *vfs.Mem,
			file string) {
			t.Helper()
			testbed.FlipByte(t, fsys, file, 0)
		}},
		{"the record that all others name", false, func(t *testing.T, fsys *vfs.Mem,
			file string) {
			t.Helper()
			testbed.FlipByte(t, fsys, file, 200)
		}},
		{"the end torn off", true, rewrite(func(b []byte) []byte { return b[:len(b)*2/3] })},
		{"the file is gone", true, func(t *testing.T, fsys *vfs.Mem, file string) {
			t.Helper()
			if err := fsys.Remove(file); err != nil {
				t.Fatal(err)
			}
		}},
		{"all of it", true, rewrite(func(b []byte) []byte { return make([]byte, len(b)) })},
	}
}

// Records that are damaged are told and taken out, with the revisits that need them; what was fetched with them is
// fetched again, and nothing else.
func TestRebuild_damagedRecordsAreFetchedAgain(t *testing.T) {
	for i, h := range testbed.Sample(hurts()[1:]) {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { hurtAndRebuild(t, h, *testbed.FirstSeed+841+uint64(i)) })
		})
	}
}

// The commonest of these: wrong bytes here and there in the archive. fsck names the file, the rebuild each record, and
// they are fetched again.
func TestHostile_S08_wrongBytesInTheArchiveAreFoundAndFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { hurtAndRebuild(t, hurts()[0], *testbed.FirstSeed+840) })
}

func hurtAndRebuild(t *testing.T, h hurt, seed uint64) {
	t.Helper()
	rig := testbed.MustRig(t, testbed.CopiesWorld(seed), true)
	b := testbed.KilledCrawl{Rig: rig, Cfg: testbed.FsckConfig(rig)}
	b.WithSmallFiles()
	b.Cfg.Limits.StallWait = time.Hour
	b.Disk, _ = testbed.Kill(t, rig, b.Cfg, rig.FS, 3*time.Minute, testbed.Sigkill)
	before := testbed.CountCaptures(t, b.Disk)
	files, err := warc.Files(b.Disk, "crawl/warc")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	file := "crawl/warc/" + files[0].Name
	h.do(t, b.Disk, file)
	_, err = b.Disk.Size(file)
	if r := testbed.Fsck(t, b.Disk); r.Sound() || err == nil && !names(&r, file) {
		r.Print(t.Output())
		t.Errorf("fsck does not name %s", file)
	}
	r := testbed.Rebuild(t, b.Rig, b.Cfg, b.Disk)
	if len(r.Damage) == 0 || len(r.Mended) == 0 {
		t.Errorf("the rebuild told no damage: %+v", r)
	}
	lost := 0
	after := testbed.CountCaptures(t, b.Disk)
	for url, n := range before {
		lost += n.All - after[url].All
	}
	if (lost > 0) != h.loses {
		t.Errorf("%d captures were lost", lost)
	}
	t.Logf("%d captures were lost of %d; %d damages told: %v", lost, len(before), len(r.Damage), r.Damage)
	testbed.ResumeToEnd(t, b.Rig, b.Cfg, b.Disk, lost+b.Cfg.Workers.Fetchers)
}
