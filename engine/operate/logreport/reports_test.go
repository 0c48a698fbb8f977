package logreport

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
	"orbweaver/internal/vfs/vfstest"
)

// write writes a log, and the seeds of its crawl.
func write(t *testing.T, fsys vfs.FS, lines []string, seeds ...string) {
	t.Helper()
	for name, text := range map[string][]string{"crawl/logs/crawl.log": lines, "crawl/frontier/seeds": seeds} {
		if err := fsys.MkdirAll(name[:strings.LastIndex(name, "/")]); err != nil {
			t.Fatal(err)
		}
		vfstest.WriteAll(t, fsys, name, []byte(strings.Join(text, "\n")+"\n"))
	}
}

const example = `
T:00   200         30 http://a.test/robots.txt - - text/plain #001 2026+10 - - ok,prerequisite
T:01   503          9 http://a.test/ - - text/html #001 2026+10 - - unavailable,retry
T:02   200        100 http://a.test/ - - text/html #001 2026+10 sha1:A - ok
T:03   200        100 http://a.test/x L - TEXT/HTML #001 2026+10 sha1:A - ok,duplicate:digest
T:04   302          0 http://b.test/ - - unknown #001 2026+10 - - redirect,location:http://a.test/x
T:05   404         20 http://a.test/y LL - text/html #001 2026+10 - - client-error
T:06    -1          - http://no.test/ - - unknown #000 - - - name-not-found
T:07 -9998          - http://a.test/z L - unknown #001 - - - robots-denied
T:08 -4000          - http://a.test/t L - unknown #000 - - - novelty
T:09 -4000          - http://a.test/t L - unknown #000 - - - novelty,requeued
T:10   200         50 https://c.test/ LR - text/html #001 2026+10 - - ok,certificate:expired
T:11 -5000          - http://out.test/ - - unknown #000 - - - not-admitted,scope`

// Each report has the sums of the log's lines, in the order of its keys.
func TestReports_areTheSumsOfTheLog(t *testing.T) {
	fsys := vfs.NewMem(1)
	write(t, fsys, strings.Split(strings.TrimSpace(example), "\n"),
		"http://a.test/", "http://b.test/", "http://no.test/", "http://out.test/", "http://late.test/")
	if err := Write(t.Context(), fsys, "crawl", Options{}); err != nil {
		t.Fatal(err)
	}
	for kind, want := range map[Kind]string{
		Hosts: `host urls pages bytes duplicates redirects client_errors failed refused robots_denied requests
a.test 4 2 220 1 0 1 0 1 1 5
b.test 1 0 0 0 1 0 0 0 0 1
c.test 1 1 50 0 0 0 0 0 0 1
no.test 1 0 0 0 0 0 1 0 0 0`,
		Status: `status urls responses bytes
-1 1 0 0
-9998 1 0 0
200 3 4 250
302 1 1 0
404 1 1 20
503 0 1 0`,
		Types: `type urls bytes
text/html 4 270
unknown 1 0`,
		Depth: `depth urls pages bytes
0 3 1 100
1 3 2 150
2 1 0 20`,
		Hops: `hop urls pages duplicates client_errors bytes
- 3 1 0 0 100
L 4 2 1 1 170`,
		Errors: `outcome host urls example
client-error a.test 1 http://a.test/y
name-not-found no.test 1 http://no.test/
robots-denied a.test 1 http://a.test/z`,
		TLS: `fault host attempts example
expired c.test 1 https://c.test/`,
		Seeds: `seed outcome status redirected_to time
http://a.test/ ok 200 - T:02
http://b.test/ redirect 302 http://a.test/x T:04
http://no.test/ name-not-found -1 - T:06
http://out.test/ not-admitted -5000 - T:11
http://late.test/ queued 0 - -`,
	} {
		got := string(vfstest.ReadAll(t, fsys, "crawl/reports/"+string(kind)+".tsv"))
		got = strings.ReplaceAll(strings.TrimSuffix(got, "\n"), "\t", " ")
		if got != want {
			t.Errorf("%s:\n%s\nwant\n%s", kind, got, want)
		}
	}
	if left, err := fsys.List("crawl/reports"); err != nil || len(left) != len(Kinds()) {
		t.Errorf("files %v, %v", left, err)
	}
}

// With memory for a few rows only, the rows go through a file, and the reports are the same.
func TestReports_doNotDependOnTheMemory(t *testing.T) {
	fsys := vfs.NewMem(1)
	var lines []string
	for i := range 20_000 {
		lines = append(lines, fmt.Sprintf("T   200         10 http://h%d.test/%d - - text/html #001 "+
			"2026+10 - - ok", i*7919%3000, i))
	}
	write(t, fsys, lines)
	text := func(memory int) (rows []string) {
		r, err := Make(t.Context(), fsys, "crawl", []Kind{Hosts}, Options{Temp: fsys, TempDir: "temp", Memory: memory})
		if err != nil {
			t.Fatal(err)
		}
		err = r.Each(t.Context(), Hosts, func(row []string) error {
			rows = append(rows, strings.Join(row, " "))
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	large, small := text(0), text(64<<10)
	if len(large) != 3000 || !slices.Equal(large, small) {
		t.Errorf("%d rows in memory, %d through a file", len(large), len(small))
	}
	if left, err := fsys.List("temp"); err != nil || len(left) != 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
}

// The report of requisites says which page lacks which image, style sheet or script, and why. What was fetched, a page
// that is missing, and what is tried again are not in it.
func TestReports_ofRequisitesSayWhatPagesLack(t *testing.T) {
	fsys := vfs.NewMem(1)
	write(t, fsys, strings.Split(strings.TrimSpace(`
T:01   200        100 http://a.test/ - - text/html #001 2026+10 sha1:A - ok
T:02   404         20 http://a.test/gone.png E http://a.test/ text/html #001 2026+10 - - client-error
T:03   302          0 http://a.test/moved.js E http://a.test/ unknown #001 2026+10 - - redirect
T:04    -1          - http://b.test/x.js ER http://a.test/ unknown #001 2026+10 - - name-not-found
T:05   503          9 http://a.test/late.css LE http://a.test/p text/html #001 2026+10 - - unavailable,retry
T:06   200        100 http://a.test/late.css LE http://a.test/p text/css #001 2026+10 sha1:B - ok
T:07 -9998          - http://a.test/font.woff LEE http://a.test/late.css unknown #001 - - - robots-denied
T:08   404         20 http://a.test/page L - text/html #001 2026+10 - - client-error
T:09 -5003          - http://a.test/many.png E http://a.test/ unknown #001 - - - quota-requisites
T:10 -5003          - http://a.test/again.png E http://a.test/ unknown #001 - - - quota-requisites
T:11 -5003          - http://a.test/again.png E http://a.test/ unknown #001 - - - quota-requisites,requeued
T:12   500         20 http://a.test/old.png E - text/html #001 2026+10 - - server-error`), "\n"))
	if err := Write(t.Context(), fsys, "crawl", Options{}); err != nil {
		t.Fatal(err)
	}
	const want = `page outcome status requisite urls
- server-error 500 http://a.test/old.png 1
http://a.test/ client-error 404 http://a.test/gone.png 1
http://a.test/ name-not-found -1 http://b.test/x.js 1
http://a.test/ quota-requisites -5003 http://a.test/many.png 1
http://a.test/late.css robots-denied -9998 http://a.test/font.woff 1`
	got := string(vfstest.ReadAll(t, fsys, "crawl/reports/requisites.tsv"))
	if got = strings.ReplaceAll(strings.TrimSuffix(got, "\n"), "\t", " "); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
