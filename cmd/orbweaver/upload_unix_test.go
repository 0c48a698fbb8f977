//go:build unix

package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"orbweaver/internal/cli/command"
)

// The command of --on-warc-close runs for each closed WARC file until it succeeds. Its output is in the log. The next
// run does not run it again.
func TestOnWarcClose_runsForEachFile(t *testing.T) {
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	seen, script := filepath.Join(t.TempDir(), "seen"), filepath.Join(t.TempDir(), "script")
	writeFile(t, script, `test -e '`+seen+`' || { touch '`+seen+`'; echo not yet >&2; exit 3; }
test "$1" = "$WARC_FILE" && test -e "$WARC_INDEX" && test "$(wc -c <"$1")" -eq "$WARC_LENGTH" || exit 4
basename "$1" >> '`+seen+`'
`)
	args := w.crawl(dir, 0, "--warc-compression", "none", "--warc-size", "64KiB", "--on-warc-close", "sh "+script)
	call(args...).want(t, command.ExitDone, "not yet", "exit status 3", "WARC file sent")
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc"))
	if err != nil || len(files) < 3 {
		t.Fatalf("%v: %v", files, err)
	}
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	got := strings.Fields(readText(t, seen))
	slices.Sort(got)
	if !slices.Equal(got, files) {
		t.Errorf("the command has got %v, want %v", got, files)
	}
	call("fsck", "--quiet", dir).want(t, command.ExitDone)
	call(args...).want(t, command.ExitDone)
	if again := strings.Fields(readText(t, seen)); len(again) != len(files) {
		t.Errorf("after the second run: %v", again)
	}
}

// A command that never succeeds does not hold up the end of a crawl for more than --upload-wait.
func TestOnWarcClose_waitsForALimitedTime(t *testing.T) {
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	began := time.Now()
	call(w.crawl(dir, 0, "--max-pages", "3", "--on-warc-close", "sleep 600", "--upload-wait", "1s")...).
		want(t, command.ExitUnsent, "WARC files are not sent yet", "orbweaver upload "+dir)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A crawl whose object store is down ends, and says what is left. "upload" sends it when the store is back, and fsck
// finds what differs.
func TestUpload_sendsWhatACrawlHasLeft(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	objects := s3mem.New()
	if err := objects.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	var isUp atomic.Bool
	handler := gofakes3.New(objects).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isUp.Load() {
			handler.ServeHTTP(w, r)
		} else {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(server.Close)
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	call(w.crawl(dir, 0, "--max-pages", "30", "--upload", "s3://bucket/a/b", "--upload-endpoint", server.URL,
		"--upload-wait", "1s")...).want(t, command.ExitUnsent, "status 503", "WARC files are not sent yet")
	m := readReport(t, dir)["uploads"].(map[string]any)
	if waiting := m["waiting_files"].(map[string]any)["store"]; waiting != 1.0 {
		t.Errorf("report.json: %v files wait", waiting)
	}
	isUp.Store(true)
	sent := call("upload", "--json", dir).want(t, command.ExitDone).object(t)
	if number(t, sent, "files_left") != 0 || sent["files"].(map[string]any)["store"] != 1.0 {
		t.Errorf("upload prints %v", sent)
	}
	call("upload", dir).want(t, command.ExitDone)
	list, err := objects.ListBucket("bucket", nil, gofakes3.ListBucketPage{})
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, o := range list.Contents {
		if _, name, ok := strings.Cut(o.Key, "a/b/crawl-"); ok {
			others = append(others, name[strings.IndexByte(name, '/')+1:])
		}
	}
	if got := strings.Join(others, " "); got != "crawl.log manifest-sha256.txt manifest.jsonl report.json" {
		t.Errorf("other files: %s", got)
	}
	call("fsck", "--quiet", "--remote", dir).want(t, command.ExitDone)
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v: %v", files, err)
	}
	key := "a/b/" + filepath.Base(files[0])
	if _, err := objects.PutObject("bucket", key, map[string]string{}, strings.NewReader("x"), 1, nil); err != nil {
		t.Fatal(err)
	}
	r := call("fsck", "--quiet", "--remote", dir).want(t, command.ExitFailed)
	if !strings.Contains(r.out, key+": the object differs from the file: it has 1 bytes") {
		t.Errorf("fsck prints\n%s", r.out)
	}
}

// Without keys a crawl does not begin.
func TestUpload_needsKeys(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_ACCESS_KEY", "MINIO_ACCESS_KEY", "MINIO_ROOT_USER"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), "crawl")
	call("crawl", "--dir", dir, "--contact", "me@site.test", "--upload", "s3://bucket", "http://site.test/").
		want(t, command.ExitUsage, "no credentials")
	if _, err := os.Stat(dir); err == nil {
		t.Error("the crawl directory was made")
	}
	call("crawl", "--contact", "me@site.test", "--upload", "bucket", "http://site.test/").
		want(t, command.ExitUsage, "s3://BUCKET/PREFIX")
}

// A bucket that does not exist ends a crawl before it begins, and an upload at once. If it disappears while the crawl
// runs, the crawl ends at once, with a status of its own. What it waits for names the reason.
func TestUpload_whatCannotSucceedIsAnError(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	objects := s3mem.New()
	if err := objects.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	handler := gofakes3.New(objects).Server()
	var isGone atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isGone.Load() && r.Method == http.MethodPut {
			w.WriteHeader(http.StatusNotFound)
			_, _ = w.Write([]byte("<Error><Code>NoSuchBucket</Code></Error>"))
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	w := serve(t)
	dir := filepath.Join(t.TempDir(), "crawl")
	args := w.crawl(dir, 0, "--max-pages", "3", "--upload-endpoint", server.URL, "--upload")
	call(append(args, "s3://nobucket/x")...).want(t, command.ExitFailed, "NoSuchBucket", "s3://nobucket/x")
	if _, err := os.Stat(filepath.Join(dir, "warc")); err == nil {
		t.Error("it has crawled")
	}
	isGone.Store(true)
	began := time.Now()
	call(append(args, "s3://bucket/x")...).want(t, command.ExitUnsent, "NoSuchBucket", "orbweaver upload "+dir)
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it waited for %v", took)
	}
	refused := readReport(t, dir)["uploads"].(map[string]any)["refused"].(map[string]any)
	if refused["store"] != "NoSuchBucket" {
		t.Errorf("report.json: %v", refused)
	}
	call("upload", dir).want(t, command.ExitFailed, "NoSuchBucket")
	isGone.Store(false)
	call("upload", dir).want(t, command.ExitDone)
}
