//go:build unix

package receivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"orbweaver/engine/page/hook"
)

// hostile are programs that do wrong, in the language of the shell. $1 is a file for their process numbers.
func hostile() map[string]string {
	return map[string]string{
		"loops":          `while :; do :; done`,
		"exits":          `exit 3`,
		"garbage":        `echo "this is not a frame at all"; cat >/dev/null`,
		"endless":        `cat /dev/zero`,
		"never reads":    `sleep 1000`,
		"closes output":  `exec >&-; sleep 1000`,
		"keeps the pipe": `sleep 1000 & echo $! >>"$1"; exit 0`,
		"allocates":      `x=a; while :; do x=$x$x; done`,
		"forks":          `while [ $((i=i+1)) -le 40 ]; do sleep 1000 & echo $! >>"$1"; done; wait`,
		"much to say":    `while :; do echo complaint >&2; done`,
	}
}

// run is the Command of any kind.
func run(args ...string) func(string) []string { return func(string) []string { return args } }

// A program that does wrong costs the answer: each page is back in bounded time, and no process of it is left.
func TestHook_survivesHostilePrograms(t *testing.T) {
	for name, script := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pids := filepath.Join(t.TempDir(), "pids")
			o := hook.Options{Hooks: []string{"page=x"}, Parallel: 4, Timeout: 300 * time.Millisecond}
			args := []string{"/bin/sh", "-c", `echo $$ >>"$1"; ` + script, "sh", pids}
			log := slog.New(slog.DiscardHandler)
			h := hook.New(o, &Hooks{Command: run(args...), Memory: 64 << 20, Log: log}, log)
			body := make([]byte, 1<<20)
			began := time.Now()
			var asks sync.WaitGroup
			for range 8 {
				asks.Go(func() {
					answer, err := h.Ask(context.Background(), &hook.Page{URL: "http://a.test/"}, body)
					if len(answer.Links) > 0 || err != nil {
						t.Errorf("%+v, %v", answer, err)
					}
				})
			}
			asks.Wait()
			if err := h.Close(); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			if stats := h.Stats(); stats.Pages["answered"] > 0 || stats.Error == "" {
				t.Errorf("%+v", stats)
			}
			text, err := os.ReadFile(pids)
			if err != nil {
				t.Fatal(err)
			}
			for pid := range strings.FieldsSeq(string(text)) {
				waitGone(t, pid)
			}
		})
	}
}

// waitGone waits until a process has ended. One that another process must wait for is a zombie, and has ended.
func waitGone(t *testing.T, pid string) {
	t.Helper()
	for range 100 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Errorf("process %s is left", pid)
}

// The examples of the docs find the addresses in comments, and count pages.
func TestHook_examplesOfTheDocs(t *testing.T) {
	const root, python = "../../../../", "/usr/bin/python3"
	t.Run("python", func(t *testing.T) {
		if _, err := os.Stat(python); err != nil {
			t.Skip("there is no Python here: ", err)
		}
		checkExample(t, python, root+"docs/hook-comments.py")
	})
	t.Run("go", func(t *testing.T) {
		checkExample(t, buildExample(t, filepath.Join(t.TempDir(), "hookexample")))
	})
}

func checkExample(t *testing.T, command ...string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), nil))
	o := hook.Options{Hooks: []string{"page=x"}, Parallel: 4, Timeout: time.Minute}
	starter := NewHooks(&o, log)
	starter.Command = run(command...)
	h := hook.New(o, starter, log)
	for range 3 {
		body := []byte("<p>text<!-- see http://b.test/hidden --><p>more")
		answer, err := h.Ask(context.Background(), &hook.Page{URL: "http://a.test/", Type: "text/html"}, body)
		if err != nil || len(answer.Links) != 1 || answer.Links[0] != "http://b.test/hidden" ||
			answer.Counts["pages_with_comments"] != 1 {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	began := time.Now()
	if err := h.Close(); err != nil || time.Since(began) > 3*time.Second {
		t.Errorf("%v: it did not end with its input", err)
	}
	if stats := h.Stats(); stats.Pages["answered"] != 3 || stats.Starts != 1 {
		t.Errorf("%+v", stats)
	}
}

// A program that is not there, and one that may not be executed, are refused.
func TestCheckHook_refusesWhatCannotRun(t *testing.T) {
	file := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, isRefused := range map[string]bool{file: true, "/no/such/program x": true, "/bin/sh -c x": false} {
		err := CheckHook(&hook.Options{Hooks: []string{"page=" + command}})
		if (err != nil) != isRefused {
			t.Errorf("%q: %v", command, err)
		}
	}
	for _, hooks := range [][]string{
		{"host=/bin/sh", "page=/bin/sh"}, {"host:5=/bin/sh"}, {"host:5:7=/bin/sh -c x"}, {"link=/bin/sh"},
		{"page:application/epub+zip,image/*=/bin/sh"},
	} {
		if err := CheckHook(&hook.Options{Hooks: hooks}); err != nil {
			t.Errorf("%q: %v", hooks, err)
		}
	}
	for _, hooks := range [][]string{
		{"site=/bin/sh"}, {"page="}, {"/bin/sh"}, {"page=/bin/sh", "page=/bin/sh"}, {"page:3=/bin/sh"}, {"page:=/bin/sh"},
		{"page:a/b,=/bin/sh"}, {"page:*/*=/bin/sh"}, {"page:a/b;c=/bin/sh"}, {"link:3=/bin/sh"},
		{"host:x=/bin/sh"}, {"host:0=/bin/sh"}, {"host:1:x=/bin/sh"}, {"host:1:2:3=/bin/sh"}, {"host:=/bin/sh"},
		{"host:5="}, {"host:5=/bin/sh", "page=/bin/sh", "host=/bin/sh"},
	} {
		if err := (&hook.Options{Hooks: hooks}).Validate(); err == nil {
			t.Errorf("%q is not refused", hooks)
		}
	}
}

// BenchmarkHook measures pages of 32 KiB for programs that find nothing in them, asked by 16 workers. link asks
// about 50 links of a page. host counts the words of each page, and asks about one page in 200.
func BenchmarkHook(b *testing.B) {
	const root = "../../../../"
	dir := b.TempDir()
	module := buildExample(b, dir+"/example.wasm", "GOOS=wasip1", "GOARCH=wasm")
	example := buildExample(b, dir+"/example")
	for name, command := range map[string][]string{
		"python": {"python3", root + "docs/hook-comments.py"}, "go": {example}, "module": {module},
		"link": {example}, "host": {example},
	} {
		b.Run(name, func(b *testing.B) {
			log := slog.New(slog.DiscardHandler)
			o := hook.Options{Hooks: []string{"page=x", "link=x", "host=x"}, Parallel: 16, Timeout: time.Minute}
			starter := NewHooks(&o, log)
			starter.Command = run(command...)
			pages, links, hosts := hook.New(o, starter, log), hook.NewLinks(o, starter, log), hook.NewHosts(o, starter, log)
			ask, answered := asks(b, pages, links, hosts, name)
			ask() // starts it
			began := cpuTime(b)
			b.ResetTimer()
			b.SetParallelism(8)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask()
				}
			})
			b.StopTimer()
			if got := answered(); got < int64(b.N)-200 {
				b.Errorf("answers to %d pages of %d", got, b.N)
			}
			if err := errors.Join(pages.Close(), links.Close(), hosts.Close()); err != nil {
				b.Error(err)
			}
			b.ReportMetric(float64(cpuTime(b)-began)/float64(b.N), "cpu-ns/op")
		})
	}
}

// asks returns what asks about a page, and to how many pages answers came.
func asks(
	b *testing.B, pages *hook.Hook, links *hook.Links, hosts *hook.Hosts, name string,
) (ask func(), answered func() int64) {
	b.Helper()
	ctx, body, number := context.Background(), make([]byte, 0, 33<<10), new(atomic.Int64)
	for words := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 2, 20_000); len(body) < 32<<10; {
		body = fmt.Appendf(body, "word%d ", words.Uint64())
	}
	check := func(err error) {
		if err != nil {
			b.Error(err)
		}
	}
	switch name {
	case "link":
		found := make([]hook.Link, 50)
		for i := range found {
			found[i] = hook.Link{URL: fmt.Sprintf("http://a.test/folder/page-%d.html", i), Kind: "anchor", Text: "next page"}
		}
		ask = func() {
			_, err := links.Judge(ctx, hook.LinkQuestion{URL: "http://a.test/", Depth: 1}, body, found)
			check(err)
		}
		answered = func() int64 { return links.Stats().Questions["answered"] }
	case "host":
		ask = func() {
			n := int(number.Add(1))
			_, err := hosts.AskAfter(ctx, &hook.SitePage{URL: fmt.Appendf(nil, "http://a%d.test/", n/200), Number: n%200 + 1,
				Title: []byte("a title"), Body: body, IsText: true, Bytes: int64(len(body)), Links: 50, Outlinks: 5})
			check(err)
		}
		answered = func() int64 { return 200 * hosts.Stats().Questions["answered"] }
	default:
		ask = func() {
			_, err := pages.Ask(ctx, &hook.Page{URL: "http://a.test/", Type: "text/plain"}, body)
			check(err)
		}
		answered = func() int64 { return pages.Stats().Pages["answered"] }
	}
	return ask, answered
}

// cpuTime is the processor time of this process, and of the children that have ended.
func cpuTime(b *testing.B) (total time.Duration) {
	b.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var usage syscall.Rusage
		if err := syscall.Getrusage(who, &usage); err != nil {
			b.Fatal(err)
		}
		total += time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
	}
	return total
}

// buildExample builds the Go example of the docs.
func buildExample(tb testing.TB, to string, environment ...string) string {
	tb.Helper()
	build := exec.Command("go", "build", "-o", to, "../../../../tools/hookexample")
	build.Env = append(os.Environ(), environment...)
	if said, err := build.CombinedOutput(); err != nil {
		tb.Fatalf("%v: %s", err, said)
	}
	return to
}
