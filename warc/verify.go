package warc

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"orbweaver/warc/member"
)

// Report is the result of a Verifier.
type Report struct {
	Files   int            `json:"files"`
	Records int            `json:"records"`
	Bytes   int64          `json:"bytes"`
	Types   map[string]int `json:"types"`
	// DigestsChecked counts matching digests; DigestsUnknown those with unknown functions.
	DigestsChecked int `json:"digests_checked"`
	DigestsUnknown int `json:"digests_unknown"`
	// ChunkedAsStored counts payload digests of chunked bodies that include the chunking, as wget writes them.
	ChunkedAsStored int `json:"chunked_as_stored"`
	// RevisitsElsewhere counts revisit records that name a file of another archive.
	RevisitsElsewhere int `json:"revisits_elsewhere"`
	// Faults is their number; at most VerifyOptions.FaultsMax per file are passed to OnFault.
	Faults int `json:"faults"`
}

// OK reports whether there are no faults.
func (r *Report) OK() bool { return r.Faults == 0 }

// VerifyOptions configure a Verifier.
type VerifyOptions struct {
	// OnFault is called with each fault, up to FaultsMax per file. Default: none; faults are only counted.
	OnFault func(*Fault)
	// PerFile means that records name only others of their own file, as ours do. Then identities and references are
	// checked per file, and the memory is that of one file.
	PerFile bool
	// FaultsMax is the number of faults per file that are passed to OnFault. Default 100.
	FaultsMax int
	// Open reports whether the file of this name is still being written, so that a truncated record at its end is no
	// fault. Default: none is.
	Open func(name string) bool
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o VerifyOptions) WithDefaults() VerifyOptions {
	if o.FaultsMax == 0 {
		o.FaultsMax = 100
	}
	if o.OnFault == nil {
		o.OnFault = func(*Fault) {}
	}
	if o.Open == nil {
		o.Open = func(string) bool { return false }
	}
	return o
}

// Verifier checks the files of an archive in order, and finally the references between their records. It needs 32 bytes
// of memory per record and per reference; with PerFile only for one file.
type Verifier struct {
	o        VerifyOptions
	report   Report
	names    []string
	reader   *Reader
	reported int

	ids  []seenID
	refs []reference
}

// Key represents the identity of a record: a UUID, or for other forms the first half of the SHA-256.
type Key [16]byte

type seenID struct {
	key    Key
	file   int32
	_      int32
	offset int64
}

type reference struct {
	to     Key
	file   int32
	kind   int32
	offset int64
}

// referenceFields returns the fields that must name a record of the archive. WARC-Refers-To may name a record of
// another archive.
func referenceFields() []string { return []string{"WARC-Concurrent-To", "WARC-Warcinfo-ID"} }

// NewVerifier makes a Verifier.
func NewVerifier(o VerifyOptions) *Verifier {
	reader := NewReader(strings.NewReader(""), ReaderOptions{})
	return &Verifier{o: o.WithDefaults(), reader: reader, report: Report{Types: map[string]int{}}}
}

// tell counts a fault and reports it.
func (v *Verifier) tell(f *Fault) {
	v.report.Faults++
	if v.reported++; v.reported <= v.o.FaultsMax {
		v.o.OnFault(f)
	}
}

// File checks a file: compression, framing, syntax, required fields, digests. It returns only errors of reading r;
// faults of the content are reported and counted.
func (v *Verifier) File(name string, r io.Reader) error {
	o := ReaderOptions{Name: name, Syntax: Warn, Spec: Warn, Block: Warn, OnFault: v.tell}
	v.reported = 0
	v.names = append(v.names, name)
	v.report.Files++
	v.reader.Reset(r, o)
	defer v.reader.Close()
	count := 0
	var end int64
	err := ScanRecords(v.reader, func(rec *RecordRead) error {
		count++
		v.report.Records++
		v.report.Types[rec.Type.String()]++
		if rec.Type == Revisit && rec.Get("WARC-Refers-To-Filename") != "" {
			v.report.RevisitsElsewhere++
		}
		v.note(rec)
		if err := skipBlock(rec); err != nil {
			return err
		}
		end = rec.Offset + rec.Length
		v.digests(rec)
		return nil
	}, func(f *Fault) error { v.damaged(name, f); return nil })
	if err != nil {
		return err
	}
	if count == 0 && v.reported == 0 && !v.o.Open(name) {
		v.tell(&Fault{Kind: member.ErrNotWARC, File: name, What: "no record"})
	}
	v.report.Bytes += max(end, v.reader.content.src.Offset())
	if v.o.PerFile {
		v.references()
	}
	return nil
}

// damaged reports a fault that ended the reading of a record.
func (v *Verifier) damaged(name string, f *Fault) {
	if errors.Is(f, member.ErrTruncated) && v.o.Open(name) {
		return
	}
	v.tell(f)
}

// note stores the identity and the references of a record.
func (v *Verifier) note(rec *RecordRead) {
	file := int32(len(v.names) - 1)
	if id := rec.Get("WARC-Record-ID"); id != "" {
		v.ids = append(v.ids, seenID{key: KeyOf(id), file: file, offset: rec.Offset})
	}
	for kind, name := range referenceFields() {
		for _, f := range rec.Fields {
			if strings.EqualFold(f.Name, name) {
				v.refs = append(v.refs, reference{to: KeyOf(f.Value), file: file, kind: int32(kind), offset: rec.Offset})
			}
		}
	}
}

func (v *Verifier) digests(rec *RecordRead) {
	d := rec.digests.Counts()
	v.report.DigestsUnknown += d.Unknown
	v.report.DigestsChecked += d.Matched
	if d.AsStored {
		v.report.ChunkedAsStored++
	}
}

// KeyOf returns the key of an identity, as it is in the fields of a record.
func KeyOf(id string) Key {
	if u, err := ParseID(id); err == nil {
		return Key(u)
	}
	sum := sha256.Sum256([]byte(unbracket(id)))
	return Key(sum[:16])
}

// Finish checks for repeated identities and dangling references over all files, unless PerFile is set, and returns the
// Report. The Verifier must not be used afterwards.
func (v *Verifier) Finish() Report {
	v.reported = 0
	v.references()
	return v.report
}

func (v *Verifier) references() {
	slices.SortFunc(v.ids, func(a, b seenID) int {
		return cmp.Or(bytes.Compare(a.key[:], b.key[:]), cmp.Compare(a.file, b.file), cmp.Compare(a.offset, b.offset))
	})
	for i := 1; i < len(v.ids); i++ {
		if a, b := v.ids[i-1], v.ids[i]; a.key == b.key {
			v.tell(&Fault{Kind: ErrReference, File: v.names[b.file], Offset: b.offset,
				What: fmt.Sprintf("its WARC-Record-ID is also that of the record in %s at %d", v.names[a.file], a.offset)})
		}
	}
	fields := referenceFields()
	for _, r := range v.refs {
		_, ok := slices.BinarySearchFunc(v.ids, r.to, func(a seenID, k Key) int { return bytes.Compare(a.key[:], k[:]) })
		if !ok {
			v.tell(&Fault{Kind: ErrReference, File: v.names[r.file], Offset: r.offset,
				What: fields[r.kind] + " names a record that is not there"})
		}
	}
	v.ids, v.refs = v.ids[:0], v.refs[:0]
}
