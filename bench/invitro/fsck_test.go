package invitro

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"path"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/simweb"
	"orbweaver/engine"
	"orbweaver/engine/fsck"
	"orbweaver/internal/vfs"
)

// examine checks the crawl on a disk, and that the check has changed nothing on it.
func examine(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	before := content(t, fsys)
	r := look(t, fsys)
	after := content(t, fsys)
	if len(before) != len(after) {
		t.Errorf("%d files before the check, %d after it", len(before), len(after))
	}
	for name, data := range before {
		if after[name] != data {
			t.Errorf("the check changed %s", name)
		}
	}
	return r
}

// look checks the crawl on a disk.
func look(t *testing.T, fsys *vfs.Mem) fsck.Report {
	t.Helper()
	r, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// contentMax is how much of a file content reads: segments of queues are large, and empty behind their beginning.
const contentMax = 1 << 20

// content reads all files of the crawl.
func content(t *testing.T, fsys *vfs.Mem) map[string]string {
	t.Helper()
	files := map[string]string{}
	var visit func(dir string)
	visit = func(dir string) {
		names, err := fsys.List(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			name = dir + "/" + name
			if _, err := fsys.List(name); err == nil {
				visit(name)
				continue
			}
			f, err := fsys.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(io.LimitReader(f, contentMax))
			if err := errors.Join(err, f.Close()); err != nil {
				t.Fatal(err)
			}
			files[name] = string(data)
		}
	}
	visit("crawl")
	return files
}

func wantSound(t *testing.T, r *fsck.Report) {
	t.Helper()
	if !r.Sound() {
		r.Print(t.Output())
		t.Fatal("not sound")
	}
}

// largeSites is a web whose sites have more pages than the bench takes of one, so that some wait on disk.
func largeSites(seed uint64) simweb.Config {
	c := smallWorld(seed, simweb.Faulty())
	c.PagesPerHostMean, c.PagesPerHostMax, c.PageBytesMean = 150, 400, 500
	return c
}

func fsckConfig(rig *Rig) engine.Config {
	c := rig.Config()
	c.WARC.SizeMax = 1 << 18
	c.SieveMemory = 1 << 16
	return c
}

// manySites is a web in which, to a crawl with one fetcher and short delays, more is due than can be asked: URLs wait in
// the ready queue and in the sieve's buckets.
func manySites(seed uint64) simweb.Config {
	c := smallWorld(seed, simweb.Plain())
	c.Hosts, c.IPs, c.PagesPerHostMean, c.PagesPerHostMax = 300, 250, 40, 100
	return c
}

func oneFetcher(c *engine.Config) {
	c.Fetchers = 1
	c.Politeness.HostDelay, c.Politeness.IPDelay = 10*time.Millisecond, time.Millisecond
}

// halfWay crawls for a while and stops in order.
func halfWay(t *testing.T, world simweb.Config, after time.Duration, change func(*engine.Config)) *vfs.Mem {
	t.Helper()
	rig, err := NewRig(world, true)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), after)
	defer cancel()
	cfg := fsckConfig(rig)
	change(&cfg)
	r, err := rig.Crawl(ctx, cfg, rig.FS)
	if err != nil {
		t.Fatal(err)
	}
	if err := rig.Net.Close(); err != nil {
		t.Error(err)
	}
	if r.State != engine.StateStopped || r.PagesStored == 0 || r.URLsQueued == 0 {
		t.Fatalf("not half way: %s, %d pages, %d queued", r.State, r.PagesStored, r.URLsQueued)
	}
	return rig.FS
}

func TestFsck_anOrderlyStopHalfWayIsSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := examine(t, halfWay(t, largeSites(*firstSeed+500), time.Minute, unchanged))
		wantSound(t, &r)
		if !r.Clean || r.State != "stopped" || r.Notes > 0 {
			r.Print(t.Output())
			t.Error("an orderly stop leaves nothing to tell")
		}
		for _, a := range r.Areas {
			if a.Checked == 0 && a.Name != "journal" && a.Name != "aloft" && a.Name != "ready" {
				t.Errorf("%s: nothing was examined", a.Name)
			}
		}
	})
}

func TestFsck_aCompleteCrawlIsSound(t *testing.T) {
	for i := range *seedCount {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(smallWorld(*firstSeed+520+uint64(i), simweb.Faulty()), true)
				if err != nil {
					t.Fatal(err)
				}
				rep, err := rig.Crawl(t.Context(), fsckConfig(rig), rig.FS)
				if err != nil {
					t.Fatal(err)
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
				r := examine(t, rig.FS)
				wantSound(t, &r)
				if rep.State != engine.StateFinished || r.State != "finished" {
					t.Errorf("the crawl is %s, fsck says %s", rep.State, r.State)
				}
			})
		})
	}
}

// A kill at any moment leaves a directory that is sound, and so does every resumption.
func TestFsck_aKilledCrawlIsSound(t *testing.T) {
	for i := range *seedCount {
		seed := *firstSeed + 540 + uint64(i)
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rig, err := NewRig(largeSites(seed), true)
				if err != nil {
					t.Fatal(err)
				}
				cfg := fsckConfig(rig)
				cfg.Checkpoint = 7 * time.Second
				rng := rand.New(rand.NewPCG(seed, 2))
				disk, journaled := rig.FS, int64(0)
				for range 6 {
					clone, ended := kill(t, rig, cfg, disk, time.Duration(rng.Int64N(int64(30*time.Second))), sigkill)
					disk = clone
					r := examine(t, disk)
					wantSound(t, &r)
					for _, a := range r.Areas {
						if a.Name == "journal" {
							journaled += a.Checked
						}
					}
					if ended {
						break
					}
				}
				if journaled == 0 {
					t.Error("no kill came between a page and its checkpoint")
				}
				if err := rig.Net.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestFsck_aRunningCrawlIsRefusedAndADirectoryWithoutOneToo(t *testing.T) {
	fsys := vfs.NewMem(1)
	if err := fsys.MkdirAll("crawl/frontier"); err != nil {
		t.Fatal(err)
	}
	lock, err := fsys.Lock("crawl/" + engine.LockFile)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fsck.Check(t.Context(), fsys, "crawl", fsck.Options{}); !errors.Is(err, engine.ErrInUse) {
		t.Errorf("in use: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	r := examine(t, fsys)
	wantSound(t, &r) // killed before its first checkpoint: nothing is lost
	if _, err := fsck.Check(t.Context(), fsys, "elsewhere", fsck.Options{}); !errors.Is(err, fsck.ErrNoCrawl) {
		t.Errorf("no crawl: %v", err)
	}
}

// damage is one byte in one kind of file.
type damage struct {
	name  string // of the kind
	match func(file string) bool
	where func(size int) []int // places to try, each of which must be found
}

func under(dir, prefix, suffix string) func(string) bool {
	return func(file string) bool {
		base, ok := strings.CutPrefix(file, "crawl/"+dir)
		return ok && strings.HasPrefix(base, prefix) && strings.HasSuffix(base, suffix)
	}
}

// anywhere gives places all over the file.
func anywhere(size int) []int { return []int{size / 7, size / 2, size - 1 - size/9} }

func damages() []damage {
	return []damage{
		{"manifest", under("frontier/", "MANIFEST", ""), anywhere},
		{"sieve run", under("frontier/sieve/", "run-", ""), anywhere},
		{"sieve bucket", under("frontier/sieve/", "pending-", ""), anywhere},
		{"ready queue", under("frontier/ready/", "q-", ""), anywhere},
		{"index of queues", under("frontier/queues/", "idx-", ""), anywhere},
		{"bench", under("frontier/", "bench-", ""), anywhere},
		{"aloft", under("frontier/", "aloft-", ""), anywhere},
		{"payload map", under("frontier/", "seen", ""), anywhere},
		{"seeds", under("frontier/", "seeds", ""), func(int) []int { return []int{2} }},
		{"report", under("", "report.json", ""), func(int) []int { return []int{0} }},
		{"archive", under("warc/", "", ".warc.gz"), anywhere},
		{"index", under("warc/", "", ".cdxj"), anywhere},
	}
}

func TestFsck_oneWrongByteIsFoundAndItsFileNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tried := map[string]int{}
		for _, fsys := range []*vfs.Mem{
			halfWay(t, largeSites(*firstSeed+500), time.Minute, unchanged), halfWay(t, manySites(*firstSeed+501), 5*time.Second, oneFetcher),
		} {
			files := content(t, fsys)
			for _, d := range damages() {
				for file, data := range files {
					if d.match(file) && len(data) >= 10 && tried[d.name] < 4 {
						tried[d.name]++
						spoil(t, fsys, &d, file, len(data))
					}
				}
			}
			r := examine(t, fsys)
			wantSound(t, &r)
		}
		for _, d := range damages() {
			if tried[d.name] == 0 {
				t.Errorf("%s: no crawl has such a file", d.name)
			}
		}
	})
}

// spoil makes one byte of a file wrong after the other, and right again.
func spoil(t *testing.T, fsys *vfs.Mem, d *damage, file string, size int) {
	t.Helper()
	for _, at := range d.where(size) {
		flip(t, fsys, file, at)
		r := look(t, fsys)
		if !names(&r, file) {
			r.Print(t.Output())
			t.Errorf("%s: byte %d of %d of %s is wrong, and fsck does not say so", d.name, at, size, file)
		}
		flip(t, fsys, file, at)
	}
}

// Segments hold what was taken already and what is not yet written: only a part of their bytes counts. Of those that fsck
// does find wrong it must name the file, and it must find as many as there are URLs waiting.
func TestFsck_oneWrongByteOfAQueueIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := halfWay(t, largeSites(*firstSeed+500), time.Minute, unchanged)
		for file, data := range content(t, fsys) {
			if !under("frontier/queues/", "seg-", "")(file) {
				continue
			}
			end := len(strings.TrimRight(data, "\x00")) // bodies grow from the front, slots from the far end
			found := 0
			for i := range 40 {
				at := 64 + i*(end-64)/40
				flip(t, fsys, file, at)
				r := look(t, fsys)
				flip(t, fsys, file, at)
				if names(&r, file) {
					found++
				} else if !r.Sound() {
					r.Print(t.Output())
					t.Errorf("byte %d of %s is wrong, and fsck names other files only", at, file)
				}
			}
			t.Logf("%s: %d of 40 places between 64 and %d are in use", file, found, end)
			if found == 0 {
				t.Errorf("none of 40 wrong bytes of %s was found", file)
			}
			return
		}
		t.Error("no site has a queue on disk")
	})
}

// What every file says of itself may be true, and the whole still wrong: here the manifest counts what is not so.
func TestFsck_aWrongCountIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fsys := halfWay(t, manySites(*firstSeed+501), 5*time.Second, oneFetcher)
		for _, name := range []string{"Sieved", "Known", "Admitted", "Revisits", "NotStored", "Found"} {
			amend(t, fsys, name, func(n float64) float64 {
				if name == "Found" {
					return 1
				}
				return n + 1
			})
			r := look(t, fsys)
			if !names(&r, "crawl/"+engine.ManifestFile) {
				r.Print(t.Output())
				t.Errorf("%s is wrong, and fsck does not say so", name)
			}
		}
	})
}

// amend changes one counter of the manifest. The one before is put right first.
func amend(t *testing.T, fsys *vfs.Mem, counter string, change func(float64) float64) {
	t.Helper()
	name := "crawl/" + engine.ManifestFile
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
	counters := m["counters"].(map[string]any)
	n, err := counters[counter].(json.Number).Float64()
	if err != nil {
		t.Fatal(err)
	}
	counters[counter] = change(n)
	out, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	sum := crc32.Checksum(out, crc32.MakeTable(crc32.Castagnoli))
	writeFile(t, fsys, name, fmt.Appendf(nil, "orbweaver-manifest 1 %08x\n%s", sum, out))
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
		whole := halfWay(t, manySites(*firstSeed+501), 5*time.Second, oneFetcher)
		files := content(t, whole)
		if len(files) < 12 {
			t.Fatalf("only %d files", len(files))
		}
		for file, data := range files {
			base := path.Base(file)
			if base == "lock" || base == "cache" || base == "report.json" || strings.HasPrefix(file, "crawl/logs/") {
				continue // these may be missing
			}
			if len(data) == contentMax {
				t.Fatalf("%s is too large to be put back", file)
			}
			if err := whole.Remove(file); err != nil {
				t.Fatal(err)
			}
			if r := look(t, whole); r.Sound() {
				t.Errorf("%s is missing, and fsck finds the crawl sound", file)
			}
			writeFile(t, whole, file, []byte(data))
		}
		r := look(t, whole)
		wantSound(t, &r)
	})
}

func flip(t *testing.T, fsys *vfs.Mem, name string, at int) {
	t.Helper()
	f, err := fsys.OpenRW(name)
	if err != nil {
		t.Fatal(err)
	}
	var b [1]byte
	_, err = f.ReadAt(b[:], int64(at))
	if err != nil && err != io.EOF {
		t.Fatal(err)
	}
	b[0] ^= 0x41
	if _, err := f.WriteAt(b[:], int64(at)); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
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
