package warctool

import (
	"cmp"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"orbweaver/internal/textfile"
	"orbweaver/warc"
)

// Row is the line of List for a record.
type Row struct {
	File          string `json:"file"`
	Offset        int64  `json:"offset"`
	Length        int64  `json:"length"` // in the file; 0 if the record shares its member
	Type          string `json:"type"`
	Date          string `json:"date"`
	ContentLength int64  `json:"content_length"`
	URI           string `json:"uri,omitempty"`
	ID            string `json:"id,omitempty"`
	Truncated     string `json:"truncated,omitempty"`
	PayloadDigest string `json:"payload_digest,omitempty"`
}

// List writes one line for each record: offset, length, type, date, length of the block, URI, separated by tabs; with
// several files the file's name first. Records that follow a damaged place are listed too, and the error then wraps
// ErrFaults.
func (t *Tool) List(files ...string) error {
	return t.eachOf(files, func(file string, rec *warc.RecordRead) error {
		// The length of a record is known at its end, and a torn record is a fault without a row.
		if _, err := io.Copy(io.Discard, rec); err != nil {
			return err
		}
		return t.row(rec, file, len(files) > 1)
	})
}

func (t *Tool) row(rec *warc.RecordRead, file string, named bool) error {
	kind := rec.Type.String()
	if rec.Type == warc.Unknown {
		kind = rec.Get("WARC-Type")
	}
	row := Row{File: file, Offset: rec.Offset, Length: rec.Length, Type: kind, Date: rec.Get("WARC-Date"),
		ContentLength: rec.ContentLength, URI: string(rec.TargetURI), ID: rec.Get("WARC-Record-ID"),
		Truncated: rec.Get("WARC-Truncated"), PayloadDigest: rec.Get("WARC-Payload-Digest")}
	if t.JSON {
		return t.emit(row)
	}
	if named {
		if _, err := fmt.Fprintf(t.Out, "%s\t", textfile.Plain(file)); err != nil {
			return err
		}
	}
	date := textfile.Plain(row.Date)
	if !rec.Date.IsZero() {
		date = rec.Date.Format(time.RFC3339)
	}
	uri := textfile.Plain(row.URI)
	if uri == "" {
		uri = "-"
	}
	_, err := fmt.Fprintf(t.Out, "%d\t%d\t%s\t%s\t%d\t%s\n",
		row.Offset, row.Length, textfile.Plain(kind), date, row.ContentLength, uri)
	return err
}

// Judged says what a response is: the service that sent it in place of a page, and the place of the rule that says so.
// Both are empty for a page.
type Judged struct {
	Service string `json:"service,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Status  int    `json:"status"`
}

// Walls writes a line for each record that judge knows: service and place of the rule, or - for both, status and URI,
// separated by tabs. ok is false for a record that is no response of a web server. The error wraps ErrFaults if the
// files have faults.
func (t *Tool) Walls(judge func(rec *warc.RecordRead) (j Judged, ok bool, err error), files ...string) error {
	return t.eachOf(files, func(file string, rec *warc.RecordRead) error {
		j, ok, err := judge(rec)
		if err != nil || !ok {
			return err
		}
		if t.JSON {
			return t.emit(struct {
				Judged
				URI    string `json:"uri"`
				File   string `json:"file"`
				Offset int64  `json:"offset"`
			}{j, string(rec.TargetURI), file, rec.Offset})
		}
		_, err = fmt.Fprintf(t.Out, "%s\t%s\t%d\t%s\n", cmp.Or(j.Service, "-"), cmp.Or(textfile.Plain(j.Rule), "-"), j.Status,
			textfile.Plain(string(rec.TargetURI)))
		return err
	})
}

// Verify examines files as one archive: compression, framing, syntax, required fields, digests, identities, references.
// Faults go to Err, the report to Out. The error wraps ErrFaults if there are faults. A file whose name ends in ".open"
// may end in the middle of a record.
func (t *Tool) Verify(files ...string) error { return t.verify(&manifestCheck{}, files...) }

// VerifyAgainst is Verify, and compares length and SHA-256 of each file with a manifest. A directory stands for the
// WARC files in it. Without files, it is the directory of the manifest. Each file is read once.
func (t *Tool) VerifyAgainst(manifest string, files ...string) error {
	c, err := newManifestCheck(t.FS, manifest)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		files = []string{path.Dir(manifest)}
	}
	if files, _, err = warc.FindInputs(t.FS, files...); err != nil {
		return err
	}
	return t.verify(c, files...)
}

func (t *Tool) verify(c *manifestCheck, files ...string) error {
	v := warc.NewVerifier(warc.VerifyOptions{
		OnFault: func(f *warc.Fault) { t.complain(f) },
		Open:    func(name string) bool { return strings.HasSuffix(name, ".open") },
	})
	unopened := 0
	for _, name := range files {
		f, err := t.open(name)
		if c.isElsewhere(name, err) {
			t.complain(err)
			continue
		}
		if err != nil { // the other files may be there
			t.complain(err)
			unopened++
			continue
		}
		from, end := c.reader(name, f)
		if err = v.File(path.Base(name), from); err == nil {
			err = end(t.complain)
		}
		_ = f.Close() // opened for reading
		if err != nil {
			return err
		}
	}
	r := v.Finish()
	r.Faults += unopened
	c.finish(t.complain)
	if err := t.report(&r, c); err != nil {
		return err
	}
	if faults := r.Faults + c.result.faults(); faults > 0 {
		return fmt.Errorf("%w: %d", ErrFaults, faults)
	}
	return nil
}

func (t *Tool) report(r *warc.Report, c *manifestCheck) error {
	var compared *ManifestResult
	if c.listed != nil {
		compared = &c.result
	}
	if t.JSON {
		return t.emit(struct {
			Valid    bool            `json:"valid"`
			Manifest *ManifestResult `json:"manifest,omitempty"`
			*warc.Report
		}{r.OK() && c.result.faults() == 0, compared, r})
	}
	if compared != nil {
		text := fmt.Sprintf("manifest: %d match, %d differ, %d missing, %d not in it", compared.Matched, compared.Differ,
			compared.Missing, compared.Unlisted)
		if compared.Elsewhere > 0 {
			text += fmt.Sprintf(", %d elsewhere and not read", compared.Elsewhere)
		}
		_, err := fmt.Fprintln(t.Out, text)
		if err != nil {
			return err
		}
	}
	var kinds []string
	for kind, n := range r.Types {
		kinds = append(kinds, fmt.Sprintf("%d %s", n, kind))
	}
	slices.Sort(kinds)
	verdict := "no errors"
	switch faults := r.Faults + c.result.faults(); faults {
	case 0:
	case 1:
		verdict = "1 error"
	default:
		verdict = fmt.Sprintf("%d errors", faults)
	}
	files := "files"
	if r.Files == 1 {
		files = "file"
	}
	elsewhere := ""
	if r.RevisitsElsewhere > 0 {
		elsewhere = fmt.Sprintf("%d revisits refer to records of other archives: keep those\n", r.RevisitsElsewhere)
	}
	_, err := fmt.Fprintf(t.Out, "%d %s, %d bytes, %d records (%s)\n"+
		"%d digests verified, %d with an unsupported algorithm, %d computed over chunked bodies\n%s%s\n",
		r.Files, files, r.Bytes, r.Records, strings.Join(kinds, ", "),
		r.DigestsChecked, r.DigestsUnknown, r.ChunkedAsStored, elsewhere, verdict)
	return err
}
