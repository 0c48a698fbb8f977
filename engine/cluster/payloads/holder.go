package payloads

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"orbweaver/engine/cluster/message"
	"orbweaver/engine/records/dedup"
	"orbweaver/engine/state/cluster"
	"orbweaver/internal/vfs"
	"orbweaver/warc"
	"orbweaver/warc/lookup"
)

// HolderOptions are what a Holder needs of its agent.
type HolderOptions struct {
	FS      vfs.FS
	Dir     string                // of the WARC files
	Stored  func() *dedup.Map     // payloads that this agent has stored
	Writing func() lookup.Writing // WARC files that are not closed
}

// Holder answers what this agent has stored.
type Holder struct {
	o       HolderOptions
	marked  int64        // end of the map at the checkpoint under way; one caller
	durable atomic.Int64 // end of the map at the last durable checkpoint
	turn    sync.Mutex   // held while a list is read: one agent at a time
	files   archiveFiles
}

// NewHolder returns a Holder that has nothing durable.
func NewHolder(o HolderOptions) *Holder {
	return &Holder{o: o, files: archiveFiles{fs: o.FS, dir: o.Dir}}
}

// Restore says how far the map was durable when this run began.
func (h *Holder) Restore(end int64) { h.durable.Store(end) }

// Mark notes the end of the map for a checkpoint, while it does not change.
func (h *Holder) Mark() { h.marked = h.o.Stored().Stats().EntryBytes }

// Publish says that the checkpoint of the last Mark is durable.
func (h *Holder) Publish() { h.durable.Store(h.marked) }

// errBusy says that another agent reads the list.
var errBusy = errors.New("payloads: this agent is answering another question about digests")

// AnswerDigests answers message.QuestionDigests, which the content is without. A place behind the end of the list is of
// other data: the answer leads to the beginning.
func (h *Holder) AnswerDigests(content []byte) ([]byte, error) {
	from, err := message.ReadDigestsQuestion(content)
	if err != nil {
		return nil, err
	}
	if !h.turn.TryLock() {
		return nil, errBusy
	}
	defer h.turn.Unlock()
	end := h.durable.Load()
	d := message.Digests{Next: from}
	if from > end {
		d.Next = 0
	} else if from < end {
		next, over, err := h.o.Stored().Walk(from, end, message.DigestsMax, func(digest dedup.Digest) {
			d.Digest = append(d.Digest, digest[:]...)
		})
		if err != nil {
			return nil, fmt.Errorf("payloads: digests from %d on: %w", from, err)
		}
		d.Next, d.More = next, !over
	}
	return d.Append(nil), nil
}

// AnswerPayload answers message.QuestionPayload, which the content is without. The answer is empty if no record has the
// payload, or if the record cannot be read now.
func (h *Holder) AnswerPayload(ctx context.Context, content []byte) ([]byte, error) {
	digest, err := message.ReadPayloadQuestion(content)
	if err != nil {
		return nil, err
	}
	first, ok, err := h.o.Stored().Lookup(digest)
	if err != nil || !ok {
		return nil, err
	}
	r, err := h.find(ctx, first, digest)
	if errors.Is(err, errNoRecord) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return message.AppendPayloadRecord(nil, r), nil
}

// errNoRecord says that the record of a payload is not where it should be.
var errNoRecord = errors.New("payloads: the record of a payload is not found")

// find finds the record that the map names, and reads its head: PS1. A file may be closed meanwhile, and gets another
// name: the second try lists the files again.
func (h *Holder) find(ctx context.Context, first dedup.First, digest dedup.Digest) (*cluster.PayloadRecord, error) {
	for _, isSecond := range []bool{false, true} {
		paths, err := h.files.around(first.Date, isSecond)
		if err != nil {
			return nil, err
		}
		files := lookup.NewFiles(lookup.Options{FS: h.o.FS, Files: paths, Writing: h.o.Writing()})
		r, err := findIn(ctx, lookup.New(files), first, digest)
		err = errors.Join(err, files.Close())
		if err == nil || !errors.Is(err, errNoRecord) {
			return r, err
		}
	}
	return nil, errNoRecord
}

// findIn finds a record by the index of some files.
func findIn(
	ctx context.Context, archive *lookup.Archive, first dedup.First, digest dedup.Digest,
) (*cluster.PayloadRecord, error) {
	key, _, err := lookup.KeyOf([]byte(first.URI))
	if err != nil {
		return nil, errNoRecord
	}
	want := lookup.CaptureAt("", 0, first.URI, first.Date)
	var found []lookup.Capture
	err = archive.Scan(ctx, lookup.Exact(key), func(line []byte) error {
		c, err := lookup.ParseCapture(line)
		if err == nil && !c.Revisit && c.Stamp == want.Stamp && bytes.Equal(c.URL, want.URL) {
			found = append(found, c)
		}
		return nil //nolint:nilerr // a damaged line is no capture
	})
	if err != nil {
		return nil, err
	}
	for i := range found {
		if r := read(archive, &found[i], first, digest); r != nil {
			return r, nil
		}
	}
	return nil, errNoRecord
}

// read reads the head of a record; nil if it is not the record that the map names, or cannot be read.
func read(archive *lookup.Archive, c *lookup.Capture, first dedup.First, digest dedup.Digest) *cluster.PayloadRecord {
	rec, err := archive.Open(c)
	if err != nil {
		return nil
	}
	isIt := rec.Type == warc.Response && rec.ID == warc.ID(first.RecordID) && rec.PayloadDigest != nil &&
		dedup.Digest(*rec.PayloadDigest) == digest && rec.Get("WARC-Truncated") == ""
	first.Date = rec.Date
	if err := rec.Close(); err != nil || !isIt {
		return nil
	}
	return &cluster.PayloadRecord{First: first, File: string(c.File), Offset: c.Offset}
}
