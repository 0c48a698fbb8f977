package warctool

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"orbweaver/warc"
)

// Verify examines files as one archive: compression, framing, syntax, required fields, digests, identities, references.
// Faults go to Err, the report to Out. The error wraps ErrFaults if there are faults. A file whose name ends in ".open"
// may end in the middle of a record.
func (t *Tool) Verify(files ...string) error {
	v := warc.NewVerifier(warc.VerifyOptions{
		OnFault: func(f *warc.Fault) { t.complain(f) },
		Open:    func(name string) bool { return strings.HasSuffix(name, ".open") },
	})
	for _, name := range files {
		f, err := t.open(name)
		if err != nil {
			return err
		}
		err = v.File(path.Base(name), f)
		_ = f.Close() // opened for reading
		if err != nil {
			return err
		}
	}
	r := v.Finish()
	if err := t.report(&r); err != nil {
		return err
	}
	if !r.OK() {
		return fmt.Errorf("%w: %d", ErrFaults, r.Faults)
	}
	return nil
}

func (t *Tool) report(r *warc.Report) error {
	if t.JSON {
		return t.emit(struct {
			Valid bool `json:"valid"`
			*warc.Report
		}{r.OK(), r})
	}
	var kinds []string
	for kind, n := range r.Types {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	_, err := fmt.Fprintf(
		t.Out,
		"files %d, bytes %d, records %d (%s)\ndigests that match %d, of a kind unknown here %d, of chunked bodies as stored %d\nfaults %d\n",
		r.Files,
		r.Bytes,
		r.Records,
		strings.Join(kinds, ", "),
		r.DigestsChecked,
		r.DigestsUnknown,
		r.ChunkedAsStored,
		r.Faults,
	)
	return err
}
