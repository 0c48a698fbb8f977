package archive

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Seeds are where those of a crawl that has ended lead to, or those that another crawl has kept.
func TestSeedsOf(t *testing.T) {
	ended, stopped := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(ended, "reports", "seeds.tsv"): "seed\toutcome\tstatus\tredirected_to\ttime\n" +
			"http://a.test/\tok\t200\t-\t-\nhttp://b.test/\tok\t301\thttp://b.test/new\t-\n",
		filepath.Join(ended, "frontier", "seeds"):   "http://not.test/\n",
		filepath.Join(stopped, "frontier", "seeds"): "http://c.test/\nhttp://d.test/\n",
	} {
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got := seedsOf([]string{ended, stopped, t.TempDir()})
	want := []string{"http://a.test/", "http://b.test/new", "http://c.test/", "http://d.test/"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
