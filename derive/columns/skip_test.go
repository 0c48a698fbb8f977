package columns

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"orbweaver/derive"
	"orbweaver/derive/derivetest"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
)

// words returns n bytes of text that does not compress well.
func words(seed uint64, n int) string {
	random := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for b.Len() < n {
		fmt.Fprintf(&b, "%x ", random.Uint32())
	}
	return b.String()[:n]
}

// largePages is an archive of pages whose start suffices for the table, and of some that it must read on.
func largePages(tb testing.TB) *derivetest.Archive {
	tb.Helper()
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("<meta charset=koi8-r>" + words(1, 30_000)))
	_ = z.Close()
	chunked := fmt.Sprintf("%x\r\n<p>%s\r\n0\r\n\r\n", 20_003, words(2, 20_000))
	a := mixed()
	a.Response("http://a.test/declared", 200, "text/html; charset=iso-8859-2", "<p>"+words(3, 50_000))
	a.Response("http://a.test/late", 200, "text/html", "<p>"+words(4, 4_000)+"<meta charset=koi8-r>"+words(5, 9_000))
	comment := "<!--" + words(6, 4_000) + "-->"
	a.Response("http://a.test/comment", 200, "text/html; charset=koi8-r", comment+"<rss>"+words(7, 9_000))
	a.Record("request", "http://a.test/zip", "application/http;msgtype=request", "GET / HTTP/1.1\r\n\r\n"+words(8, 9_000))
	a.Response("http://a.test/packed", 200, "text/html", packed.String(), "Content-Encoding: gzip")
	a.Response("http://a.test/chunked", 200, "text/html; charset=koi8-r", chunked, "Transfer-Encoding: chunked")
	a.Response("http://a.test/zip", 200, "application/zip", "PK\x03\x04"+packed.String())
	a.Response("http://a.test/cookies", 200, "text/html; charset=koi8-r", "<p>"+words(9, 9_000), "X: "+words(10, 9_000))
	a.Record("resource", "file:///a", "text/plain", words(12, 40_000))
	a.Record("revisit", "http://a.test/same", "application/http", "HTTP/1.1 200 OK\r\n\r\n"+words(13, 9_000))
	a.Response("http://a.test/twin-1", 200, "text/html; charset=koi8-r", "<p>"+words(14, 9_000))
	a.Response("http://a.test/between", 200, "text/html", "<p>"+words(15, 5_000))
	a.Response("http://a.test/twin-2", 200, "text/html; charset=koi8-r", "<p>"+words(16, 9_000))
	return a
}

// outputs returns all files of the table of x.warc.gz with this index, and the faults. No index: "".
func outputs(tb testing.TB, content []byte, index string) (files map[string]string, faults []string) {
	tb.Helper()
	fsys := vfs.NewMem(1)
	derivetest.Put(tb, fsys, "x.warc.gz", content)
	if index != "" {
		derivetest.Put(tb, fsys, "x.cdxj", []byte(index))
	}
	report, err := derive.Run(tb.Context(), fsys, []string{"x.warc.gz"}, derive.Options{
		Dir: "out", Crawl: "C", Products: []derive.Product{New(Options{})},
		OnFault: func(f *warc.Fault) { faults = append(faults, f.Error()) },
	})
	if err != nil {
		tb.Fatal(err)
	}
	files = map[string]string{"records": fmt.Sprint(report.Records)}
	for subset := range subsets {
		dir := "out/parquet/crawl=C/subset=" + subsetName(subset)
		names, _ := fsys.List(dir) // a subset without records has no directory
		for _, name := range names {
			files[dir+name] = string(derivetest.Get(tb, fsys, dir+"/"+name))
		}
	}
	return files, faults
}

// indexOf returns the index of a file.
func indexOf(tb testing.TB, content []byte) string {
	tb.Helper()
	var index bytes.Buffer
	z := warc.NewReader(bytes.NewReader(content), warc.ReaderOptions{})
	defer z.Close()
	if err := warc.WriteIndex(&index, z, "x.warc.gz", warc.StopAtDamage); err != nil {
		tb.Fatal(err)
	}
	return index.String()
}

// With an index beside the file, the table is the same as without, although the ends of pages are not read: damage in
// them is not found.
func TestTable_withAnIndexPagesAreNotReadToTheirEnd(t *testing.T) {
	a := largePages(t)
	a.Response("http://a.test/huge", 200, "text/plain; charset=koi8-r", words(11, 3<<20))
	a.Response("http://a.test/end", 200, "text/html; charset=koi8-r", "<p>"+words(17, 9_000))
	content, index := a.Bytes(), indexOf(t, a.Bytes())
	want, faults := outputs(t, content, "")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if got, faults := outputs(t, content, index); !equal(got, want) || len(faults) > 0 {
		t.Errorf("with an index the table is another one; %q", faults)
	}
	damaged := slices.Clone(content)
	damaged[len(damaged)-100] ^= 1
	if _, faults := outputs(t, damaged, ""); len(faults) != 1 {
		t.Errorf("without an index: %q", faults)
	}
	if got, faults := outputs(t, damaged, index); !equal(got, want) || len(faults) > 0 {
		t.Errorf("the end of the last page was read: %q", faults)
	}
}

func equal(a, b map[string]string) bool {
	for name := range a {
		if a[name] != b[name] {
			return false
		}
	}
	return len(a) == len(b)
}

// edit returns an index with changed numbers of each line, in the order of offsets.
func edit(index string, change func(i int, offset, length *int)) string {
	var out strings.Builder
	lines := strings.SplitAfter(index, "\n")
	for i, line := range lines[:len(lines)-1] {
		before, rest, _ := strings.Cut(line, `"length":"`)
		var offset, length int
		var file string
		_, _ = fmt.Sscanf(strings.ReplaceAll(rest, `"`, " "), "%d  , offset : %d  , filename : %s", &length, &offset, &file)
		change(i, &offset, &length)
		fmt.Fprintf(&out, `%s"length":"%d","offset":"%d","filename":"x.warc.gz"}`+"\n", before, length, offset)
	}
	return out.String()
}

// A wrong index loses nothing: the table is that of the file, and so are the faults.
func TestTable_wrongIndex(t *testing.T) {
	a := largePages(t)
	content, index := a.Bytes(), indexOf(t, a.Bytes())
	if same := edit(index, func(int, *int, *int) {}); same != index {
		t.Fatal(same)
	}
	want, _ := outputs(t, content, "")
	for name, wrong := range map[string]string{
		"another file":    strings.ReplaceAll(index, "x.warc.gz", "y.warc.gz"),
		"an older file":   edit(index, func(_ int, offset, _ *int) { *offset += 7 }),
		"all too short":   edit(index, func(_ int, _, length *int) { *length -= 9 }),
		"all too long":    edit(index, func(_ int, _, length *int) { *length += 9 }),
		"negative":        edit(index, func(_ int, _, length *int) { *length = -*length }),
		"to the end":      edit(index, func(_ int, offset, length *int) { *length = len(content) - *offset }),
		"beyond the end":  edit(index, func(_ int, _, length *int) { *length = 1 << 40 }),
		"huge numbers":    edit(index, func(_ int, offset, length *int) { *offset, *length = 1<<62, 1<<62 }),
		"twice the same":  index + index,
		"one byte each":   edit(index, func(_ int, _, length *int) { *length = 1 }),
		"only the first":  index[:strings.Index(index, "\n")+1],
		"no index at all": "\x00\x01\n",
		"a torn line":     index[:len(index)-9],
	} {
		if got, faults := outputs(t, content, wrong); !equal(got, want) || len(faults) > 0 {
			t.Errorf("%s: another table, faults %q", name, faults)
		}
	}
	// One line is left, and it spans all records behind its own. The last one is as long as that of the first twin.
	for _, from := range []string{"/declared", "/packed", "/twin-1", "/twin-2"} {
		spanning := ""
		for line := range strings.Lines(index) {
			if strings.Contains(line, from+`"`) {
				spanning = edit(line, func(_ int, offset, length *int) { *length = len(content) - *offset })
			}
		}
		if got, faults := outputs(t, content, spanning); !equal(got, want) || len(faults) > 0 {
			t.Errorf("a line that spans others, from %s: another table, faults %q", from, faults)
		}
	}
}

// Damage where the table reads is reported, and costs one record, with an index as without.
func TestTable_damagedHeadWithAnIndex(t *testing.T) {
	whole := largePages(t)
	index := indexOf(t, whole.Bytes())
	for n := 0; n < 28; n += 2 {
		a := largePages(t)
		a.Damage(n + 1)
		want, wantFaults := outputs(t, a.Bytes(), "")
		got, faults := outputs(t, a.Bytes(), index)
		if !equal(got, want) || !slices.Equal(faults, wantFaults) || len(faults) == 0 {
			t.Errorf("record %d: same table: %v, faults %q, want %q", n+1, equal(got, want), faults, wantFaults)
		}
	}
}
