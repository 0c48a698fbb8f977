//go:build scenario

package storage

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/engine/store/journal"
	"orbweaver/engine/store/manifest"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/vfs"
)

// replace gives a file of a disk other bytes.
func replace(t *testing.T, fsys vfs.FS, name, data string) {
	t.Helper()
	f, err := fsys.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.WriteString(f, data)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// A file of an older or a newer version is refused by name, and nothing is changed; the right file put back, the crawl
// goes on.
func TestHostile_S10_dataOfAnotherVersionIsRefusedByNameAndNothingIsChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := halfWayWithLinks(t, *testbed.FirstSeed+1010)
		disks := []*vfs.Mem{disk, halfWayWithQueues(t), halfWayWithReady(t, *testbed.FirstSeed+1010)}
		writeQueuesOut(t, disks[1])
		runs := map[string]bool{} // of content seen: what a merge left that no manifest names is gone over at any time
		unnamed := func(file string) bool { return strings.Contains(file, "/seen/run-") && !runs[path.Base(file)] }
		met := map[string]bool{}
		for _, c := range []struct {
			file, magic string
			digit       int // of the version, in the magic
		}{
			{"MANIFEST", "orbweaver-manifest ", 19}, {"bench-", "OWBENCH", 7}, {"run-", "OWSIEVE", 7},
			{"pending-", "OWSIEVP", 7},
			{"q-", "orbwdq", 6}, {"idx-", "orbwvi", 6}, {"seg-", "orbwvs", 6}, {"", "OWSEEN", 7},
		} {
			for _, d := range disks {
				clear(runs)
				for _, r := range testbed.Inspect(t, d).Seen.Runs {
					runs[fmt.Sprintf("run-%012d", r.Serial)] = true
				}
				for name, data := range testbed.NamedFiles(t, d) {
					if !strings.HasPrefix(path.Base(name), c.file) || !strings.Contains(data, c.magic) || met[c.magic] {
						continue
					}
					met[c.magic] = true
					steps := []int{-1, 1}
					if c.file == "MANIFEST" {
						steps[0] = -6 // the five before are read: docs/formats.md
					}
					for _, step := range steps {
						clone := d.KillClone()
						patched := []byte(data)
						at := strings.LastIndex(data, c.magic) // at the end of some, and at the beginning of most
						patched[at+c.digit] = byte(int(patched[at+c.digit]) + step)
						other := string(patched[at : at+c.digit+1])
						if c.file == "seg-" { // segments are long, and read here in part
							overwrite(t, clone, name, string(patched[:64]))
						} else {
							replace(t, clone, name, string(patched))
						}
						before := testbed.FileContents(t, clone)
						rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), true)
						cfg := rig.Config()
						e, err := engine.Open(cfg, rig.Seams(clone))
						if err == nil {
							err = errors.Join(e.Close(), errors.New("it was opened"))
						}
						if cerr := rig.Net.Close(); cerr != nil {
							t.Error(cerr)
						}
						text := err.Error()
						if !strings.Contains(text, "version") && !strings.Contains(text, "not a") &&
							!strings.Contains(text, "magic") &&
							!strings.Contains(text, "format") {
							t.Errorf("%s as %q: it does not say that it is of another version: %v", name, other, err)
						}
						if c.file == "MANIFEST" && !errors.Is(err, manifest.ErrVersion) {
							t.Errorf("%v", err)
						}
						after := testbed.FileContents(t, clone)
						for file, data := range before {
							if after[file] != data && !strings.HasSuffix(file, "/owner") && !unnamed(file) {
								t.Errorf("%s as %q: %s was changed", name, other, file)
							}
						}
					}
				}
			}
			if !met[c.magic] {
				t.Errorf("no file %s with %q: the test tests less than it should", c.file, c.magic)
			}
		}
	})
}

func overwrite(t *testing.T, fsys vfs.FS, name, head string) {
	t.Helper()
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt([]byte(head), 0)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// tornWorld crawls for a moment and gives the disk as a kill leaves it.
func tornWorld(t *testing.T) (*vfs.Mem, engine.Config) {
	t.Helper()
	a := newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 1020)})
	a.cfg.Archive.SizeMax = 1 << 30
	if err := a.start(); err != nil {
		t.Fatal(err)
	}
	testbed.Wait(1500 * time.Millisecond)
	disk := a.FS.KillClone()
	a.e.Abort()
	<-a.done
	a.cancel()
	_ = a.e.Close()
	if err := a.Net.Close(); err != nil {
		t.Error(err)
	}
	return disk, a.cfg
}

// wholeAgain runs the crawl on a disk to its end, and wants every page and nothing to complain of.
func wholeAgain(t *testing.T, what string, disk *vfs.Mem, cfg engine.Config) {
	t.Helper()
	rig := testbed.MustRig(t, fewSites(*testbed.FirstSeed+1020), true)
	r, err := rig.Crawl(t.Context(), cfg, disk)
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if want := int64(rig.World.Expected(judge.ExpectOptions{Seeds: rig.Seeds}).Pages()); r.State != lifecycle.Finished ||
		r.PagesStored+r.RevisitsStored != want {
		t.Errorf("%s: %s: %s, %d pages of %d", what, r.State, r.Reason, r.PagesStored+r.RevisitsStored, want)
	}
	f := testbed.Fsck(t, disk)
	if !f.Sound() {
		f.Print(t.Output())
		t.Fatalf("%s: not sound", what)
	}
}

// A kill leaves the last record of the archive, or the last entry of the journal, torn at any byte; an index half
// written lies about. The crawl goes on, and what was not acknowledged is fetched again: one page.
func TestHostile_S05_aRecordOrAnEntryTornAtAnyByteCostsOnePage(t *testing.T) {
	step := 211
	if *everyCall {
		step = 1
	}
	synctest.Test(t, func(t *testing.T) {
		disk, cfg := tornWorld(t)
		view, err := inspect.Open(disk, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		var last journal.Attempt
		entries := 0
		tails, err := view.Journal(func(e journal.Attempt) error {
			if e.Stored {
				last = e
			}
			entries++
			return nil
		})
		if err != nil || entries == 0 {
			t.Fatal(entries, err)
		}
		files := testbed.FileContents(t, disk)
		warcName := ""
		for name := range files {
			if strings.HasSuffix(name, ".warc.gz.open") {
				warcName = name
			}
		}
		try := func(what string, tear func(*vfs.Mem)) {
			clone := disk.KillClone()
			tear(clone)
			replace(t, clone, strings.TrimSuffix(warcName, ".warc.gz.open")+".warc.cdxj.tmp", "com,exam")
			wholeAgain(t, what, clone, cfg)
		}
		for k := int64(0); k < last.Where.Length; k += int64(step) {
			try(fmt.Sprintf("record torn at %d", k), func(m *vfs.Mem) {
				replace(t, m, warcName, files[warcName][:last.Where.Offset+k])
			})
		}
		name := "crawl/" + tails[0].File
		for k := int64(0); k < 64; k += int64(max(1, step/8)) {
			try(fmt.Sprintf("entry torn at %d", k), func(m *vfs.Mem) {
				replace(t, m, name, files[name][:max(tails[0].Offset-64+k, 0)])
			})
		}
	})
}

// indexed is up to where the entries of payloads in a directory are in a run of their index, as its footer says.
func indexed(files map[string]string, dir string) (to int) {
	for name, data := range files {
		if path.Dir(name) == dir && strings.HasPrefix(path.Base(name), "run-") {
			footer := []byte(data[len(data)-64:])
			to = max(to, int(binary.LittleEndian.Uint64(footer[40:])))
		}
	}
	return to
}

// One wrong bit in what a crawl reads when it goes on: it is refused, and the message names the file. The archive, the
// store of the sieve and entries of payloads that an index run has are not read then. fsck finds what is wrong there,
// and so does the first reader.
func TestHostile_S08_oneWrongBitInWhatIsReadAtTheStartIsRefusedByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disks := []*vfs.Mem{
			halfWayWithLinks(t, *testbed.FirstSeed+1010), halfWayWithQueues(t),
		}
		met := map[string]int{}
		for _, d := range disks {
			files := testbed.FileContents(t, d)
			for name, data := range files {
				base := path.Base(name)
				kind, _, _ := strings.Cut(base, "-")
				switch kind {
				case "MANIFEST", "bench", "aloft", "entries", "idx", "pending":
				default:
					continue
				}
				for _, at := range anywhere(data) {
					clone := d.KillClone()
					testbed.FlipByte(t, clone, name, at)
					rig := testbed.MustRig(t, testbed.SmallWorld(1, simweb.Plain()), true)
					cfg := rig.Config()
					cfg.Seeds = nil
					e, err := engine.Open(cfg, rig.Seams(clone))
					if cerr := rig.Net.Close(); cerr != nil {
						t.Error(cerr)
					}
					met[kind]++
					if err == nil {
						_ = e.Close()
						again := d.KillClone()
						testbed.FlipByte(t, again, name, at)
						if f := testbed.Fsck(t, again); kind != "entries" || at >= indexed(files, path.Dir(name)) || f.Sound() {
							t.Errorf("byte %d of %s is wrong, and the crawl is opened", at, name)
						}
					} else if !strings.Contains(err.Error(), base) && (kind != "idx" || !strings.Contains(err.Error(), "index")) {
						t.Errorf("byte %d of %s is wrong, and the message does not name it: %v", at, name, err)
					}
				}
			}
		}
		for _, kind := range []string{"MANIFEST", "bench", "aloft", "entries", "idx", "pending"} {
			if met[kind] == 0 {
				t.Errorf("no crawl has a file %s: the test tests less than it should", kind)
			}
		}
	})
}
