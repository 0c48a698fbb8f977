//go:build scenario

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/captures"
	"orbweaver/bench/scenario/testbed"
	"orbweaver/bench/simweb"
	"orbweaver/bench/simweb/judge"
	"orbweaver/engine"
	"orbweaver/engine/audit"
	"orbweaver/engine/cluster/marks"
	"orbweaver/engine/layout"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// gathered is one disk with what an audit reads of each agent of a band, in directories of their names.
func (b *band) gathered() *vfs.Mem {
	b.t.Helper()
	all := vfs.NewMem(1)
	for _, name := range b.names {
		disk := b.disks[name]
		files := []string{layout.ManifestFile, layout.LockFile}
		archive, err := disk.List("crawl/" + layout.ArchiveDir)
		if err != nil {
			b.t.Fatal(err)
		}
		for _, file := range archive {
			files = append(files, layout.ArchiveDir+"/"+file)
		}
		lists, err := disk.List("crawl/" + marks.Dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Fatal(err)
		}
		for _, file := range lists {
			files = append(files, marks.Dir+"/"+file)
		}
		if err := errors.Join(all.MkdirAll(name+"/"+layout.FrontierDir), all.MkdirAll(name+"/"+layout.ArchiveDir), all.MkdirAll(name+"/"+marks.Dir)); err != nil {
			b.t.Fatal(err)
		}
		for _, file := range files {
			data, err := vfs.ReadFile(disk, "crawl/"+file)
			if err == nil {
				err = vfs.WriteAtomic(all, name+"/"+file, func(w io.Writer) error { _, err := w.Write(data); return err })
			}
			if err != nil {
				b.t.Fatal(err)
			}
		}
	}
	return all
}

func audited(t *testing.T, fsys vfs.FS, dirs []string, mark bool) *audit.Report {
	t.Helper()
	r, err := audit.Run(t.Context(), fsys, dirs, audit.Options{Mark: mark, MemoryBytes: 1 << 16})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// marksOf reads all marks of some directories.
func marksOf(t *testing.T, fsys *vfs.Mem, dirs []string) map[string]string {
	t.Helper()
	marks := map[string]string{}
	for _, dir := range dirs {
		names, err := fsys.List(dir + "/" + audit.MarksDir)
		if err != nil {
			continue
		}
		for _, name := range names {
			name = dir + "/" + audit.MarksDir + "/" + name
			data, err := vfs.ReadFile(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			marks[name] = string(data)
		}
	}
	return marks
}

// unmarked counts, for each URL with an answer, the agents with a copy of it whose line in the index is no mark.
func unmarked(t *testing.T, fsys *vfs.Mem, dirs []string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	for _, dir := range dirs {
		var marked []byte
		for _, text := range marksOf(t, fsys, []string{dir}) {
			marked = append(marked, text...)
		}
		here := map[string]bool{}
		files, err := warc.Files(fsys, dir+"/warc")
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range files {
			data, err := vfs.ReadFile(fsys, dir+"/warc/"+info.Index())
			if err != nil {
				t.Fatal(err)
			}
			for line := range bytes.Lines(data) {
				said, err := cdxj.ParseLine(line)
				if err != nil {
					t.Fatal(err)
				}
				if url := string(said.URL); said.Status < 400 && !strings.HasSuffix(url, "/robots.txt") {
					here[url] = here[url] || !bytes.Contains(marked, line)
				}
			}
		}
		for url, counted := range here {
			if counted {
				counts[url]++
			} else {
				counts[url] += 0
			}
		}
	}
	return counts
}

// sortedMarks is what marks say, in whatever order.
func sortedMarks(marks map[string]string) map[string]string {
	sorted := map[string]string{}
	for name, text := range marks {
		lines := slices.Sorted(strings.Lines(text))
		sorted[name] = strings.Join(lines, "")
	}
	return sorted
}

// unmark removes all marks.
func unmark(t *testing.T, fsys *vfs.Mem, dirs []string) {
	t.Helper()
	for name := range marksOf(t, fsys, dirs) {
		if err := fsys.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
}

// An agent dies, others fetch again what only it had, and it comes back with all that: at the end the agents have
// marked all copies but one of each page that is there twice, and an audit has nothing to say. Without their marks it
// finds each of them, and marks the same. Then it finds nothing, whoever is asked first, and changes nothing.
func TestAudit_whatTwoAgentsHaveCountsAtOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+790, simweb.Plain()), 3)
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		had := b.bury(running["agent-1"])
		time.Sleep(40 * time.Second)
		b.start(t.Context(), "agent-1")
		b.wait()
		v := b.judge()
		all := b.gathered()
		own := marksOf(t, all, b.names)
		told := int64(0)
		for _, name := range b.names {
			told += b.reports[name].Peers.Superseded
		}
		if r := audited(t, all, b.names, false); !r.Sound() || r.Superseded == 0 || told != r.Superseded {
			r.Print(t.Output())
			t.Errorf("the agents have not marked what they could; they say that they have marked %d", told)
		}
		unmark(t, all, b.names)
		twice := 0
		for _, n := range unmarked(t, all, b.names) {
			twice += n - 1
		}
		r := audited(t, all, b.names, false)
		t.Logf("agent-1 had %d pages when it died; %d captures too many, %d of %d pages at two agents, %d misplaced", had, twice, r.Shared, r.Pages, r.Misplaced)
		if r.Sound() || int(r.Misplaced) != twice || r.Superseded != r.Misplaced || r.SupersededBytes == 0 || int(r.Pages) < v.Fetched || len(r.Absent) > 0 {
			r.Print(t.Output())
			t.Errorf("%d captures too many, %d pages by the oracle", twice, v.Fetched)
		}
		if len(marksOf(t, all, b.names)) > 0 {
			t.Error("an audit that was not to mark has marked")
		}

		reversed := slices.Clone(b.names)
		slices.Reverse(reversed)
		marked := audited(t, all, reversed, true)
		if !marked.Sound() || marked.Marked != r.Misplaced {
			marked.Print(t.Output())
			t.Error("not all are marked")
		}
		for url, n := range unmarked(t, all, b.names) {
			if n != 1 {
				t.Errorf("%s counts at %d agents", url, n)
			}
		}
		before := marksOf(t, all, b.names)
		if !maps.Equal(sortedMarks(before), sortedMarks(own)) {
			t.Error("the audit marks others than the agents did")
		}
		if again := audited(t, all, b.names, true); !again.Sound() || again.Marked+again.Unmarked > 0 || again.Superseded != r.Superseded {
			again.Print(t.Output())
			t.Error("not the same the second time")
		}
		if !maps.Equal(before, marksOf(t, all, b.names)) {
			t.Error("the marks are others")
		}
		b.spoilMarks(all, before)
	})
}

// spoilMarks wants every kind of wrong mark to be found and put right.
func (b *band) spoilMarks(all *vfs.Mem, want map[string]string) {
	b.t.Helper()
	f := func(what string, misplaced, stale int64, spoil func(name, text string) string) {
		b.t.Helper()
		name := slices.Sorted(maps.Keys(want))[0]
		text := spoil(name, want[name])
		err := vfs.WriteAtomic(all, name, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err != nil {
			b.t.Fatal(err)
		}
		if r := audited(b.t, all, b.names, false); r.Misplaced != misplaced || r.Stale != stale {
			b.t.Errorf("%s: %d misplaced, %d stale, want %d and %d", what, r.Misplaced, r.Stale, misplaced, stale)
		}
		if r := audited(b.t, all, b.names, true); !r.Sound() || !maps.Equal(want, marksOf(b.t, all, b.names)) {
			b.t.Errorf("%s: it was not put right", what)
		}
	}
	line := func(text string) string { return text[:strings.IndexByte(text, '\n')+1] }
	f("a line is lost", 1, 0, func(_, text string) string { return strings.TrimPrefix(text, line(text)) })
	f("a line is there twice", 0, 1, func(_, text string) string { return line(text) + text })
	f("half a line", 0, 1, func(_, text string) string { return text + line(text)[:40] })
	f("a line of another file", 1, 1, func(_, text string) string { return strings.Replace(text, "-00000-", "-00077-", 1) })
	f("a mark of what counts here", 0, 1, func(name, text string) string {
		index, err := warc.Files(all, strings.Split(name, "/")[0]+"/warc")
		if err != nil {
			b.t.Fatal(err)
		}
		data, err := vfs.ReadFile(all, strings.Split(name, "/")[0]+"/warc/"+index[0].Index())
		if err != nil {
			b.t.Fatal(err)
		}
		for l := range strings.Lines(string(data)) {
			if !strings.Contains(text, l) {
				return text + l
			}
		}
		return text
	})
	// Without the agent whose copies count, what it superseded counts again.
	gone := strings.TrimSuffix(slices.Sorted(maps.Keys(want))[0][strings.LastIndexByte(slices.Sorted(maps.Keys(want))[0], '/')+1:], ".cdxj")
	left := slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return name == gone })
	r := audited(b.t, all, left, false)
	if r.Sound() || r.Stale == 0 || !slices.Equal(r.Absent, []string{gone}) {
		r.Print(b.t.Output())
		b.t.Errorf("nobody misses %s", gone)
	}
}

// An agent that comes late leaves the pages of its hosts where they are: nothing is there twice, and nothing is to be
// marked.
func TestAudit_whoComesLateLeavesNothingToMark(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+791, simweb.Plain()), 3)
		b.least = 2
		for _, name := range b.names {
			b.start(t.Context(), name)
			time.Sleep(15 * time.Second)
		}
		b.wait()
		r := audited(t, b.gathered(), b.names, false)
		if r.Misplaced > int64(b.config("").Workers.Fetchers) || r.Pages == 0 { // at most what was in flight when it came
			r.Print(t.Output())
			t.Error("there is something to mark")
		}
	})
}

// What is no directory of an agent, or twice the same, or in use, is refused.
func TestAudit_whatCannotBeAuditedIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+792, simweb.Plain()), 2)
		for _, name := range b.names {
			b.start(t.Context(), name)
		}
		b.wait()
		all := b.gathered()
		f := func(want error, dirs ...string) {
			t.Helper()
			if _, err := audit.Run(t.Context(), all, dirs, audit.Options{}); !errors.Is(err, want) {
				t.Errorf("%v: %v, want %v", dirs, err, want)
			}
		}
		f(audit.ErrNoAgent, "agent-0", "nowhere")
		f(audit.ErrTwice, "agent-0", "./agent-0/")
		alone := testbed.StopHalfWay(t, testbed.SmallWorld(*testbed.FirstSeed+793, simweb.Plain()), 20*time.Second, func(*engine.Config) {})
		if _, err := audit.Run(t.Context(), alone, []string{"crawl"}, audit.Options{}); !errors.Is(err, audit.ErrNoAgent) {
			t.Errorf("a crawl alone: %v", err)
		}
		lock, err := all.Lock("agent-1/" + layout.LockFile)
		if err != nil {
			t.Fatal(err)
		}
		f(layout.ErrInUse, "agent-0", "agent-1")
		if err := lock.Close(); err != nil {
			t.Fatal(err)
		}
		f(nil, "agent-0", "agent-1")
	})
}

// In a web with faults an agent may have no more of a page than a try that failed: then the copy of another counts,
// whoever is responsible.
func TestAudit_aTryThatFailedSupersedesNothing(t *testing.T) {
	superseded := int64(0)
	for i := range bands() {
		synctest.Test(t, func(t *testing.T) {
			b := newBand(t, testbed.SmallWorld(*testbed.FirstSeed+794+uint64(i), simweb.Faulty()), 3)
			running := b.startAll(b.names)
			again := i%2 == 1 // who has its hosts on loan dies as well, before a checkpoint knows of the loan
			if again {
				time.Sleep(23500 * time.Millisecond)
			} else {
				time.Sleep(time.Duration(20+7*i) * time.Second)
			}
			b.bury(running["agent-1"])
			if again {
				time.Sleep(27 * time.Second)
				running["agent-0"].kill(testbed.Sigkill)
				running["agent-0"] = b.start(t.Context(), "agent-0")
			}
			time.Sleep(30 * time.Second)
			b.start(t.Context(), "agent-1")
			b.wait()
			all := b.gathered()
			r := audited(t, all, b.names, false)
			t.Logf("%d of %d pages at several agents, %d captures superseded, %d of them not marked by the agents", r.Shared, r.Pages, r.Superseded, r.Misplaced)
			superseded += r.Superseded
			if !r.Sound() {
				r.Print(t.Output())
				t.Error("what was fetched twice is not marked")
			}
			whole := map[string]bool{} // by URL: it counts
			for _, name := range b.names {
				var marked strings.Builder
				for _, text := range marksOf(t, all, []string{name}) {
					marked.WriteString(text)
				}
				err := captures.EachAt(all, name+"/warc", func(at warc.Cut, _ *warc.RecordRead, c judge.Capture) {
					if c.Truncated || c.Status != 200 {
						return
					}
					info, err := warc.FindFile(all, name+"/warc", at.Serial)
					if err != nil {
						t.Fatal(err)
					}
					place := fmt.Sprintf(`"offset":"%d","filename":"%s"`, at.Length, info.Final())
					whole[c.URL] = whole[c.URL] || !strings.Contains(marked.String(), place)
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			for url, counts := range whole {
				if !counts {
					t.Errorf("%s: nobody's whole copy counts", url)
				}
			}
		})
	}
	if superseded == 0 {
		t.Error("nothing was fetched twice: this shows nothing")
	}
}
