package fsck

import (
	"errors"
	"io/fs"

	"orbweaver/engine/state/layout"
	"orbweaver/engine/store/journal"
	"orbweaver/internal/urlx"
	"orbweaver/warc"
)

// journaled is what the journal says of the archive behind the checkpoint.
type journaled struct {
	end     warc.Checkpoint // of the last record that an entry names
	records int64           // entries that name records which are there
}

// journalCheck checks the entries of the journal against the archive.
type journalCheck struct{ *checker }

// checkJournal follows the journal from the checkpoint on: each entry must name whole records, one behind the other.
func (c *journalCheck) checkJournal() journaled {
	var j journaled
	if !c.hasCut || c.ctx.Err() != nil {
		return j
	}
	const area = "journal"
	c.o.Progress(c.cut.JournalFile())
	j.end = c.cut.ArchiveEnd()
	archive := warc.OpenArchive(c.fsys, c.path(layout.ArchiveDir)).Behind(c.cut.ArchiveEnd())
	entries, short := int64(0), false
	tails, err := c.cut.Journal(func(e journal.Attempt) error {
		entries++
		if e.Stored && !short {
			short = !c.entry(archive, &e, &j)
		}
		return c.ctx.Err()
	})
	if err = errors.Join(err, archive.Close()); err != nil {
		c.fail(area, c.cut.JournalFile(), err)
	}
	c.checked(area, entries, "attempts")
	if c.cut.Clean && entries > 0 {
		c.fault(area, c.cut.JournalFile(),
			"%d entries, and the checkpoint says that the crawl stopped in order: they would be lost", entries)
	}
	for _, t := range tails {
		switch {
		case t.Synced:
			c.fault(
				area,
				t.File,
				"damaged at %d, which the disk had confirmed; %d whole entries behind that do not count any more: "+
					"going on fetches their URLs again, and cuts their records off the archive",
				t.Offset,
				t.Unread,
			)
		case t.Unread > 0:
			c.note(area, t.File,
				"damaged at %d; %d whole entries behind that do not count any more, and their URLs are fetched again",
				t.Offset, t.Unread)
		case t.Torn:
			c.note(area, t.File, "the last entry, at %d, is torn; it was not acknowledged", t.Offset)
		}
	}
	return j
}

// entry checks one entry's records. False says that the archive ends before them, and that nothing from here on counts.
func (c *journalCheck) entry(archive *warc.Archive, e *journal.Attempt, j *journaled) bool {
	const area = "journal"
	w := e.Where
	begin := warc.Checkpoint{Serial: w.Serial, Length: w.Offset}
	if begin.Before(j.end) {
		c.fault(area, e.File,
			"an entry names records at %d of file %d, before the end of those that were named already", w.Offset,
			w.Serial)
		return true
	}
	var main warc.RecordRead
	_, err := archive.EachOfGroup(w, func(i int, rec *warc.RecordRead) error {
		if i == 0 {
			main = *rec
		}
		return nil
	})
	var damage *warc.Fault
	if errors.Is(err, fs.ErrNotExist) || errors.As(err, &damage) {
		// A power cut may keep an entry that was not synced yet and lose its records.
		c.note(area, e.File,
			"the records at %d of file %05d are not whole; what the journal names from there on is fetched again (%v)",
			w.Offset, w.Serial, err)
		return false
	}
	if err != nil {
		c.fail(area, e.File, err)
		return false
	}
	if t := main.Type; t != warc.Response && t != warc.Revisit && t != warc.Resource {
		c.fault(area, e.File, "an entry names a %s record at %d of file %d", t, w.Offset, w.Serial)
	}
	if fp := urlx.Fingerprint(c.cut.HashSeed, main.TargetURI); fp != e.FP {
		c.fault(area, e.File, "an entry names the record of another URL, %.200q, at %d of file %05d (I2)",
			main.TargetURI, w.Offset, w.Serial)
	}
	j.end = w.End()
	j.records++
	return true
}
