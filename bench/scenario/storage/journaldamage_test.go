//go:build scenario

package storage

import (
	"testing"
	"testing/synctest"

	"orbweaver/bench/scenario/testbed"
	"orbweaver/engine/durable/inspect"
)

// A wrong byte in an entry of the journal that the disk had confirmed hides every entry behind it. Going on fetches
// their URLs again, so fsck may not call the directory sound before that.
func TestHostile_S08_wholeEntriesBehindADamagedOneAreAFault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk, cfg := tornWorld(t)
		r := testbed.Fsck(t, disk)
		testbed.WantSound(t, &r)
		view, err := inspect.Open(disk, "crawl")
		if err != nil {
			t.Fatal(err)
		}
		journal := "crawl/" + view.JournalFile()
		testbed.FlipByte(t, disk, journal, 40) // the first entry
		r = testbed.Fsck(t, disk)
		if !names(&r, journal) {
			r.Print(t.Output())
			t.Errorf("no fault of %s is named", journal)
		}
		wholeAgain(t, "the crawl that went on", disk, cfg)
	})
}
