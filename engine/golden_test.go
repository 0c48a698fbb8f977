package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/golden"
	"orbweaver/engine/attempt"
	"orbweaver/engine/filter"
	"orbweaver/engine/journal"
	"orbweaver/engine/layout"
	"orbweaver/engine/outcome"
	"orbweaver/engine/settings"
	"orbweaver/internal/vfs/vfstest"
)

// A manifest with all its fields is read, and no field of it is lost. What is written has the same number.
func TestGolden_manifest(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	var m manifest
	golden.Fill(&m)
	if err := writeManifest(disk, "d", &m); err != nil {
		t.Fatal(err)
	}
	written := vfstest.ReadAll(t, disk, manifestName("d"))
	if golden.Writing() {
		golden.Add(t, "manifest-7", written)
	}
	content := golden.Read(t, "manifest-7", "11848316d4024c3b56f7ac322aaf2b43e028a45f3b77f41c30a03dd846552f5d")
	vfstest.WriteAll(t, disk, manifestName("d"), content)
	got, err := readManifest(disk, "d")
	if err != nil {
		t.Fatal(err)
	}
	head, body, _ := bytes.Cut(content, []byte("\n"))
	now, _, _ := bytes.Cut(written, []byte("\n"))
	if number := len(manifestMagic) + 1; string(head[:number]) != string(now[:number]) {
		t.Errorf("the file begins with %q, and what is written with %q", head[:number], now[:number])
	}
	again, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	sameValues(t, again, body)
}

// sameValues checks that a JSON text has all values of another one. It may have more.
func sameValues(t *testing.T, got, want []byte) {
	t.Helper()
	var a, b any
	for text, to := range map[*any][]byte{&a: got, &b: want} {
		d := json.NewDecoder(bytes.NewReader(to))
		d.UseNumber()
		if err := d.Decode(text); err != nil {
			t.Fatal(err)
		}
	}
	var visit func(name string, a, b any)
	visit = func(name string, a, b any) {
		in, ok := a.(map[string]any)
		if of, is := b.(map[string]any); is && ok {
			for key, value := range of {
				visit(name+"."+key, in[key], value)
			}
			return
		}
		if listed, is := b.([]any); is {
			if now, ok := a.([]any); ok && len(now) == len(listed) {
				for i := range listed {
					visit(fmt.Sprint(name, ".", i), now[i], listed[i])
				}
				return
			}
		}
		if !reflect.DeepEqual(a, b) {
			t.Errorf("%s is %v, and was %v", name, a, b)
		}
	}
	visit("", a, b)
}

// The list of URLs in flight is written as it was, and read as it was.
func TestGolden_inFlight(t *testing.T) {
	c := &checkpointer{
		aloft: attempt.NewInFlight(), dist: &distributor{held: []byte("held")}, finished: journal.NewFinishedURLs(),
	}
	c.aloft.Add(&attempt.Attempt{URL: []byte("http://a.test/page"), Item: []byte("item")})
	c.finished.Add(xxh3.Uint128{Hi: 5, Lo: 6}, outcome.OK)
	var got []string
	done := journal.NewFinishedURLs()
	err := readAloft(golden.Compare(t, "aloft-1", "ca60423203bc94766999c8530ebb8d2e9434044e8785c03362e6e85fc9b655fa", c.imageOfAloft()), func(key, item []byte) {
		got = append(got, string(key)+" "+string(item))
	}, done)
	finished := done.Append(nil)
	want := []string{"http://a.test item", " held"}
	if err != nil || !slices.Equal(got, want) || !bytes.Equal(finished, c.finished.Append(nil)) {
		t.Errorf("%q, %x, %v", got, finished, err)
	}
}

// The seeds and the host rules of an operator are lines of text.
func TestGolden_seedsAndHostRules(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	if _, err := keepSeeds(disk, "d", seedsOf{"http://A.test/x/../", "http://b.test:8080"}, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	golden.Compare(t, "seeds-1", "e06538718f1d9bd3453f60a035c7d28852bead61a1a57841dfa04b14c26cc05d", vfstest.ReadAll(t, disk, seedsName("d")))
	var none *filter.HostRules
	rules, _, err := none.With(".a.test exclude", "b.test host-delay=4s")
	if err == nil {
		err = settings.WriteHostRules(disk, "d", rules)
	}
	if err != nil {
		t.Fatal(err)
	}
	text := golden.Compare(t, "host-rules-1", "601e3da0c5bbc6142c91c26190949b0c16ccd6b58518fbfbbdc186c3c6946632", vfstest.ReadAll(t, disk, settings.HostRulesName("d")))
	back, taken, err := none.With(strings.Split(strings.TrimSpace(string(text)), "\n")...)
	if err != nil || taken != 2 || !slices.Equal(back.Texts(), rules.Texts()) {
		t.Errorf("%d rules taken: %q, %v", taken, back.Texts(), err)
	}
}

// report.json has all the names that it had, with values of the same types.
func TestGolden_report(t *testing.T) {
	var r Report
	golden.Fill(&r)
	disk := vfstest.WithDir(t, "d")
	if err := WriteReport(disk, "d", r); err != nil {
		t.Fatal(err)
	}
	names := golden.Names(t, vfstest.ReadAll(t, disk, "d/"+layout.ReportFile))
	if golden.Writing() {
		golden.Add(t, "report-1.txt", []byte(strings.Join(names, "\n")))
	}
	golden.Contains(t, names, strings.Split(string(golden.Read(t, "report-1.txt", "b02e3b051e1f30b6225ed8164e5300270829592a0b42de211374abd8994a9674")), "\n"))
}
