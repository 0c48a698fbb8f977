package warctool

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
	"orbweaver/warc"
	"orbweaver/warc/cdxj"
)

// Of an index that another program wrote, lines that are no CDXJ or too long are named and left out, and all others are
// in the cluster and in the WACZ. Headers are left out, and an index of another form is made again.
func TestIndexes_ofOthers(t *testing.T) {
	long := `test,a)/ 20260101000000 {"url":"http://a.test/` + strings.Repeat("x", cdxj.LineMax) + "\"}\n"
	for name, c := range map[string]struct {
		edit   func(lines []string) []string
		faults []int // the lines that are named
		lines  int
	}{
		"a long line":      {func(l []string) []string { return slices.Insert(l, 1, long) }, []int{1}, 3},
		"a long last line": {func(l []string) []string { return append(l, strings.TrimSpace(long)) }, []int{3}, 3},
		"words and a torn line": {
			func(l []string) []string { return []string{l[0], "words\n", l[1], l[2][:60]} }, []int{1, 3}, 2,
		},
		"a header": {func(l []string) []string { return slices.Insert(l, 0, "!meta 0 {\"format\":\"cdxj\"}\n") }, nil, 3},
		"CDX": {
			func([]string) []string {
				return []string{" CDX N b a m s k r M S V g\n", "test,a)/ 20 - - - - - - 1 7 x\n"}
			}, nil, 3,
		},
		"nothing": {func([]string) []string { return nil }, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fsys := vfs.NewMem(1)
			file := webArchive(t, fsys, "w", "http://a.test/1", "http://a.test/2", "http://a.test/3")
			text, err := vfs.ReadFile(fsys, warc.IndexName(file))
			if err != nil {
				t.Fatal(err)
			}
			lines := c.edit(slices.Collect(strings.Lines(string(text))))
			vfstest.WriteAll(t, fsys, warc.IndexName(file), []byte(strings.Join(lines, "")))
			var want []string
			for _, n := range c.faults {
				want = append(want, fmt.Sprintf(".cdxj at %d: bad field: line %d ", len(strings.Join(lines[:n], "")), n+1))
			}
			areNamed := func(faults []string) bool {
				return slices.EqualFunc(faults, want, func(fault, want string) bool {
					return strings.Contains(fault, want) && strings.HasSuffix(strings.TrimSpace(fault), "; it is left out")
				})
			}

			var errs strings.Builder
			r, err := (&Tool{FS: fsys, Err: &errs}).WriteCluster("c", file)
			if said := slices.Collect(strings.Lines(errs.String())); !areNamed(said) || (err != nil) != (len(want) > 0) {
				t.Errorf("cluster: %v, named %q, want %q", err, said, want)
			}
			if r.Lines != c.lines {
				t.Errorf("the cluster has %d lines, want %d", r.Lines, c.lines)
			}

			var said []string
			err = PackWACZ(fsys, "x.wacz", WACZOptions{OnDamage: func(f *warc.Fault) { said = append(said, f.Error()) }}, file)
			if err != nil || !areNamed(said) {
				t.Errorf("wacz: %v, named %q, want %q", err, said, want)
			}
			var faults []error
			got, err := VerifyWACZ(fsys, "x.wacz", func(err error) { faults = append(faults, err) })
			if err != nil || got.Lines != c.lines || len(faults) > 0 {
				t.Errorf("the WACZ has %d lines, want %d; %v, %v", got.Lines, c.lines, err, faults)
			}
		})
	}
}
