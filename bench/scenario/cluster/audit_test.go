//go:build scenario

package cluster

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine"
	"orbweaver/engine/check/audit"
	"orbweaver/engine/cluster/recovery"
	"orbweaver/engine/state/layout"
	"orbweaver/engine/state/lifecycle"
	"orbweaver/internal/simweb"
	"orbweaver/internal/simweb/judge"
	"orbweaver/internal/trial/captures"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// gathered is one disk with what an audit reads of each agent, in directories of their names.
func (b *testCluster) gathered() *vfs.Mem {
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
		lists, err := disk.List("crawl/" + recovery.MarksDir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			b.t.Fatal(err)
		}
		for _, file := range lists {
			files = append(files, recovery.MarksDir+"/"+file)
		}
		for _, dir := range []string{layout.FrontierDir, layout.ArchiveDir, recovery.MarksDir} {
			if err := all.MkdirAll(name + "/" + dir); err != nil {
				b.t.Fatal(err)
			}
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
				entry, err := cdxj.ParseLine(line)
				if err != nil {
					t.Fatal(err)
				}
				if url := string(entry.URL); entry.Status < 400 && !strings.HasSuffix(url, "/robots.txt") {
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

// sortedMarks are the marks with their lines in order.
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

// An agent fails, others fetch its pages again, and it returns with its archive. At the end the agents have marked all
// captures but one of each page, and an audit finds nothing. Without their marks the audit finds each of them, and
// marks the same. Then it finds nothing, in any order of the agents, and changes nothing.
func TestAudit_oneCaptureOfAPageCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+790, simweb.Plain()), 3)
		running := b.startAll(b.names)
		time.Sleep(30 * time.Second)
		had := b.loseAgent(running["agent-1"])
		time.Sleep(40 * time.Second)
		b.start(t.Context(), "agent-1")
		b.wait()
		v := b.judge()
		all := b.gathered()
		own := marksOf(t, all, b.names)
		reported := int64(0)
		for _, name := range b.names {
			reported += b.final(name).Cluster.CapturesSuperseded
		}
		if r := audited(t, all, b.names, false); !r.Sound() || r.Superseded == 0 || reported != r.Superseded {
			r.Print(t.Output())
			t.Errorf("the agents have not marked all superseded captures; they report %d", reported)
		}
		unmark(t, all, b.names)
		surplus := 0
		for _, n := range unmarked(t, all, b.names) {
			surplus += n - 1
		}
		r := audited(t, all, b.names, false)
		t.Logf("agent-1 had %d pages when it failed; %d captures too many, %d of %d pages at two agents, %d misplaced",
			had, surplus, r.Shared, r.Pages, r.Misplaced)
		if r.Sound() || int(r.Misplaced) != surplus || r.Superseded != r.Misplaced || r.SupersededBytes == 0 ||
			int(r.Pages) < v.Fetched || len(r.Absent) > 0 {
			r.Print(t.Output())
			t.Errorf("%d captures too many, %d pages by the judge", surplus, v.Fetched)
		}
		if len(marksOf(t, all, b.names)) > 0 {
			t.Error("an audit without --mark has marked captures")
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
		second := audited(t, all, b.names, true)
		if !second.Sound() || second.Marked+second.Unmarked > 0 || second.Superseded != r.Superseded {
			second.Print(t.Output())
			t.Error("the second audit has another result")
		}
		if !maps.Equal(before, marksOf(t, all, b.names)) {
			t.Error("the second audit has changed marks")
		}
		b.spoilMarks(all, before)
	})
}

// spoilMarks makes each kind of wrong mark, and wants the audit to find and correct it.
func (b *testCluster) spoilMarks(all *vfs.Mem, want map[string]string) {
	b.t.Helper()
	f := func(what string, misplaced, stale int64, spoil func(name, text string) string) {
		b.t.Helper()
		name := slices.Sorted(maps.Keys(want))[0]
		text := spoil(name, want[name])
		err := vfs.WriteAtomic(all, name, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			return err
		})
		if err != nil {
			b.t.Fatal(err)
		}
		if r := audited(b.t, all, b.names, false); r.Misplaced != misplaced || r.Stale != stale {
			b.t.Errorf("%s: %d misplaced, %d stale, want %d and %d", what, r.Misplaced, r.Stale, misplaced, stale)
		}
		if r := audited(b.t, all, b.names, true); !r.Sound() || !maps.Equal(want, marksOf(b.t, all, b.names)) {
			b.t.Errorf("%s: it was not corrected", what)
		}
	}
	line := func(text string) string { return text[:strings.IndexByte(text, '\n')+1] }
	f("a lost line", 1, 0, func(_, text string) string { return strings.TrimPrefix(text, line(text)) })
	f("a repeated line", 0, 1, func(_, text string) string { return line(text) + text })
	f("half a line", 0, 1, func(_, text string) string { return text + line(text)[:40] })
	f("a line of another file", 1, 1, func(_, text string) string {
		return strings.Replace(text, "-00000-", "-00077-", 1)
	})
	f("a mark of a capture that counts", 0, 1, func(name, text string) string {
		dir := strings.Split(name, "/")[0] + "/warc"
		index, err := warc.Files(all, dir)
		if err != nil {
			b.t.Fatal(err)
		}
		data, err := vfs.ReadFile(all, dir+"/"+index[0].Index())
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
	// Without the agent whose captures count, the captures that they superseded count again.
	absent := strings.TrimSuffix(path.Base(slices.Sorted(maps.Keys(want))[0]), ".cdxj")
	others := slices.DeleteFunc(slices.Clone(b.names), func(name string) bool { return name == absent })
	r := audited(b.t, all, others, false)
	if r.Sound() || r.Stale == 0 || !slices.Equal(r.Absent, []string{absent}) {
		r.Print(b.t.Output())
		b.t.Errorf("the audit does not report that %s is absent", absent)
	}
}

// An agent that joins late does not fetch stored pages of its hosts again, so there is nothing to mark.
func TestAudit_aLateAgentFetchesNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+791, simweb.Plain()), 3)
		b.least = 2
		for _, name := range b.names {
			b.start(t.Context(), name)
			time.Sleep(15 * time.Second)
		}
		b.wait()
		r := audited(t, b.gathered(), b.names, false)
		if r.Misplaced > int64(b.config("").Workers.Fetchers) || r.Pages == 0 { // at most what was in flight when it joined
			r.Print(t.Output())
			t.Error("there are captures to mark")
		}
	})
}

// A directory that is not that of an agent, that is given twice, or that is in use, is refused.
func TestAudit_wrongDirectoriesAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+792, simweb.Plain()), 2)
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
		single := testbed.StopHalfWay(t, testbed.SmallWorld(*testbed.FirstSeed+793, simweb.Plain()), 20*time.Second,
			func(*engine.Config) {})
		_, err := audit.Run(t.Context(), single, []string{"crawl"}, audit.Options{})
		if !errors.Is(err, audit.ErrNoAgent) {
			t.Errorf("a single-agent crawl: %v", err)
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

// In a web with faults the owner of a page may have only a failed attempt. Then the capture of another agent counts.
func TestAudit_aFailedAttemptSupersedesNothing(t *testing.T) {
	superseded := int64(0)
	for i := range seedCount() {
		synctest.Test(t, func(t *testing.T) {
			b := newTestCluster(t, testbed.SmallWorld(*testbed.FirstSeed+794+uint64(i), simweb.Faulty()), 3)
			running := b.startAll(b.names)
			ownerFails := i%2 == 1 // a temporary owner fails as well, before a checkpoint knows that it is one
			if ownerFails {
				time.Sleep(23500 * time.Millisecond)
			} else {
				time.Sleep(time.Duration(20+7*i) * time.Second)
			}
			b.loseAgent(running["agent-1"])
			if ownerFails {
				time.Sleep(27 * time.Second)
				running["agent-0"].kill(testbed.Sigkill)
				running["agent-0"] = b.start(t.Context(), "agent-0")
			}
			time.Sleep(30 * time.Second)
			if running["agent-2"].report().State != lifecycle.Running {
				t.Log("agent-1 returns after the end of the crawl, when no agent is left to ask")
				return
			}
			b.start(t.Context(), "agent-1")
			b.wait()
			all := b.gathered()
			r := audited(t, all, b.names, false)
			t.Logf("%d of %d pages at several agents, %d captures superseded, %d of them not marked by the agents",
				r.Shared, r.Pages, r.Superseded, r.Misplaced)
			superseded += r.Superseded
			if !r.Sound() {
				r.Print(t.Output())
				t.Error("captures of pages that were fetched twice are not marked")
			}
			whole := map[string]bool{} // by URL: it counts
			for _, name := range b.names {
				var marked strings.Builder
				for _, text := range marksOf(t, all, []string{name}) {
					marked.WriteString(text)
				}
				err := captures.EachAt(all, name+"/warc", func(at warc.Checkpoint, _ *warc.RecordRead, c judge.Capture) {
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
					t.Errorf("%s: no whole capture counts", url)
				}
			}
		})
	}
	if superseded == 0 {
		t.Error("no page was fetched twice: the test checks nothing")
	}
}
