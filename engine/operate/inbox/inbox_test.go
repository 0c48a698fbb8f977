package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"orbweaver/engine/frontier/admission"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/faultfs"
	"orbweaver/internal/vfs/vfstest"
)

// handWatcher calls changed when the test says so.
type handWatcher struct{ changed chan func() }

func (h *handWatcher) Watch(ctx context.Context, _ string, changed func()) error {
	h.changed <- changed
	<-ctx.Done()
	return nil
}

// rig is an inbox and the crawl that takes its URLs.
type rig struct {
	fs    *vfs.Mem
	mu    sync.Mutex // held while taken is used
	taken []string
	fail  error  // of the next call
	fault error  // of the disk: what is a URL is not kept
	disk  vfs.FS // that the inbox uses, if it is not fs

	before atomic.Pointer[func()] // called before each call of add
}

// add takes URLs. It refuses those that are no http URLs, and knows those that it has taken.
func (r *rig) add(_ context.Context, urls iter.Seq[string]) (added admission.Added, err error) {
	if before := r.before.Load(); before != nil {
		(*before)()
	}
	if r.fail != nil {
		return added, r.fail
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for url := range urls {
		u := admission.AddedURL{URL: url, Result: admission.New}
		switch {
		case !strings.HasPrefix(url, "http"):
			u.Result, u.Reason = admission.Refused, "scheme is not http or https"
			added.Refused++
		case slices.Contains(r.taken, url):
			u.Result = admission.Known
			added.Known++
		case r.fault != nil:
			return added, r.fault
		default:
			r.taken = append(r.taken, url)
			added.New++
		}
		added.URLs = append(added.URLs, u)
	}
	return added, err
}

// count is the number of URLs that were taken.
func (r *rig) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.taken)
}

// urls joins the URLs that were taken.
func (r *rig) urls() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.taken, " ")
}

func (r *rig) put(t *testing.T, name, content string) {
	t.Helper()
	if err := r.fs.MkdirAll("crawl/" + Dir); err != nil {
		t.Fatal(err)
	}
	if err := vfs.WriteAtomic(r.fs, "crawl/"+Dir+"/"+name, func(w io.Writer) error {
		_, err := io.WriteString(w, content)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// list returns the files below the inbox.
func (r *rig) list(t *testing.T) string {
	t.Helper()
	var names []string
	for _, dir := range []string{"", "/done", "/refused"} {
		all, err := r.fs.List("crawl/" + Dir + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range all {
			if dir != "" || name != "done" && name != "refused" {
				names = append(names, strings.TrimPrefix(dir+"/"+name, "/"))
			}
		}
	}
	return strings.Join(names, " ")
}

// run runs the inbox while something happens.
func (r *rig) run(t *testing.T, happen func(changed func(), inbox *Inbox)) {
	t.Helper()
	h := &handWatcher{changed: make(chan func(), 1)}
	if r.disk == nil {
		r.disk = r.fs
	}
	i, err := Open(Options{FS: r.disk, Dir: "crawl", Watcher: h, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- i.Run(ctx, r.add) }()
	happen(<-h.changed, i)
	end()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// A file is read when nothing has changed for a second. It moves to done or refused, with its report.
func TestInbox_aFileIsReadAndMovesWithItsReport(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		r.run(t, func(changed func(), _ *Inbox) {
			r.put(t, "a.txt", "# more\nhttp://a.test/\n\n http://b.test/ \nftp://c.test/\n")
			r.put(t, "bad.txt", "nonsense")
			r.put(t, "slow.part", "http://slow.test/")
			changed()
			time.Sleep(Quiet / 2)
			changed() // still written
			time.Sleep(Quiet * 3 / 4)
			if n := r.count(); n > 0 {
				t.Errorf("%d URLs are read before it is quiet", n)
			}
			time.Sleep(Quiet)
			if got := r.list(t); got != "slow.part done/a.txt done/a.txt.tsv refused/bad.txt refused/bad.txt.tsv" {
				t.Errorf("files: %s", got)
			}
			want := "result\turl\treason\nnew\thttp://a.test/\t\nnew\thttp://b.test/\t\n" +
				"refused\tftp://c.test/\tscheme is not http or https\n"
			if got := string(vfstest.ReadAll(t, r.fs, "crawl/inbox/done/a.txt.tsv")); got != want {
				t.Errorf("report: %s", got)
			}
			r.put(t, "a.txt", "http://a.test/\n")
			changed()
			time.Sleep(2 * Quiet)
			if got := r.list(t); !strings.Contains(got, "done/a.txt.2 done/a.txt.2.tsv") || strings.HasPrefix(got, "a.txt") {
				t.Errorf("a second file of the same name: %s", got)
			}
		})
	})
}

// A file that another program writes when the crawl starts is read when it has not grown for a second, also where no
// watcher sees the changes. Until then it is pending, so the crawl does not end. A file that grows while it is read is
// read again: its last lines are not lost.
func TestInbox_aFileThatIsWrittenAtTheStartIsReadWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		text := "http://a.test/\nhttp://half"
		r.put(t, "a.txt", text)
		r.run(t, func(_ func(), i *Inbox) {
			for _, more := range []string{"-a-line.test/\n", "http://b.test/\n", "http://c.test/\n"} {
				time.Sleep(Quiet - time.Millisecond)
				if r.count() > 0 || !i.IsPending() {
					t.Errorf("before %q: %d are read, pending %v", more, r.count(), i.IsPending())
				}
				text += more
				r.put(t, "a.txt", text)
			}
			grow := func() {
				r.before.Store(nil)
				f, err := r.fs.OpenRW("crawl/inbox/a.txt")
				if err == nil {
					_, err = f.WriteAt([]byte("http://late.test/\n"), int64(len(text)))
				}
				if err != nil {
					t.Error(err)
				}
			}
			r.before.Store(&grow)
			time.Sleep(3 * Quiet)
			want := "http://a.test/ http://half-a-line.test/ http://b.test/ http://c.test/ http://late.test/"
			if got := r.urls(); got != want || i.IsPending() || r.list(t) != "done/a.txt done/a.txt.tsv" {
				t.Errorf("read: %s, pending %v, files: %s", got, i.IsPending(), r.list(t))
			}
		})
	})
}

// A file that lies there at the start is read first. One that a stop has interrupted is read in the next run.
func TestInbox_nothingIsLostByAStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1), fail: cluster.ErrEnding}
		r.put(t, "a.txt", "http://a.test/\n")
		r.run(t, func(_ func(), i *Inbox) {
			if time.Sleep(2 * Quiet); i.IsPending() || !strings.HasPrefix(r.list(t), "a.txt") {
				t.Errorf("after a stop: pending %v, %s", i.IsPending(), r.list(t))
			}
		})
		r.fail = nil
		r.run(t, func(_ func(), _ *Inbox) {
			if time.Sleep(2 * Quiet); r.count() != 1 || !strings.HasPrefix(r.list(t), "done/a.txt ") {
				t.Errorf("in the next run: %q, %s", r.taken, r.list(t))
			}
		})
	})
}

// A kill between two parts of a long file leaves the file in the inbox. The next run adds the rest, and the report has
// a line for each URL.
func TestInbox_nothingIsLostByAKill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const urls = 2*chunk + 10
		var lines strings.Builder
		for n := range urls {
			fmt.Fprintf(&lines, "http://a.test/%d\n", n)
		}
		r := &rig{fs: vfs.NewMem(1)}
		r.put(t, "a.txt", lines.String())
		var killed []*rig // the crawl as a kill leaves it before each part
		clone := func() { killed = append(killed, &rig{fs: r.fs.KillClone(), taken: slices.Clone(r.taken)}) }
		r.before.Store(&clone)
		r.run(t, func(func(), *Inbox) { time.Sleep(2 * Quiet) })
		killed = append(killed, &rig{fs: r.fs.KillClone(), taken: slices.Clone(r.taken)})
		if len(killed) != 4 {
			t.Fatalf("%d parts", len(killed)-1)
		}
		for n, again := range killed {
			again.run(t, func(_ func(), i *Inbox) {
				if time.Sleep(2 * Quiet); i.IsPending() {
					t.Error("files are pending after they were read")
				}
			})
			report := string(vfstest.ReadAll(t, again.fs, "crawl/inbox/done/a.txt.tsv"))
			if len(again.taken) != urls || again.list(t) != "done/a.txt done/a.txt.tsv" ||
				strings.Count(report, "\n") != urls+1 {
				t.Errorf("killed before part %d: %d URLs, %s, %d lines", n, len(again.taken), again.list(t),
					strings.Count(report, "\n"))
			}
		}
	})
}

// A disk that cannot keep a URL is not hidden by a line that is no URL: the file stays with all that it holds. It is
// read again when the fault has passed, and until then the crawl does not end.
func TestInbox_aFaultOfTheDiskIsNotHiddenByARefusedLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		r.put(t, "a.txt", "ftp://a.test/\nhttp://b.test/\nhttp://c.test/\n")
		r.fault = errors.New("no space left on device")
		r.run(t, func(_ func(), i *Inbox) {
			if time.Sleep(2 * Quiet); !i.IsPending() || r.list(t) != "a.txt" {
				t.Errorf("with the fault: pending %v, files: %s", i.IsPending(), r.list(t))
			}
			r.mu.Lock()
			r.fault = nil
			r.mu.Unlock()
			time.Sleep(Again + Quiet)
			if got := r.urls(); got != "http://b.test/ http://c.test/" || r.list(t) != "done/a.txt done/a.txt.tsv" ||
				i.IsPending() {
				t.Errorf("after it: %s, files: %s", got, r.list(t))
			}
		})
	})
}

// A file whose bytes cannot be read to the end stays: the URLs behind the fault are not lost.
func TestInbox_aFileThatTheDiskDoesNotGiveStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		r.put(t, "a.txt", "http://a.test/\n"+strings.Repeat("# nothing\n", admission.SeedLineMax/5)+"http://b.test/\n")
		r.disk = faultfs.New(r.fs, faultfs.NewScript(faultfs.Rule{
			Op: faultfs.Read, Name: "crawl/inbox/a.txt", From: 2, Err: syscall.EIO,
		}))
		r.run(t, func(func(), *Inbox) {
			if time.Sleep(2 * Quiet); r.list(t) != "a.txt" {
				t.Errorf("files: %s", r.list(t))
			}
		})
	})
}

// A line that no URL can be as long as is refused alone: those behind it are added.
func TestInbox_aLineThatIsTooLongCostsNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		r.put(t, "a.txt", "http://a.test/\nhttp://long.test/"+strings.Repeat("x", 3*admission.SeedLineMax)+"\nhttp://b.test/")
		r.run(t, func(func(), *Inbox) {
			time.Sleep(2 * Quiet)
			if got := r.urls(); got != "http://a.test/ http://b.test/" {
				t.Errorf("added: %s", got)
			}
			report := string(vfstest.ReadAll(t, r.fs, "crawl/inbox/done/a.txt.tsv"))
			if !strings.Contains(report, "refused\thttp://long.test/xxx") || !strings.Contains(report, "too long") {
				t.Errorf("report: %s", report)
			}
		})
	})
}

// blindWatcher cannot watch.
type blindWatcher struct{}

var errNoWatches = errors.New("too many watches")

func (blindWatcher) Watch(context.Context, string, func()) error { return errNoWatches }

// An inbox that cannot be watched says so at once, and not when the crawl ends. What was there is added all the same.
func TestInbox_saysThatItCannotBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &rig{fs: vfs.NewMem(1)}
		r.put(t, "urls.txt", "http://a.test/\n")
		files, err := Open(Options{FS: r.fs, Dir: "crawl", Watcher: blindWatcher{}, Log: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		if err := files.Run(t.Context(), r.add); !errors.Is(err, errNoWatches) || r.count() != 1 {
			t.Errorf("%d URLs added, %v", r.count(), err)
		}
	})
}
