package rebuild

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"orbweaver/engine/state/layout"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
)

// oldFrontier is a frontier, by file; in an order of names in which the seeds are neither first nor last.
var oldFrontier = map[string]string{
	"MANIFEST": "generation 7", "queues/1": "URLs", "queues/2": "more URLs", "seeds": "http://a.test/\n",
	"seeds-added": "http://b.test/\n", "sieve/table": "fingerprints",
}

// writeFiles writes files in a directory, and makes all of it durable.
func writeFiles(t *testing.T, fsys vfs.FS, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		name = dir + "/" + name
		if err := fsys.MkdirAll(name[:strings.LastIndexByte(name, '/')]); err != nil {
			t.Fatal(err)
		}
		err := vfs.WriteAtomic(fsys, name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readTree reads all files below a directory, by their name below it.
func readTree(t *testing.T, fsys vfs.FS, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	names, err := fsys.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if _, err := fsys.List(dir + "/" + name); err == nil {
			for below, text := range readTree(t, fsys, dir+"/"+name) {
				files[name+"/"+below] = text
			}
			continue
		}
		b, err := vfs.ReadFile(fsys, dir+"/"+name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(b)
	}
	return files
}

// A rebuild is killed at each call that it makes of the disk while it moves the old frontier aside, once by a SIGKILL
// and once by a power cut. The next rebuild has the whole old frontier in one directory, and its seeds.
func TestBegin_killedAtAnyMoment(t *testing.T) {
	killed := errors.New("killed")
	for _, powerCut := range []bool{false, true} {
		for call := 1; ; call++ {
			name := fmt.Sprintf("call %d, power cut %v", call, powerCut)
			disk := vfs.NewMem(uint64(call))
			front := "crawl/" + layout.FrontierDir
			writeFiles(t, disk, front, oldFrontier)
			writeFiles(t, disk, front, map[string]string{"lock": ""})
			_, first := Begin(faultfs.New(disk, faultfs.NewScript(faultfs.Rule{From: call, Err: killed})), "crawl")
			if powerCut {
				disk = disk.CrashClone(nil)
			}
			aside, err := Begin(disk, "crawl")
			if err != nil {
				t.Fatalf("%s: the next rebuild: %v", name, err)
			}
			if aside == "" {
				t.Fatalf("%s: the next rebuild knows nothing of an old frontier", name)
			}
			if got := readTree(t, disk, "crawl/"+aside); !maps.Equal(got, oldFrontier) {
				t.Errorf("%s: %s has %q", name, aside, slices.Sorted(maps.Keys(got)))
			}
			left := slices.Sorted(maps.Keys(readTree(t, disk, front)))
			left = slices.DeleteFunc(left, func(name string) bool { return name == markFile+vfs.TemporarySuffix })
			if !slices.Equal(left, []string{markFile, "lock"}) || !errors.Is(MayBegin(disk, "crawl"), ErrUnfinished) {
				t.Errorf("%s: the new frontier has %q", name, left)
			}
			out := Result{Aside: aside}
			parts := Parts{FS: disk, Dir: "crawl", Log: slog.New(slog.DiscardHandler)}
			if err := KeepSeeds(&parts, nil, "host", &out); err != nil || out.Seeds != 2 {
				t.Errorf("%s: %d seeds, %v", name, out.Seeds, err)
			}
			if first == nil {
				break
			}
		}
	}
}

// What a rebuild made that was killed is removed by the next one, and End leaves only the new frontier.
func TestBegin_removesWhatAnUnfinishedRebuildMade(t *testing.T) {
	disk, front := vfs.NewMem(1), "crawl/"+layout.FrontierDir
	writeFiles(t, disk, front, map[string]string{"lock": ""})
	if aside, err := Begin(disk, "crawl"); err != nil || aside != "" {
		t.Fatalf("an empty frontier: %q, %v", aside, err)
	}
	writeFiles(t, disk, front, map[string]string{"sieve/half": "", listsDir + "/first/log": ""})
	if aside, err := Begin(disk, "crawl"); err != nil || aside != "" {
		t.Fatalf("again: %q, %v", aside, err)
	}
	if left := readTree(t, disk, front); len(left) != 2 {
		t.Errorf("left: %q", left)
	}
	writeFiles(t, disk, front, map[string]string{"MANIFEST": "", listsDir + "/first/log": ""})
	if err := End(disk, front); err != nil {
		t.Fatal(err)
	}
	if left := readTree(t, disk, front); len(left) != 2 || IsUnfinished(disk, front) {
		t.Errorf("after the end: %q", left)
	}
}
