package journal

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/engine/page/parse"
	"orbweaver/engine/state/counters"
	"orbweaver/internal/golden"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs/vfstest"
)

// goldenEntries are those of the golden file of the former format.
func goldenEntries() []Entry {
	page := someEntry()
	return []Entry{
		page,
		{
			Kind:    KindRetry,
			FP:      xxh3.Uint128{Hi: 1, Lo: 2},
			Outcome: outcome.ServerError,
			Status:  503,
			SiteDue: 2e11,
			IPDue:   -1,
		},
		{
			Kind:    KindRobots,
			FP:      xxh3.Uint128{Hi: 3, Lo: 4},
			Outcome: outcome.OK,
			Status:  200,
			Serial:  1,
			Offset:  900,
			Length:  77,
		},
		{Kind: KindMessage, Links: []byte("a message of another agent")},
	}
}

// A journal with entries of each kind and a sync mark is written as it was, and read as it was.
func TestGolden_journal(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	before := &File{generation: 6, size: 4711}
	j, err := Create(disk, "d", 7)
	if err == nil {
		err = j.Follow(before)
	}
	entries := append(goldenEntries(), []Entry{
		{
			Kind: KindPage, FP: xxh3.Uint128{Hi: 5, Lo: 6}, Outcome: outcome.NotModified, Status: 304, Depth: 1 << 20, Embeds: 4,
			Hops: 2, Links: AppendLink(nil, parse.Image, []byte("http://b.test/a.png")),
		},
		{Kind: KindPage, FP: xxh3.Uint128{Hi: 7, Lo: 8}, Outcome: outcome.OK, Status: 200, Depth: 2, Speculative: true},
	}...)
	for i := range entries {
		if err == nil {
			err = j.append(&entries[i])
		}
		j.safe = Position{generation: 7, length: j.size}
	}
	if err == nil {
		err = j.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	content := golden.Compare(t, "journal-4", "509695942037879ad39e629a038bb8b80fe7624c60d3ebf4f9fe8db2829edd25",
		vfstest.ReadAll(t, disk, Name("d", 7)))
	if head, ok := decodeJournalHead(content); !ok || head != (journalHead{generation: 6, length: 4711}) {
		t.Errorf("the head is %+v, %v", head, ok)
	}
	checkGolden(t, content, entries)
}

// checkGolden reads a journal, which must have these entries.
func checkGolden(t *testing.T, content []byte, entries []Entry) {
	t.Helper()
	disk := vfstest.WithDir(t, "d")
	vfstest.WriteAll(t, disk, Name("d", 7), content)
	var got []Entry
	end, err := Read(disk, Name("d", 7), func(e *Entry) error {
		one := *e
		one.Links = bytes.Clone(e.Links)
		got = append(got, one)
		return nil
	})
	for i := range entries {
		if len(entries[i].Links) == 0 && i < len(got) && len(got[i].Links) == 0 {
			entries[i].Links, got[i].Links = nil, nil
		}
	}
	if err != nil || end != int64(len(content)) || !reflect.DeepEqual(got, entries) {
		t.Errorf("%d of %d bytes read, %v:\n got %+v\nwant %+v", end, len(content), err, got, entries)
	}
}

// A journal of the former format has no embed hops and no kinds of links. It is read.
func TestGolden_formerJournal(t *testing.T) {
	checkGolden(t, golden.Read(t, "journal-3", "d67982c5210500fcb7874348abe8fb14ff2b17d65ef40b3d4f7eb36adcf07e3c"),
		goldenEntries())
}

// A mined URL has the number 6 above its depth.
func TestEntry_ofAMinedURL(t *testing.T) {
	want := Entry{Kind: KindPage, Outcome: outcome.OK, Status: 200, Depth: 3, Mined: true, Links: []byte{}}
	b := appendJournalEntry(nil, &want)
	got, n, err := decodeJournalEntry(b)
	if err != nil || n != len(b) || b[26] != 6<<5 || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v, %x", got, err, b[26])
	}
}

// Sums stand before the links, and come back as they were. Bytes that append would not write are no entry.
func TestEntry_withSums(t *testing.T) {
	want := someEntry()
	want.Sums = counters.AppendSum(counters.AppendSum(nil, "pages", 1), "bytes", -0.5)
	b := appendJournalEntry(nil, &want)
	got, n, err := decodeJournalEntry(b)
	if err != nil || n != len(b) || len(b) != want.size() || !reflect.DeepEqual(got, want) {
		t.Errorf("%d of %d bytes, %v: %+v", n, len(b), err, got)
	}
	var sums counters.Sums
	sums.Add("bytes", 1.5)
	if err := sums.AddAll(got.Sums); err != nil || sums.Load()["pages"] != 1 || sums.Load()["bytes"] != 1 {
		t.Errorf("%v, %v", sums.Load(), err)
	}
	for cut := 1; cut < len(want.Sums); cut++ {
		if err := new(counters.Sums).AddAll(want.Sums[:cut]); err == nil && cut != 14 {
			t.Errorf("%d bytes of sums are read", cut)
		}
	}
}

// A rule stands behind the sums, or alone, and comes back as it was.
func TestEntry_withARule(t *testing.T) {
	for _, sums := range [][]byte{nil, counters.AppendSum(nil, "pages", 1)} {
		want := someEntry()
		want.Sums, want.Rule = sums, []byte("spam.test exclude")
		b := appendJournalEntry(nil, &want)
		got, n, err := decodeJournalEntry(b)
		if err != nil || n != len(b) || len(b) != want.size() || !reflect.DeepEqual(got, want) {
			t.Errorf("%d of %d bytes, %v: %+v", n, len(b), err, got)
		}
	}
}
