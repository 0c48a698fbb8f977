//go:build scenario

package invitro

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

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
				if n%5 == 3 { // of groups of two, and now and then three
					flip(t, fsys, file, begin+(next+1)/2)
				}
				begin += 1 + next
			}
		}},
		{"the first byte", false, func(t *testing.T, fsys *vfs.Mem, file string) { t.Helper(); flip(t, fsys, file, 0) }},
		{"the record that all others name", false, func(t *testing.T, fsys *vfs.Mem, file string) { t.Helper(); flip(t, fsys, file, 200) }},
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

// Records that are damaged are told and taken out, with the revisits that need them; what was fetched with them is fetched
// again, and nothing else.
func TestRebuild_damagedRecordsAreFetchedAgain(t *testing.T) {
	for i, h := range some(hurts()[1:]) {
		t.Run(h.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { hurtAndRebuild(t, h, *firstSeed+841+uint64(i)) })
		})
	}
}

// The commonest of these: wrong bytes here and there in the archive. fsck names the file, the rebuild each record, and they are fetched again.
func TestHostile_S08_wrongBytesInTheArchiveAreFoundAndFetchedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { hurtAndRebuild(t, hurts()[0], *firstSeed+840) })
}

func hurtAndRebuild(t *testing.T, h hurt, seed uint64) {
	t.Helper()
	rig, err := NewRig(copies(seed), true)
	if err != nil {
		t.Fatal(err)
	}
	b := broken{rig: rig, cfg: fsckConfig(rig)}
	b.withSmallFiles()
	b.cfg.StallWait = time.Hour
	b.disk, _ = kill(t, rig, b.cfg, rig.FS, 3*time.Minute, sigkill)
	before := captured(t, b.disk)
	files, err := warc.Files(b.disk, "crawl/warc")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	file := "crawl/warc/" + files[0].Name
	h.do(t, b.disk, file)
	_, err = b.disk.Size(file)
	if r := look(t, b.disk); r.Sound() || err == nil && !names(&r, file) {
		r.Print(t.Output())
		t.Errorf("fsck does not name %s", file)
	}
	r := rebuild(t, b.rig, b.cfg, b.disk)
	if len(r.Damage) == 0 || len(r.Mended) == 0 {
		t.Errorf("the rebuild told no damage: %+v", r)
	}
	lost := 0
	after := captured(t, b.disk)
	for url, n := range before {
		lost += n.all - after[url].all
	}
	if (lost > 0) != h.loses {
		t.Errorf("%d captures were lost", lost)
	}
	t.Logf("%d captures were lost of %d; %d damages told: %v", lost, len(before), len(r.Damage), r.Damage)
	goOn(t, b.rig, b.cfg, b.disk, lost+b.cfg.Fetchers)
}
