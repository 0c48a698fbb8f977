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
)

// Report is what Verify found.
type Report struct {
	Files   int            `json:"files"`
	Records int            `json:"records"`
	Bytes   int64          `json:"bytes"`
	Types   map[string]int `json:"types"`
	// DigestsChecked counts digests that match their bytes; DigestsUnknown those by functions that we do not know.
	DigestsChecked int `json:"digests_checked"`
	DigestsUnknown int `json:"digests_unknown"`
	// ChunkedAsStored counts payload digests of chunked bodies that were made with the chunking in, as wget does.
	ChunkedAsStored int `json:"chunked_as_stored"`
	// Faults is their number; at most VerifyOptions.FaultsMax of them are given to OnFault, per file.
	Faults int `json:"faults"`
}

// OK tells whether nothing is wrong.
func (r *Report) OK() bool { return r.Faults == 0 }

// VerifyOptions say what a Verifier looks at and whom it tells.
type VerifyOptions struct {
	// OnFault is called with each fault, up to FaultsMax of each file. Default: nobody is told, they are counted.
	OnFault func(*Fault)
	// PerFile says that records name others of their own file only, as ours do. Then identities and references are looked at
	// file by file, and memory is that of one.
	PerFile bool
	// FaultsMax is how many faults of a file are told. Default 100.
	FaultsMax int
	// Open says of a file name that it is still being written, so that a record that is cut off at its end is no fault. Default: none is.
	Open func(name string) bool
}

// WithDefaults returns a copy in which what was zero is filled in.
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

// Verifier examines the files of one archive, one after another, and in the end whether their records name each other rightly.
// It holds 32 bytes in memory for each record, and 32 for each reference; under PerFile those of one file.
type Verifier struct {
	o      VerifyOptions
	report Report
	names  []string
	reader *Reader
	told   int

	ids  []seenID
	refs []reference
}

// key stands for an identity of whatever form: the first half of its SHA-256.
type key [16]byte

type seenID struct {
	key    key
	file   int32
	_      int32
	offset int64
}

type reference struct {
	to     key
	file   int32
	kind   int32
	offset int64
}

// referenceFields are the fields that must name a record of the archive. WARC-Refers-To may name one of another.
func referenceFields() []string { return []string{"WARC-Concurrent-To", "WARC-Warcinfo-ID"} }

// NewVerifier makes a Verifier.
func NewVerifier(o VerifyOptions) *Verifier {
	return &Verifier{o: o.WithDefaults(), report: Report{Types: map[string]int{}}}
}

// tell counts a fault.
func (v *Verifier) tell(f *Fault) {
	v.report.Faults++
	if v.told++; v.told <= v.o.FaultsMax {
		v.o.OnFault(f)
	}
}

// File examines one file: compression, framing, syntax, required fields, digests. An error is one of reading r; what is wrong
// with its content is told and counted.
func (v *Verifier) File(name string, r io.Reader) error {
	o := ReaderOptions{Name: name, Syntax: Warn, Spec: Warn, Block: Warn, OnFault: v.tell}
	v.told = 0
	v.names = append(v.names, name)
	v.report.Files++
	if v.reader == nil {
		v.reader = NewReader(r, o)
	} else {
		v.reader.Reset(r, o)
	}
	defer v.reader.Close()
	count := 0
	var end int64
	for {
		rec, err := v.reader.Next()
		var damage *Fault
		if errors.As(err, &damage) {
			v.damaged(name, damage)
			continue
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		count++
		v.report.Records++
		v.report.Types[rec.Type.String()]++
		v.note(rec)
		if _, err := io.Copy(io.Discard, onlyReader{rec}); errors.As(err, &damage) {
			v.damaged(name, damage)
			continue
		} else if err != nil {
			return err
		}
		end = rec.Offset + rec.Length
		v.digests(rec)
	}
	if count == 0 && v.told == 0 && !v.o.Open(name) {
		v.tell(&Fault{Kind: ErrNotWARC, File: name, What: "no record"})
	}
	v.report.Bytes += max(end, v.reader.src.offset())
	if v.o.PerFile {
		v.references()
	}
	return nil
}

// damaged tells a fault that stopped the reading of a record.
func (v *Verifier) damaged(name string, f *Fault) {
	if errors.Is(f, ErrTruncated) && v.o.Open(name) {
		return
	}
	v.tell(f)
}

// note remembers identity and references of a record.
func (v *Verifier) note(rec *RecordRead) {
	file := int32(len(v.names) - 1)
	if id := rec.Get("WARC-Record-ID"); id != "" {
		v.ids = append(v.ids, seenID{key: keyOf(id), file: file, offset: rec.Offset})
	}
	for kind, name := range referenceFields() {
		for _, f := range rec.Fields {
			if strings.EqualFold(f.Name, name) {
				v.refs = append(v.refs, reference{to: keyOf(f.Value), file: file, kind: int32(kind), offset: rec.Offset})
			}
		}
	}
}

func (v *Verifier) digests(rec *RecordRead) {
	d := rec.digests
	if d == nil {
		return
	}
	v.report.DigestsUnknown += d.unknown
	v.report.DigestsChecked += d.matched
	if d.asStored {
		v.report.ChunkedAsStored++
	}
}

func keyOf(id string) key {
	if u, err := ParseID(id); err == nil {
		return key(u)
	}
	sum := sha256.Sum256([]byte(unbracket(id)))
	return key(sum[:16])
}

// Finish looks for identities that are there twice and references that lead nowhere, among all files (under PerFile that is
// done already), and gives the Report. The Verifier must not be used any more.
func (v *Verifier) Finish() Report {
	v.told = 0
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
		_, ok := slices.BinarySearchFunc(v.ids, r.to, func(a seenID, k key) int { return bytes.Compare(a.key[:], k[:]) })
		if !ok {
			v.tell(&Fault{Kind: ErrReference, File: v.names[r.file], Offset: r.offset,
				What: fields[r.kind] + " names a record that is not there"})
		}
	}
	v.ids, v.refs = v.ids[:0], v.refs[:0]
}
