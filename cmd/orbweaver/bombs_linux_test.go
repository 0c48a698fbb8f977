package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"orbweaver/internal/invariants"
)

var (
	largeBombs = flag.Bool("large-bombs", false, "TestBombs makes its files as large as docs/security.md says")
	onlyBomb   = flag.String("bomb", "", "TestBombs makes only this file")
)

// What docs/security.md promises of a command: memory, and processor time for each MiB of the input. A command has
// startSeconds for its start and its end.
const (
	bombMemory   = 256 << 20
	startSeconds = 3.0
)

// bombCommands are the commands that read archives of others, with their names in docs/security.md. FILE is the
// archive, DIR its directory, CRAWL the crawl directory whose file it is, OUT a new name, SITE a server that answers.
func bombCommands() (all [][2]string) {
	for _, output := range []string{"parquet", "wet", "wat", "corpus", "minhash", "graph"} {
		all = append(all, [2]string{"derive --" + output, "derive --quiet --" + output + " --out OUT DIR"})
	}
	const crawl = " --allow-net 127.0.0.0/8 --host-delay 1ms --ip-delay 0"
	return append(all, [][2]string{
		{"warc ls", "warc ls FILE"},
		{"warc get", "warc get --dir DIR http://a.test/none"},
		{"warc get FILE", "warc get FILE http://a.test/none"},
		{"warc cat", "warc cat --payload --decode FILE"},
		{"warc index", "warc index FILE"},
		{"warc index --cluster", "warc index --cluster OUT FILE"},
		{"warc verify", "warc verify FILE"},
		{"warc repair", "warc repair FILE -o OUT.warc.gz"},
		{"warc recompress", "warc recompress FILE -o OUT.warc.gz"},
		{"warc walls", "warc walls FILE"},
		{"wacz", "wacz DIR -o OUT.wacz"},
		{"feed", "feed DIR"},
		{"quality", "quality DIR"},
		{"view", "view --listen 127.0.0.1:0 DIR"},
		{"fsck", "fsck CRAWL"},
		{"warc index --write", "warc index --write FILE"}, // the crawls below read the index
		{"crawl --dedup-from", "crawl --dir OUT" + crawl + " --dedup-from DIR SITE"},
		{"crawl --refresh", "crawl --dir CRAWL" + crawl + " --refresh"},
	}...)
}

// cost is what a process took.
type cost struct {
	memory  int64 // most bytes that were resident at once
	seconds float64
	said    string // the end of what it wrote to stderr
}

// highWater reads the most memory that a running process has had; 0 if it has ended.
func highWater(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kib, _ := strconv.ParseInt(fields[0], 10, 64) // the kernel wrote it
	return kib << 10
}

// measure runs a command. The memory of a process that has ended includes that of this test, so it is read while the
// process runs.
func measure(t *testing.T, words string, limit time.Duration) cost {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	cmd := exec.CommandContext(ctx, program(), strings.Fields(words)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	errs := new(buffer)
	cmd.Stderr = errs
	var address io.Reader
	if strings.HasPrefix(words, "view ") {
		pipe, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		address = pipe
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if address != nil {
			askView(ctx, address)
			_ = cmd.Process.Signal(syscall.SIGINT) // it may have ended
		}
		_ = cmd.Wait() // its status is no part of the test
	}()
	var c cost
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-ended:
			running = false
		case <-tick.C:
			c.memory = max(c.memory, highWater(cmd.Process.Pid))
		}
	}
	said := errs.String()
	c.said = said[max(0, len(said)-500):]
	if ctx.Err() != nil {
		c.said += fmt.Sprintf(" (killed after %s)", limit)
	}
	c.seconds = (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	return c
}

// viewMost is how much of an answer is read, in bytes.
const viewMost = 1 << 30

// viewPages are what a browser asks view for: lists, a search, an index and a page.
func viewPages() []string {
	return []string{"", "?q=test", "cdx?url=http://a.test/*", "http://a.test/1", "*/http://a.test/"}
}

// askView reads the address that view prints, and asks for the pages of a curator.
func askView(ctx context.Context, from io.Reader) {
	scan := bufio.NewScanner(from)
	for scan.Scan() {
		url := regexp.MustCompile(`http://127[^ ]*/`).FindString(scan.Text())
		if url == "" {
			continue
		}
		for _, page := range viewPages() {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+page, nil)
			if err != nil {
				return
			}
			if answer, err := http.DefaultClient.Do(r); err == nil {
				// A page is sent as long as the browser reads it. What it says is no part of the test.
				_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, viewMost))
				_ = answer.Body.Close()
			}
		}
		return
	}
}

// Each command that reads an archive takes at most 256 MiB, and one second for each MiB of any of the files. Without
// -large-bombs the files are small, and each command reads one of them.
func TestBombs(t *testing.T) {
	if invariants.Race {
		t.Skip("the race detector takes more memory")
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "a page") // the crawl may have gone
	}))
	defer site.Close()
	crawled := filepath.Join(t.TempDir(), "crawl")
	call(nearby(crawled, site.URL+"/")...).want(t, 0)
	for n, b := range bombs() {
		if *onlyBomb == "" || b.name == *onlyBomb {
			t.Run(b.name, func(t *testing.T) { tryBomb(t, n, &b, crawled, site.URL) })
		}
	}
}

// tryBomb tries one file.
func tryBomb(t *testing.T, number int, b *bomb, crawled, site string) {
	t.Helper()
	dir := t.TempDir()
	crawl := filepath.Join(dir, "crawl")
	if err := os.CopyFS(crawl, os.DirFS(crawled)); err != nil {
		t.Fatal(err)
	}
	archive, parts := filepath.Join(crawl, "warc"), b.small
	if *largeBombs {
		parts = b.large
	}
	name := b.write(t, archive, parts)
	own, err := filepath.Glob(filepath.Join(archive, "orbweaver-*"))
	if err != nil || len(own) != 2 {
		t.Fatal(own, err)
	}
	for _, old := range own {
		beside := strings.TrimSuffix(name, ".warc.gz") + ".cdxj"
		switch _, err := os.Stat(beside); {
		case strings.HasSuffix(name, ".wacz"): // it lies beside the file of the crawl
		case strings.HasSuffix(old, ".cdxj") && err == nil:
			rename(t, beside, old)
		case strings.HasSuffix(old, ".cdxj"):
			rename(t, old, filepath.Join(dir, "old.cdxj"))
		default:
			rename(t, name, old)
			name = old
		}
	}
	size := int64(0)
	for _, f := range append(own, name) {
		if info, err := os.Stat(f); err == nil {
			size = max(size, info.Size())
		}
	}
	for n, c := range bombCommands() {
		most := startSeconds + float64(size)/(1<<20)
		if c[0] == "view" {
			most += startSeconds * float64(len(viewPages()))
		}
		if !*largeBombs && (n+number)%len(bombs()) != 0 {
			continue
		}
		out := filepath.Join(dir, fmt.Sprintf("out%d", n))
		words := strings.NewReplacer("FILE", name, "DIR", archive, "CRAWL", crawl, "OUT", out, "SITE", site+"/").
			Replace(c[1])
		took := measure(t, words, time.Duration(most*6)*time.Second)
		t.Logf("%-26s %-22s %4d MiB %6.2f s of %.2f", b.name, c[0], took.memory>>20, took.seconds, most)
		if took.memory > bombMemory || took.seconds > most {
			t.Errorf("%s: %d MiB of memory and %.2f s for %.2f MiB: %s", c[0], took.memory>>20, took.seconds,
				float64(size)/(1<<20), took.said)
		}
		for _, left := range []string{out, out + ".warc.gz", out + ".wacz"} {
			if err := os.RemoveAll(left); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}
