//go:build unix

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"orbweaver/internal/cli/command"
)

// A crawl removes the WARC files that its bucket has. Indexes, queries and fsck still know all captures, and what needs
// a removed file says where it is. When the files are back, all is as before.
func TestUploadThenDelete(t *testing.T) {
	store := serveBucket(t)
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	args := w.crawl(dir, 0, "--warc-compression", "none", "--warc-size", "64KiB", "--upload", "s3://bucket/a",
		"--upload-endpoint", store.URL, "--upload-then", "delete")
	call(args...).want(t, command.ExitDone, "WARC file removed: the object store has it", "s3://bucket/a/")
	here, indexes := globNames(t, dir, "warc/*.warc"), globNames(t, dir, "warc/*.cdxj")
	if len(here) != 1 || len(indexes) < 3 {
		t.Fatalf("%d WARC files and %d indexes are here", len(here), len(indexes))
	}
	report := readReport(t, dir)
	removed := report["uploads"].(map[string]any)["removed_files"].(map[string]any)["store"]
	if removed != float64(len(indexes)-1) {
		t.Errorf("report.json: %v files removed, %d indexes", removed, len(indexes))
	}

	const how = "orbweaver upload --fetch-back"
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	if r := call("fsck", "--quiet", dir); !strings.Contains(r.out, "sent and removed") || !strings.Contains(r.out, how) {
		t.Errorf("fsck prints\n%s", r.out)
	}
	call("fsck", "--quiet", "--remote", dir).want(t, command.ExitDone)
	call("fsck", "--quiet", "--rebuild", dir).want(t, command.ExitDone) // it is sound, so nothing is rebuilt
	url := firstURL(t, filepath.Join(dir, "warc", indexes[0]))
	call("warc", "get", "--dir", dir, url).want(t, command.ExitDone)
	record := call("warc", "get", "--record", "--dir", dir, url).want(t, command.ExitDone).out
	call("explain", "--dir", dir, url).want(t, command.ExitDone)
	call("manifest", dir).want(t, command.ExitDone, "sent and removed here")
	if r := call("warc", "verify", "--against-manifest", filepath.Join(dir, "warc", "manifest.jsonl")); r.code != 0 ||
		!strings.Contains(r.out, "0 missing") || !strings.Contains(r.out, "elsewhere and not read") {
		t.Errorf("verify prints\n%s%s", r.out, r.err)
	}
	wacz, out := filepath.Join(t.TempDir(), "x.wacz"), t.TempDir()
	call("wacz", "-o", wacz, dir).want(t, command.ExitFailed, "--from-store", how)
	call("derive", "--wat", "--out", out, dir).want(t, command.ExitFailed, "left out", "--from-store", how)
	call("quality", dir).want(t, command.ExitFailed, "left out", "--from-store", how)
	call("quality", "--from-store", dir).want(t, command.ExitDone, "from the object store")
	if n := len(globNames(t, out, "wat/*.gz")); n != 1 {
		t.Errorf("derive made %d outputs of the file that is here", n)
	}
	call("wacz", "--from-store", "-o", wacz, dir).want(t, command.ExitDone, "from the object store", "s3://bucket/a/")
	call("warc", "verify", wacz).want(t, command.ExitDone)
	call("derive", "--wat", "--from-store", "--out", out, dir).want(t, command.ExitDone, "from the object store")
	if n := len(globNames(t, out, "wat/*.gz")); n != len(indexes) {
		t.Errorf("derive made %d outputs of %d files", n, len(indexes))
	}
	withoutKeys(t, func() {
		call("warc", "get", "--dir", dir, url).want(t, command.ExitFailed, "s3://bucket/a/", "no credentials", how)
		call("derive", "--wat", "--from-store", "--out", t.TempDir(), dir).want(t, command.ExitFailed,
			"could not be read from the object store", "no credentials")
	})
	if n := len(strings.Split(call("feed", "--dir", dir).want(t, command.ExitDone).out, "\n")); n < 10 {
		t.Errorf("the feed has %d lines", n)
	}

	call("upload", "--fetch-back", dir).want(t, command.ExitDone)
	if here := globNames(t, dir, "warc/*.warc"); len(here) != len(indexes) {
		t.Errorf("%d of %d files are back", len(here), len(indexes))
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	if r := call("warc", "get", "--record", "--dir", dir, url).want(t, command.ExitDone); r.out != record {
		t.Errorf("the record has %d bytes, and had %d in the bucket", len(r.out), len(record))
	}

	// A second pass asks for all pages again, and stores what is new behind the last file.
	call("upload", dir).want(t, command.ExitDone)
	call(append(args, "--refresh", "--refresh-from-store")...).want(t, command.ExitDone)
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	call("fsck", "--quiet", "--remote", dir).want(t, command.ExitDone)
}

// withoutKeys calls f while there are no keys for the bucket.
func withoutKeys(t *testing.T, f func()) {
	t.Helper()
	const name = "AWS_SECRET_ACCESS_KEY"
	key := os.Getenv(name)
	t.Setenv("HOME", t.TempDir())
	t.Setenv(name, "")
	f()
	t.Setenv(name, key)
}

// derive is killed with -9 when the bucket has got, or has answered, each of its first requests in turn. The last run
// gives the same outputs as one run.
func TestDeriveFromStore_survivesKills(t *testing.T) {
	store, dir := crawlIntoBucket(t)
	want, out := t.TempDir(), t.TempDir()
	args := []string{"derive", "--corpus", "--graph", "--from-store", "--workers", "1", dir, "--out"}
	call(append(args, want)...).want(t, command.ExitDone)
	for n := range 8 {
		ctx, kill := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, program(), append(args, out)...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		store.killAt(n/2+1, n%2 == 1, kill)
		_ = cmd.Run()
		kill()
	}
	store.killAt(-1, false, func() {})
	call(append(args, out)...).want(t, command.ExitDone)
	for _, pattern := range []string{"corpus/*", "graph/*.gz", "graph/*.graph"} {
		names := globNames(t, want, pattern)
		if len(names) == 0 {
			t.Errorf("no %s", pattern)
		}
		for _, name := range names {
			name = filepath.Join(filepath.Dir(pattern), name)
			if readText(t, filepath.Join(out, name)) != readText(t, filepath.Join(want, name)) {
				t.Errorf("%s differs", name)
			}
		}
	}
}

// The bucket has another object in the place of one that was removed here. fsck --remote finds it.
func TestFsckRemote_findsAnObjectThatWasReplaced(t *testing.T) {
	store, dir := crawlIntoBucket(t)
	name := strings.Replace(globNames(t, dir, "warc/*.cdxj")[0], ".cdxj", ".warc", 1)
	if _, err := store.PutObject("bucket", name, map[string]string{}, strings.NewReader("x"), 1, nil); err != nil {
		t.Fatal(err)
	}
	r := call("fsck", "--quiet", "--remote", dir).want(t, command.ExitFailed)
	if !strings.Contains(r.out, name) || !strings.Contains(r.out, "it is not here either") {
		t.Errorf("fsck prints\n%s", r.out)
	}
}

// bucket is an object store on loopback.
type bucket struct {
	*s3mem.Backend

	URL string

	mu      sync.Mutex
	left    int // requests until the sender is killed; never if negative
	isAfter bool
	kill    context.CancelFunc
}

// killAt makes the n-th request from now kill its sender, before or after it is answered.
func (b *bucket) killAt(n int, isAfter bool, kill context.CancelFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.isAfter, b.kill = n, isAfter, kill
}

// isDue counts a request, and says whether it kills its sender.
func (b *bucket) isDue() (now, after bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left--
	return b.left == 0 && !b.isAfter, b.left == 0 && b.isAfter
}

func (b *bucket) text(t *testing.T, key string) string {
	t.Helper()
	o, err := b.GetObject("bucket", key, nil)
	if err != nil {
		return ""
	}
	text, err := io.ReadAll(o.Contents)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// crawlIntoBucket makes a crawl whose WARC files are in a bucket alone, and returns the bucket and the directory.
func crawlIntoBucket(t *testing.T) (store *bucket, dir string) {
	t.Helper()
	store, dir = serveBucket(t), filepath.Join(t.TempDir(), "crawl")
	call(serve(t).crawl(dir, 0, "--warc-compression", "none", "--warc-size", "64KiB", "--upload", "s3://bucket",
		"--upload-endpoint", store.URL, "--upload-then", "delete")...).want(t, command.ExitDone)
	return store, dir
}

func serveBucket(t *testing.T) *bucket {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	b := &bucket{Backend: s3mem.New()}
	if err := b.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(b.Backend).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now, after := b.isDue()
		if now {
			b.kill()
		}
		handler.ServeHTTP(w, r)
		if after {
			_ = http.NewResponseController(w).Flush()
			b.kill()
		}
	}))
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

func globNames(t *testing.T, dir, pattern string) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range paths {
		names = append(names, filepath.Base(p))
	}
	return names
}

// firstURL is the URL of a page in an index.
func firstURL(t *testing.T, index string) string {
	t.Helper()
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if _, rest, ok := strings.Cut(line, `"url":`); ok && !strings.Contains(line, "robots.txt") &&
			strings.Contains(line, `"status":"200"`) && !strings.Contains(line, "revisit") {
			return strings.Split(rest, `"`)[1]
		}
	}
	t.Fatal("the index has no page")
	return ""
}

// The sender is killed with -9 when the bucket has got, or has answered, each of its first requests in turn. After each
// kill every WARC file is here, or its object and its receipt are there. The last run brings all to its end.
func TestUploadThenDelete_survivesKills(t *testing.T) {
	store := serveBucket(t)
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	call(w.crawl(dir, 0, "--warc-compression", "none", "--warc-size", "64KiB")...).want(t, command.ExitDone)
	files := globNames(t, dir, "warc/*.warc")
	if len(files) < 4 {
		t.Fatalf("%d files", len(files))
	}
	want := map[string]string{}
	for _, name := range files {
		want[name] = readText(t, filepath.Join(dir, "warc", name))
	}
	args := []string{
		"upload", "--upload", "s3://bucket", "--upload-endpoint", store.URL, "--upload-then", "delete", dir,
	}
	for n := range 16 {
		ctx, kill := context.WithCancel(t.Context())
		cmd := exec.CommandContext(ctx, program(), args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		store.killAt(n/2+1, n%2 == 1, kill)
		_ = cmd.Run()
		kill()
		for name, text := range want {
			here, err := os.ReadFile(filepath.Join(dir, "warc", name))
			if err == nil && string(here) == text {
				continue
			}
			_, receiptErr := os.Stat(filepath.Join(dir, "uploads", "store", name+".json"))
			if receiptErr != nil || store.text(t, name) != text {
				t.Fatalf("kill %d: %s is lost: %v, %v", n, name, err, receiptErr)
			}
		}
	}
	store.killAt(-1, false, func() {})
	call(args...).want(t, command.ExitDone)
	if here := globNames(t, dir, "warc/*.warc"); len(here) != 1 {
		t.Errorf("%d files are here", len(here))
	}
	for name, text := range want {
		if store.text(t, name) != text {
			t.Errorf("the object %s differs", name)
		}
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
}
