package main

import (
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// repository is the root of the repository.
func repository() fs.FS { return os.DirFS("../..") }

func TestBenchmarksIsCurrent(t *testing.T) {
	if out, err := exec.Command("git", "rev-parse", "--is-shallow-repository").Output(); string(out) != "false\n" {
		t.Skipf("without the history of the repository no row can be old: %q, %v", out, err)
	}
	want, err := makePage(repository(), gitHistory("../.."))
	if err != nil {
		t.Fatal(err)
	}
	got, err := fs.ReadFile(repository(), pageName)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not current: go run ./tools/benchtable writes it", pageName)
	}
}

// A figure of code that was replaced is neither met nor missed. The history is asked for the folders of the row.
func TestARowOfReplacedCodeIsOld(t *testing.T) {
	for part, want := range map[float64]string{0: "| missed |", 0.3: "| missed |", 0.4: "| old |"} {
		for code, folders := range map[string]string{"": product, `"code": ["sieve"], `: "sieve"} {
			files := results()
			files["bench/results/sieve.json"] = &fstest.MapFile{Data: []byte("{" + code + sieveRow[1:])}
			page, err := makePage(files, func(commit string, asked []string) (float64, error) {
				if commit != "0922467" || strings.Join(asked, " ") != folders {
					t.Errorf("asked for %s of %s", asked, commit)
				}
				return part, nil
			})
			if err != nil || !strings.Contains(page, want) {
				t.Errorf("%g replaced: error %v, want %q in %s", part, err, want, page)
			}
		}
	}
}

// Git counts the lines that are gone: none of a file that was moved, all of one that was written again.
func TestGitHistory(t *testing.T) {
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b.test"}, args...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args, err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	git("init", "-q")
	put("sieve/a.go", strings.Repeat("first line\n", 10))
	put("sieve/deep/b.go", strings.Repeat("second line\n", 30))
	put("sieve/a_test.go", strings.Repeat("a test\n", 100))
	put("warc/c.go", strings.Repeat("another\n", 100))
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("mv", "sieve/deep/b.go", "sieve/moved.go")
	put("sieve/a.go", strings.Repeat("another line\n", 9))
	put("sieve/a_test.go", "")
	put("warc/c.go", "")
	for folder, want := range map[string]float64{"sieve": 0.25, "warc": 1, "later": 1} {
		if got, err := gitHistory(dir)("HEAD", []string{folder}); err != nil || got != want {
			t.Errorf("%s: %g is replaced, error %v; want %g", folder, got, err, want)
		}
	}
	if _, err := gitHistory(dir)("0922467", []string{"sieve"}); err == nil {
		t.Error("there is no such commit")
	}
}

// unchanged is the history of a tree in which nothing was replaced.
func unchanged(string, []string) (float64, error) { return 0, nil }

// A raw output that no document names would never be read.
func TestEveryRawOutputIsNamed(t *testing.T) {
	var documents strings.Builder
	for _, pattern := range []string{resultsDir + "/*.md", resultsDir + "/[a-z]*.json", "docs/*.md", "docs/adr/*.md"} {
		names, err := fs.Glob(repository(), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d files, error %v", pattern, len(names), err)
		}
		for _, name := range names {
			text, err := fs.ReadFile(repository(), name)
			if err != nil {
				t.Fatal(err)
			}
			documents.Write(text)
		}
	}
	raw, err := fs.Glob(repository(), resultsDir+"/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range raw {
		if !strings.Contains(documents.String(), path.Base(name)) {
			t.Errorf("no diary and no document names %s", name)
		}
	}
}

const sieveRow = `{"row": 1, "what": "Sieve", "command": "bench sieve",
	"commit": "0922467", "machine": "two cores", "beside": "nothing",
	"figures": [{"name": "CPU", "value": 1205, "unit": "ns"}, {"name": "growth", "value": 1.92, "at_most": 1.5}],
	"raw": "bench/results/2026-11-21-sieve.txt"}`

// results is a small repository with one row.
func results() fstest.MapFS {
	return fstest.MapFS{
		"bench/results/sieve.json":           {Data: []byte(sieveRow)},
		"bench/results/sieve.md":             {Data: []byte("2026-11-21-sieve.txt: 1,205 ns of CPU, 1.92 times.\n")},
		"bench/results/2026-11-21-sieve.txt": {Data: []byte("raw")},
		"bench/results/2026-ring.json":       {Data: []byte("a raw output and not a row")},
	}
}

func TestRow(t *testing.T) {
	page, err := makePage(results(), unchanged)
	if err != nil {
		t.Fatal(err)
	}
	want := "| [Sieve](bench/results/sieve.md) | `bench sieve` | CPU 1,205 ns, growth 1.92 | growth ≤ 1.5 | missed |" +
		" 2026-11-21, 0922467 | [raw](bench/results/2026-11-21-sieve.txt) |\n"
	if !strings.HasSuffix(page, want) {
		t.Errorf("got %s\nwant the row %s", page, want)
	}
}

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		f    figure
		want string
	}{
		{figure{Name: "a", Value: "2", AtMost: "2"}, "met"},
		{figure{Name: "a", Value: "2.01", AtMost: "2"}, "missed"},
		{figure{Name: "a", Value: "2", AtLeast: "2"}, "met"},
		{figure{Name: "a", Value: "1.99", AtLeast: "2"}, "missed"},
		{figure{Name: "a", Value: "2"}, "no goal"},
	} {
		if _, got, err := (row{Figures: []figure{c.f}}).goal(); got != c.want || err != nil {
			t.Errorf("%+v: got %s, %v; want %s", c.f, got, err, c.want)
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	for _, c := range []struct{ what, file, text, want string }{
		{"no raw output", "bench/results/2026-11-21-sieve.txt", "", "the raw output"},
		{"no diary", "bench/results/sieve.md", "", "the diary is missing"},
		{
			"another figure in the diary", "bench/results/sieve.md", "2026-11-21-sieve.txt: 1,205 ns, 11.92 times",
			"the value 1.92",
		},
		{"a raw output that the diary does not name", "bench/results/sieve.md", "1,205 ns, 1.92 times", "does not name"},
		{"a diary of two pages", "bench/results/sieve.md", strings.Repeat("\n", diaryLines+1), "at most"},
		{
			"no date", "bench/results/sieve.json", strings.Replace(sieveRow, "2026-11-21-sieve.txt", "sieve.json", 1),
			"there is no date",
		},
		{"an unknown field", "bench/results/sieve.json", `{"cost": 1}`, "unknown field"},
		{"a gap in the numbers", "bench/results/sieve.json", strings.Replace(sieveRow, `"row": 1`, `"row": 3`, 1), "want 1"},
		{"a page that is too long", "bench/results/sieve.json",
			strings.Replace(sieveRow, "bench sieve", strings.Repeat("x", pageBytes), 1), "shorten"},
	} {
		files := maps.Clone(results())
		if c.text == "" {
			delete(files, c.file)
		} else {
			files[c.file] = &fstest.MapFile{Data: []byte(c.text)}
		}
		if _, err := makePage(files, unchanged); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got error %v, want one with %q", c.what, err, c.want)
		}
	}
}
