package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"

	"orbweaver/internal/cli/command"
)

// Archives in an object store are read as those on the disk, and nothing is written there.
func TestCommandsReadAnObjectStore(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	objects := s3mem.New()
	if err := objects.CreateBucket("bucket"); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var written []string
	handler := gofakes3.New(objects).Server()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			mu.Lock()
			written = append(written, r.Method+" "+r.URL.Path)
			mu.Unlock()
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	t.Setenv("AWS_ENDPOINT_URL_S3", server.URL)
	dir := t.TempDir()
	meta := map[string]string{"Last-Modified": "Mon, 02 Jan 2006 15:04:05 GMT"} // as a real store has it
	for _, input := range inputs(t, dir) {
		name := filepath.Join(dir, input)
		if info, err := os.Stat(name); err != nil || info.IsDir() {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		key := "in/" + input
		if strings.HasPrefix(input, "1.1") || input == "site.wacz" {
			key = "in/dir/" + input
		}
		_, err = objects.PutObject("bucket", key, meta, bytes.NewReader(text), int64(len(text)), nil)
		if err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		words, says string
		count       int
	}{
		{"warc ls s3://bucket/in/1.0.warc", "http://a.test/", 2},
		{"warc ls s3://bucket/in/dir", "http://a.test/", 4},
		{"warc cat --payload s3://bucket/in/dir/site.wacz", "Words of page", 2},
		{"warc index s3://bucket/in/2.arc.gz", `"url":"http://a.test/`, 2},
		{"warc verify s3://bucket/in/1.0.warc.zst", "2 records", 1},
		{"warc get s3://bucket/in/1.0.warc http://a.test/2", "Words of page 2.", 1},
		{"warc get --dir s3://bucket/in/dir http://a.test/2", "Words of page 2.", 1},
		{"feed s3://bucket/in/dir", `"kind":"new"`, 2},
		{"derive --corpus --quiet --out " + out + " s3://bucket/in/dir", " 0 faults", 1},
		{"warc recompress s3://bucket/in/whole.warc.gz -o " + out + ".warc.gz", "2 records", 1},
		{"wacz s3://bucket/in/dir/1.1.warc.gz -o " + out + ".wacz", "", 0},
	} {
		r := call(strings.Fields(c.words)...).want(t, command.ExitDone)
		if c.count > 0 && strings.Count(r.out, c.says) != c.count {
			t.Errorf("%s: stdout:\n%s\nstderr:\n%s", c.words, r.out, r.err)
		}
	}
	call("warc", "ls", "s3://bucket/none.warc").want(t, command.ExitFailed, "s3://bucket/none.warc", "does not exist")
	call("warc", "ls", "s3://nobucket/none.warc").want(t, command.ExitFailed, "does not exist")
	call("warc", "index", "--write", "s3://bucket/in/1.0.warc").want(t, command.ExitFailed, "only read")
	call("warc", "recompress", "s3://bucket/in/1.0.warc", "-o", "s3://bucket/x.warc").
		want(t, command.ExitFailed, "only read")
	mu.Lock()
	defer mu.Unlock()
	if len(written) > 0 {
		t.Error("written:", written)
	}
}
