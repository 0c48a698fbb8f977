//go:build scenario

package storage

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/check/fsck"
	"orbweaver/engine/durable/inspect"
	"orbweaver/engine/durable/rebuild"
	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/virtualize"
	"orbweaver/warc/fixity"
)

// damage is one byte in one kind of file.
type damage struct {
	name  string // of the kind
	match func(file string) bool
	where func(data string) []int // places to try; each must be found
}

// anywhere gives places all over the file.
func anywhere(data string) []int {
	size := len(data)
	return []int{size / 7, size / 2, size - 1 - size/9}
}

// inMembers gives places in the middle of gzip members: a few bytes at either end of one mean nothing.
func inMembers(data string) []int {
	const magic = "\x1f\x8b\x08\x00\x00\x00\x00\x00"
	places := anywhere(data)
	for i, at := range places {
		begin, end := strings.LastIndex(data[:at+1], magic), strings.Index(data[at+1:], magic)
		if end >= 0 {
			end += at + 1
		} else {
			end = len(data)
		}
		places[i] = (max(begin, 0) + end) / 2
	}
	return places
}

func at(places ...int) func(string) []int { return func(string) []int { return places } }

func damages() []damage {
	return []damage{
		{"manifest", under("frontier/", "MANIFEST", ""), anywhere},
		{"sieve run", under("frontier/sieve/", "run-", ""), anywhere},
		{"sieve bucket", under("frontier/sieve/", "pending-", ""), anywhere},
		{"ready queue", under("frontier/ready/", "q-", ""), anywhere},
		{"index of queues", under("frontier/queues/", "idx-", ""), anywhere},
		{"bench", under("frontier/", "bench-", ""), anywhere},
		{"aloft", under("frontier/", "aloft-", ""), anywhere},
		{"payload map", under("frontier/seen/", "", ""), anywhere},
		{"seeds", under("frontier/", "seeds", ""), at(2)},
		{"report", under("", "report.json", ""), at(0)},
		{"archive", under("warc/", "", ".warc.gz"), inMembers},
		{"index", under("warc/", "", ".cdxj"), anywhere},
	}
}

func TestHostile_S08_oneWrongByteIsFoundByFsckAndItsFileNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := map[string]int{}
		for _, fsys := range []*vfs.Mem{
			halfWayWithQueues(t), halfWayWithLinks(t, *testbed.FirstSeed+501),
			halfWayWithReady(t, *testbed.FirstSeed+501),
		} {
			files := testbed.NamedFiles(t, fsys)
			for _, d := range damages() {
				for file, data := range files {
					if d.match(file) && len(data) >= 10 && tried[d.name] < testbed.Reduce(2, 1) {
						tried[d.name]++
						spoil(t, fsys, &d, file, data)
					}
				}
			}
			r := testbed.FsckReadOnly(t, fsys)
			testbed.WantSound(t, &r)
		}
		for _, d := range damages() {
			if tried[d.name] == 0 {
				t.Errorf("%s: no crawl has such a file", d.name)
			}
		}
	})
}

// spoil makes one byte of a file wrong after the other, and right again.
func spoil(t *testing.T, fsys *vfs.Mem, d *damage, file, data string) {
	t.Helper()
	for _, at := range d.where(data) {
		testbed.FlipByte(t, fsys, file, at)
		r := testbed.Fsck(t, fsys)
		if !names(&r, file) {
			r.Print(t.Output())
			t.Errorf("%s: byte %d of %d of %s is wrong, and fsck does not say so", d.name, at, len(data), file)
		}
		testbed.FlipByte(t, fsys, file, at)
	}
}

// An index is torn at any byte of its last line, or one of them is wrong: fsck names it, and it is made again from the
// archive as it was.
func TestHostile_S05_S08_anIndexTornAtAnyByteIsMadeAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAiling(t, stage{world: fewSites(*testbed.FirstSeed + 1025)})
		if err := a.start(); err != nil {
			t.Fatal(err)
		}
		r, err := a.end()
		if err != nil {
			t.Fatal(err)
		}
		a.over(r, 0)
		for name, whole := range testbed.NamedFiles(t, a.FS) {
			if !under("warc/", "", ".cdxj")(name) {
				continue
			}
			last := strings.LastIndexByte(strings.TrimSuffix(whole, "\n"), '\n') + 1
			step := 17
			if *everyCall {
				step = 1
			}
			for at, i := last, 0; at < len(whole); at, i = at+step, i+1 {
				replace(t, a.FS, name, whole[:at])
				if i%3 == 0 {
					replace(t, a.FS, name, whole)
					testbed.FlipByte(t, a.FS, name, at)
				}
				if i%5 == 0 {
					if r := testbed.Fsck(t, a.FS); !names(&r, name) {
						r.Print(t.Output())
						t.Errorf("fsck does not name it: byte %d of %d", at, len(whole))
					}
				}
				made, err := rebuild.WriteIndexes(t.Context(), a.FS, "crawl")
				if err != nil || len(made) != 1 || "crawl/"+made[0] != name {
					t.Fatalf("byte %d: %q, %v", at, made, err)
				}
				if is, err := vfs.ReadFile(a.FS, name); err != nil || string(is) != whole {
					t.Fatalf("byte %d: it is made otherwise, %v", at, err)
				}
			}
			return
		}
		t.Error("there is no index")
	})
}

// Segments hold what was taken already and what is not yet written: only a part of their bytes counts. Of those that
// fsck does find wrong it must name the file, and it must find as many as there are URLs waiting.
func TestHostile_S08_oneWrongByteOfAQueueIsFoundByFsck(t *testing.T) {
	const places, head = 12, 2048
	synctest.Test(t, func(t *testing.T) {
		fsys := halfWayWithQueues(t)
		writeQueuesOut(t, fsys)
		sound := testbed.FsckReadOnly(t, fsys)
		testbed.WantSound(t, &sound)
		for file, data := range testbed.FileContents(t, fsys) {
			if !under("frontier/queues/", "seg-", "")(file) {
				continue
			}
			end := len(strings.TrimRight(data, "\x00")) // bodies grow from the front, slots from the far end
			found := 0
			for i := range places {
				at := head + i*(end-head)/places
				testbed.FlipByte(t, fsys, file, at)
				r := testbed.Fsck(t, fsys)
				testbed.FlipByte(t, fsys, file, at)
				if names(&r, file) {
					found++
				} else if !r.Sound() {
					r.Print(t.Output())
					t.Errorf("byte %d of %s is wrong, and fsck names other files only", at, file)
				}
			}
			t.Logf("%s: %d of %d places between %d and %d are in use", file, found, places, head, end)
			if found == 0 {
				t.Errorf("none of %d wrong bytes of %s was found", places, file)
			}
			return
		}
		t.Error("no site has a queue on disk")
	})
}

// What every file says of itself may be true, and the whole still wrong: here the manifest counts what is not so.
func TestFsck_aWrongCountIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := testbed.StopHalfWay(t, manySites(*testbed.FirstSeed+501), 4*time.Second, oneFetcher)
		for _, name := range []string{"Sieved", "Known", "Admitted", "Revisits", "NotStored", "Found"} {
			amend(t, fsys, name, func(n float64) float64 {
				if name == "Found" {
					return 1
				}
				return n + 1
			})
			r := testbed.Fsck(t, fsys)
			if !names(&r, "crawl/"+layout.ManifestFile) {
				r.Print(t.Output())
				t.Errorf("%s is wrong, and fsck does not say so", name)
			}
		}
	})
}

// amend changes one counter of the manifest. The one before is put right first.
func amend(t *testing.T, fsys *vfs.Mem, counter string, change func(float64) float64) {
	t.Helper()
	amendManifest(t, fsys, func(m map[string]any) {
		counters := m["counters"].(map[string]any)
		n, err := counters[counter].(json.Number).Float64()
		if err != nil {
			t.Fatal(err)
		}
		counters[counter] = change(n)
	})
}

// amendManifest changes the manifest that the crawl wrote, and gives it a checksum that holds.
func amendManifest(t *testing.T, fsys *vfs.Mem, change func(m map[string]any)) {
	t.Helper()
	name := "crawl/" + layout.ManifestFile
	if _, err := fsys.Size(name + ".kept"); err != nil {
		copyFile(t, fsys, name, name+".kept")
	}
	data, err := vfs.ReadFile(fsys, name+".kept")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(data), "\n")
	var m map[string]any
	d := json.NewDecoder(strings.NewReader(body))
	d.UseNumber()
	if err := d.Decode(&m); err != nil {
		t.Fatal(err)
	}
	change(m)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli))
	writeFile(t, fsys, name, fmt.Appendf(nil, "orbweaver-manifest 9 %08x\n%s", sum, out))
}

// writeQueuesOut has the virtualizer write the items into its log that a crawl as small as these leaves in its index.
func writeQueuesOut(t *testing.T, fsys *vfs.Mem) {
	t.Helper()
	found, err := inspect.Open(fsys, "crawl")
	if err != nil {
		t.Fatal(err)
	}
	const buffer, nobody = 8192, 1 << 50
	v, err := virtualize.Open(fsys, virtualize.Options{Dir: "crawl/" + layout.QueuesDir, BufferBytes: buffer},
		&found.Virt)
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if err := v.Append(nobody, make([]byte, buffer/4)); err != nil {
			t.Fatal(err)
		}
	}
	_, dropErr := v.Drop(nobody)
	image, err := v.Snapshot()
	if err = errors.Join(err, dropErr); err != nil {
		t.Fatal(err)
	}
	cut, err := image.Write()
	if err = errors.Join(err, v.Sync(), v.Close()); err != nil {
		t.Fatal(err)
	}
	amendManifest(t, fsys, func(m map[string]any) { m["virtualize"] = cut })
}

func copyFile(t *testing.T, fsys *vfs.Mem, from, to string) {
	t.Helper()
	data, err := vfs.ReadFile(fsys, from)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, fsys, to, data)
}

func writeFile(t *testing.T, fsys *vfs.Mem, name string, data []byte) {
	t.Helper()
	err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestFsck_aMissingFileIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole := testbed.StopHalfWay(t, manySites(*testbed.FirstSeed+501), 4*time.Second, oneFetcher)
		files := testbed.NamedFiles(t, whole)
		if len(files) < 12 {
			t.Fatalf("only %d files", len(files))
		}
		for file, data := range files {
			base := path.Base(file)
			if base == "lock" || base == "owner" || base == "cache" || base == "report.json" ||
				base == fixity.ManifestName || base == fixity.SumsName || // --warc-manifest none
				strings.HasPrefix(file, "crawl/logs/") {
				continue // these may be missing
			}
			if len(data) == testbed.FileContentMax {
				t.Fatalf("%s is too large to be put back", file)
			}
			if err := whole.Remove(file); err != nil {
				t.Fatal(err)
			}
			if r := testbed.Fsck(t, whole); r.Sound() {
				t.Errorf("%s is missing, and fsck finds the crawl sound", file)
			}
			writeFile(t, whole, file, []byte(data))
		}
		r := testbed.Fsck(t, whole)
		testbed.WantSound(t, &r)
	})
}

// names says whether there is an error about a file.
func names(r *fsck.Report, file string) bool {
	for _, f := range r.Findings {
		if f.Severity == fsck.Error && "crawl/"+f.File == file {
			return true
		}
	}
	return false
}
