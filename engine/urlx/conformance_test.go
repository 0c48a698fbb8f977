package urlx

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// conformance names a directory with the published suites, urltestdata.json and toascii.json of the web platform tests.
var conformance = flag.String("conformance", "", "directory with the web platform tests' URL data")

// TestConformance scores this package on the published suites. It needs their data and is skipped without.
func TestConformance(t *testing.T) {
	if *conformance == "" {
		t.Skip("no -conformance directory")
	}
	passed, total := 0, 0
	for _, c := range readSuite(t, "urltestdata.json") {
		if isOurs, ok := checkCase(t, c); isOurs {
			total++
			if ok {
				passed++
			}
		}
	}
	t.Logf("urltestdata.json: %d of %d http and https cases", passed, total)
	if passed < total {
		t.Fail()
	}
	for _, name := range []string{"toascii.json", "IdnaTestV2.json"} {
		passed, total = 0, 0
		for _, c := range readSuite(t, name) {
			if strings.ContainsAny(c.Input, "?#/\\") {
				continue // ends the host within a URL, while the suite is about names
			}
			total++
			got, err := Normalize(nil, []byte("https://"+c.Input+"/x"))
			switch {
			case c.Output == nil && err != nil, c.Output != nil && string(Host(got)) == *c.Output:
				passed++
			default:
				t.Logf("%s: %q: got %q, %v", name, c.Input, Host(got), err)
			}
		}
		t.Logf("%s: %d of %d", name, passed, total)
	}
}

// suiteCase is one case of either suite.
type suiteCase struct {
	Input, Base, Href, Protocol string
	Failure                     bool
	Output                      *string
}

func readSuite(t *testing.T, name string) (all []suiteCase) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*conformance, name))
	if err != nil {
		t.Fatal(err)
	}
	var raw []json.RawMessage
	if err := json.Unmarshal(text, &raw); err != nil {
		t.Fatal(err)
	}
	for _, r := range raw {
		if !bytes.HasPrefix(r, []byte("{")) {
			continue // a comment
		}
		var c suiteCase
		if err := json.Unmarshal(r, &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

// checkCase runs one URL case. It is ours if it is about http or https: the result is, or what is refused begins so.
func checkCase(t *testing.T, c suiteCase) (isOurs, ok bool) {
	web := func(s string) bool { return strings.HasPrefix(s, "http:") || strings.HasPrefix(s, "https:") }
	if !c.Failure && !web(c.Protocol) || c.Failure && !web(c.Input) {
		return false, true
	}
	var base []byte
	if c.Base != "" {
		var err error
		if base, err = Normalize(nil, []byte(c.Base)); err != nil && !web(c.Input) {
			return false, true
		}
	}
	got, err := Resolve(nil, base, []byte(c.Input))
	want := ""
	if !c.Failure {
		want, _, _ = strings.Cut(c.Href, "#")
		scheme, rest, _ := strings.Cut(want, "://")
		authority, path, _ := strings.Cut(rest, "/")
		want = scheme + "://" + authority[strings.LastIndexByte(authority, '@')+1:] + "/" + path
	}
	if (err != nil) != c.Failure || string(got) != want {
		t.Logf("%q on %q: got %q, %v; want %q", c.Input, c.Base, got, err, want)
		return true, false
	}
	return true, true
}
