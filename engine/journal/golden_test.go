package journal

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/zeebo/xxh3"

	"orbweaver/bench/golden"
	"orbweaver/internal/outcome"
	"orbweaver/internal/vfs/vfstest"
)

// A journal with entries of each kind and a sync mark is written as it was, and read as it was.
func TestGolden_journal(t *testing.T) {
	disk := vfstest.WithDir(t, "d")
	before := &File{generation: 6, size: 4711}
	j, err := Create(disk, "d", 7)
	if err == nil {
		err = j.Follow(before)
	}
	page := someEntry()
	entries := []Entry{
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
	content := golden.Compare(
		t,
		"journal-3",
		"d67982c5210500fcb7874348abe8fb14ff2b17d65ef40b3d4f7eb36adcf07e3c",
		vfstest.ReadAll(t, disk, Name("d", 7)),
	)
	if head, ok := decodeJournalHead(content); !ok || head != (journalHead{generation: 6, length: 4711}) {
		t.Errorf("the head is %+v, %v", head, ok)
	}
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
