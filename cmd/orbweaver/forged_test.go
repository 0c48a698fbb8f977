package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/crc32"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var allForged = flag.Bool("all-forged", false, "TestForgedManifest tries each number with each value")

// numbersOf calls f with each number of a JSON value, as a function that replaces it. Of a list of numbers it takes the
// first alone.
func numbersOf(value any, path string, set func(any), f func(path string, set func(any))) {
	switch v := value.(type) {
	case json.Number:
		f(path, set)
		set(v)
	case map[string]any:
		for name, x := range v {
			numbersOf(x, path+"."+name, func(y any) { v[name] = y }, f)
		}
	case []any:
		for i, x := range v {
			if _, isNumber := x.(json.Number); i == 0 || !isNumber {
				numbersOf(x, fmt.Sprintf("%s[%d]", path, i), func(y any) { v[i] = y }, f)
			}
		}
	}
}

// A number of MANIFEST that is not true costs fsck little memory, and no panic. Its texts are printed without control
// characters.
func TestForgedManifest_costsLittle(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "crawl")
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("a page")) // the crawl may have gone
	}))
	defer site.Close()
	call(nearby(dir, site.URL+"/")...).want(t, 0)
	file := filepath.Join(dir, "frontier", "MANIFEST")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := strings.Cut(string(text), "\n")
	head = head[:strings.LastIndexByte(head, ' ')]
	decode := json.NewDecoder(strings.NewReader(body))
	decode.UseNumber()
	var manifest map[string]any
	if err := decode.Decode(&manifest); err != nil {
		t.Fatal(err)
	}
	forge := func() {
		text, err := json.Marshal(manifest)
		if err != nil {
			t.Fatal(err)
		}
		sum := crc32.Checksum(text, crc32.MakeTable(crc32.Castagnoli))
		writeFile(t, file, fmt.Sprintf("%s %08x\n%s", head, sum, text))
	}
	values := []json.Number{"4611686018427387904", "-1", "1000000000"}
	tried, found, least := 0, 0, 60
	if !*allForged {
		least /= len(values) // each number is tried with one of them
	}
	numbersOf(manifest, "", nil, func(path string, set func(any)) {
		if strings.HasPrefix(path, ".counters") {
			return // no size depends on them
		}
		for i, forged := range values {
			if !*allForged && i != len(path)%len(values) {
				continue
			}
			set(forged)
			forge()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r := call("fsck", "--quiet", dir)
			runtime.ReadMemStats(&after)
			tried++
			if r.code != 0 {
				found++
			}
			used := (after.TotalAlloc - before.TotalAlloc) >> 20
			if used > 128 || r.code > 1 || r.code == 1 && r.err == "" {
				t.Errorf("%s = %s: exit status %d, %d MiB allocated: %.300s", path, forged, r.code, used, r.err)
			}
		}
	})
	if tried < least || found < least/3 {
		t.Errorf("%d numbers were forged, and fsck found %d", tried, found)
	}
	manifest["state"] = escapes
	forge()
	r := call("fsck", "--quiet", dir)
	if !strings.Contains(r.out, `\x1b[31m`) || strings.ContainsAny(r.out+r.err, "\x1b\x07") {
		t.Errorf("%q %q", r.out, r.err)
	}
}
