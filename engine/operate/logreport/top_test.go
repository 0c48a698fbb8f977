package logreport

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"orbweaver/internal/vfs"
)

// The first part of a report has the largest rows, and says how much there is in all. It is the same from the log and
// from the files that the end of a run writes.
func TestTop_hasTheLargestRows(t *testing.T) {
	fsys := vfs.NewMem(1)
	write(t, fsys, strings.Split(strings.TrimSpace(example), "\n"),
		"http://a.test/", "http://no.test/", "http://late.test/")
	if err := Write(t.Context(), fsys, "crawl", Options{}); err != nil {
		t.Fatal(err)
	}
	r, err := Make(t.Context(), fsys, "crawl", Kinds(), Options{Temp: vfs.NewMem(1), TempDir: "."})
	if err != nil {
		t.Fatal(err)
	}
	written, err := ReadTops(fsys, "crawl", 2)
	if err != nil || len(written) != len(Kinds()) {
		t.Fatalf("%d reports, %v", len(written), err)
	}
	for i, k := range Kinds() {
		top, err := r.Top(t.Context(), k, 2)
		if err != nil || !reflect.DeepEqual(top, written[i]) {
			t.Errorf("%s: %v\nmade    %+v\nwritten %+v", k, err, top, written[i])
		}
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	for kind, want := range map[Kind]string{
		Hosts:  "[a.test b.test] of 4, 7",
		Status: "[200 -1] of 6, 7",
		Seeds:  "[http://no.test/ http://late.test/] of 3, 0",
	} {
		var names []string
		var of Top
		for _, top := range written {
			if top.Kind == kind {
				of = top
			}
		}
		for _, row := range of.Rows {
			names = append(names, row[0])
		}
		if got := fmt.Sprintf("%v of %d, %d", names, of.All, of.Sum); got != want {
			t.Errorf("%s: %s, want %s", kind, got, want)
		}
	}
}

// The last failures are those of servers and of the way to them, the newest first, with the page that links to them.
func TestListFailures_isTheEndOfTheLog(t *testing.T) {
	fsys := vfs.NewMem(1)
	lines := strings.Split(strings.TrimSpace(example), "\n")
	for i := range 20_000 { // more than is read
		lines = append(lines, fmt.Sprintf("T:20   200         30 http://a.test/%d L - text/html #001 2026+10 - - ok", i))
	}
	lines = append(lines,
		"T:30   404         30 http://a.test/i.png E http://a.test/page text/html #001 2026+10 - - client-error",
		"T:31   503         30 http://a.test/q L - text/html #001 2026+10 - - unavailable,retry")
	write(t, fsys, lines)
	list, err := ListFailures(t.Context(), fsys, "crawl", 9)
	got := fmt.Sprintf("%+v", list.Failures)
	const want = "[{Time:T:31 URL:http://a.test/q Outcome:unavailable Status:503 Page: Final:false} " +
		"{Time:T:30 URL:http://a.test/i.png Outcome:client-error Status:404 Page:http://a.test/page Final:true}]"
	if err != nil || got != want {
		t.Errorf("%v\n%s", err, got)
	}
	if list, err = ListFailures(t.Context(), fsys, "crawl", 1); err != nil || len(list.Failures) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if list, err = ListFailures(t.Context(), vfs.NewMem(1), "crawl", 1); err != nil || len(list.Failures) != 0 {
		t.Errorf("without a log: %v, %v", list, err)
	}
}
