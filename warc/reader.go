package warc

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"orbweaver/warc/block"
	"orbweaver/warc/member"
)

// ReaderOptions configure the checks of a Reader. The zero value accepts as much as possible.
type ReaderOptions struct {
	// Name of the file in faults.
	Name string
	// Base is the offset of the first byte in the file, for readers that start in the middle.
	Base int64
	// Syntax is the policy for line ends, version, header lines, the end of records, and one record per member. Default
	// Ignore.
	Syntax Policy
	// Spec is the policy for fields: the required ones and their values. Default Ignore.
	Spec Policy
	// Block is the policy for digests of block and payload, which cost CPU time. Default Ignore.
	Block Policy
	// HeaderMax is the longest header accepted, in bytes. Default 1 MiB.
	HeaderMax int
	// Form is the compression of the file, even if its first bytes are damaged. Default nil: the first bytes decide,
	// and a file of unknown form has no records.
	Form *Compression
	// OneMember means that no record is in more than one member, as in our files. Then a record with a wrong length
	// does not damage those after it.
	OneMember bool
	// Dictionary of the file, for readers that start in its middle: see ReadDictionary. It must not be changed.
	// Default: the one at the start of the file, if any.
	Dictionary []byte
	// Unbounded is that of member.ReaderOptions: what is unpacked of a file of this program has no bound.
	Unbounded bool
	// LengthAt is that of member.ReaderOptions. With it, what is skipped of a block is not checked: neither the
	// checksum of the member nor digests nor the end of the record.
	LengthAt func(offset int64) int64
	// Start and FirstRead are those of member.ReaderOptions.
	Start, FirstRead int
	// OnFault is called in the reading goroutine with each fault under Warn. Default: none; faults are only counted.
	OnFault func(*Fault)
}

// WithDefaults returns a copy of o whose zero fields have their defaults.
func (o ReaderOptions) WithDefaults() ReaderOptions {
	if o.HeaderMax == 0 {
		o.HeaderMax = 1 << 20
	}
	return o
}

// Reader reads records in order from gzip, zstd or plain files, WARC 0.17 to 1.1, of any crawler. It is not safe for
// concurrent use. Its memory is about 200 KB, the header limit and what package member says, for any file. The zero
// Reader can be used after Reset.
type Reader struct {
	o       ReaderOptions
	content content
	rec     *RecordRead // the last record returned, until it is finished
	lost    bool        // after a fault: search the next record
	done    error       // io.EOF, or an error of the file below
	faults  uint64
	header  []byte
	fields  headerFields
	tail    []byte // scratch buffer for the end of a record
	lines   *bufio.Reader
	// noDigests is the check of records whose digests are not checked.
	noDigests block.DigestCheck
}

// NewReader returns a Reader of r. It does not close r.
func NewReader(r io.Reader, o ReaderOptions) *Reader {
	z := new(Reader)
	z.Reset(r, o)
	return z
}

// Reset starts with another file and keeps the memory. The last record must not be used any more.
func (z *Reader) Reset(r io.Reader, o ReaderOptions) {
	z.o = o.WithDefaults()
	z.content.reset(r, &z.o)
	z.rec, z.lost, z.done, z.faults = nil, false, nil, 0
}

// Close frees the decoder. It does not close the file.
func (z *Reader) Close() { z.content.src.Close() }

// Faults returns the number of faults up to now, reported or returned.
func (z *Reader) Faults() uint64 { return z.faults }

// Compression returns the form of the file. It is known after the first Next.
func (z *Reader) Compression() Compression {
	form, _ := z.content.src.Compression()
	return form
}

// IsKnown reports whether the form of the file is known. Of a file of unknown form, Next returns one fault.
func (z *Reader) IsKnown() bool {
	_, known := z.content.src.Compression()
	return known
}

// Next returns the next record. It skips the rest of the record before, which must not be used any more. It returns
// io.EOF at the end. After an error that is a *Fault, Next may be called again: it continues at the next position where
// a record can start. Any other error comes from the file and stays.
func (z *Reader) Next() (*RecordRead, error) {
	if z.done != nil {
		return nil, z.done
	}
	if z.rec != nil {
		if err := z.finish(); err != nil {
			return nil, err
		}
	}
	for {
		src := &z.content.src
		z.lost = z.lost && !z.content.atRecord
		if z.lost && !src.Damaged() {
			if !src.Plain() && z.content.findInMember() {
				z.lost = false
			} else {
				src.Suspect(src.Start())
			}
		}
		guess := z.lost && src.Damaged() // the next member is a guess
		if z.lost {
			z.lost = false
			if err := z.content.findRecord(); err != nil {
				return nil, z.stop(err, src.Offset())
			}
		}
		rec, err := z.next()
		if guess && z.done == nil && isDamage(err) {
			z.faults-- // a wrong guess
			continue
		}
		return rec, err
	}
}

// isDamage reports whether no record was found at the expected position.
func isDamage(err error) bool {
	return errors.Is(err, member.ErrNotWARC) || errors.Is(err, member.ErrCompression) ||
		errors.Is(err, member.ErrTruncated) || errors.Is(err, member.ErrTooLarge)
}

// next reads the header of the record at this position.
func (z *Reader) next() (*RecordRead, error) {
	skipped, err := z.content.beginRecord()
	if err != nil {
		return nil, z.stop(err, z.content.src.Start())
	}
	if skipped > 0 {
		at := z.content.place()
		if err := z.complain(z.o.Syntax, ErrSyntax, at, "%d bytes of empty lines before a record", skipped); err != nil {
			return nil, err
		}
	}
	rec, err := z.readHeader()
	if rec != nil {
		z.rec = rec // also after a fault: the next call skips it
	}
	if err != nil {
		return nil, err
	}
	return rec, nil
}

// stop converts an error to the result of Next: a fault after which reading can continue, or the end.
func (z *Reader) stop(err error, offset int64) error {
	var kind error
	for _, k := range []error{member.ErrTruncated, member.ErrCompression, member.ErrNotWARC, member.ErrTooLarge} {
		if errors.Is(err, k) {
			kind = k
			break
		}
	}
	src := &z.content.src
	_, known := src.Compression()
	switch {
	case errors.Is(err, io.EOF) && kind == nil:
		z.done = io.EOF
		return io.EOF
	case kind == nil:
		z.done = fmt.Errorf("warc: reading %s: %w", z.o.Name, err)
		return z.done
	case z.content.atRecord:
	case !known, errors.Is(kind, member.ErrTruncated) && (src.Plain() || !src.CanSeek()):
		z.done = io.EOF // nothing can follow
	}
	z.lost = true
	what := strings.TrimPrefix(strings.TrimPrefix(err.Error(), kind.Error()), ": ")
	return z.fault(kind, offset, what)
}

// faultMax is the length in bytes at which the text of a fault is truncated, because it quotes the file.
const faultMax = 512

func (z *Reader) fault(kind error, offset int64, what string) *Fault {
	z.faults++
	if len(what) > faultMax {
		what = what[:faultMax] + "..."
	}
	return &Fault{Kind: kind, File: z.o.Name, Offset: offset, What: what}
}

// complain applies the policy to a fault: the result is nil if reading continues.
func (z *Reader) complain(p Policy, kind error, offset int64, format string, args ...any) error {
	if p == Ignore {
		return nil
	}
	f := z.fault(kind, offset, fmt.Sprintf(format, args...))
	if p == Fail {
		return f
	}
	if z.o.OnFault != nil {
		z.o.OnFault(f)
	}
	return nil
}

// versionStart is how a record begins. Some writers have it in lower case.
const versionStart = "WARC/"

// startsVersion reports whether b is the start of versionStart.
func startsVersion(b []byte) bool { return strings.EqualFold(string(b), versionStart[:len(b)]) }

// beginsRecord reports whether b begins with versionStart.
func beginsRecord(b []byte) bool {
	return len(b) >= len(versionStart) && startsVersion(b[:len(versionStart)])
}

// line reads a line up to a line feed and returns it without its end. isFirst says that it is the first of a record.
// The slice is valid until the next call.
func (z *Reader) line(room int, isFirst bool) (text []byte, crlf bool, err error) {
	z.header = z.header[:0]
	c := &z.content
	for {
		b := c.unused()
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			z.header = append(z.header, b[:i]...)
			c.use(i + 1)
			text, crlf = bytes.CutSuffix(z.header, []byte("\r"))
			if len(text) > room {
				return nil, false, fmt.Errorf("%w: header beyond %d bytes", member.ErrTooLarge, z.o.HeaderMax)
			}
			return text, crlf, nil
		}
		z.header = append(z.header, b...)
		c.use(len(b))
		if len(z.header) > room {
			return nil, false, fmt.Errorf("%w: header beyond %d bytes", member.ErrTooLarge, z.o.HeaderMax)
		}
		// What is no record does not go on in the next member: a good record begins there.
		isRecord := !isFirst || startsVersion(z.header[:min(len(z.header), len(versionStart))])
		if err := c.fill(isRecord); err != nil {
			if err == io.EOF && !isRecord && !c.src.Plain() {
				return nil, false, fmt.Errorf("%w: %q", member.ErrNotWARC, z.header[:min(20, len(z.header))])
			}
			if err == io.EOF {
				return nil, false, fmt.Errorf("%w: the file ends in a header", member.ErrTruncated)
			}
			return nil, false, err
		}
	}
}

// readHeader reads version line and fields. If the header is complete but has a fault, it returns the record and an
// error.
func (z *Reader) readHeader() (*RecordRead, error) {
	rec := &RecordRead{z: z, Offset: z.content.place(), Inner: z.content.inner, ContentLength: -1, digests: &z.noDigests}
	if z.content.src.Plain() {
		rec.Inner = 0
	}
	rec.Shared = rec.Inner > 0
	room := z.o.HeaderMax
	z.fields.reset()
	first, crlf, err := z.line(room, true)
	if err != nil {
		start := z.header[:min(5, len(z.header))]
		if errors.Is(err, member.ErrTruncated) && len(start) > 0 && !startsVersion(start) {
			err = fmt.Errorf("%w: %q", member.ErrNotWARC, z.header[:min(20, len(z.header))])
		}
		return nil, z.stop(err, rec.Offset)
	}
	if readARC(rec, first) {
		return z.parsed(rec, nil)
	}
	if !beginsRecord(first) {
		err := fmt.Errorf("%w: a record begins with %q", member.ErrNotWARC, first[:min(20, len(first))])
		return nil, z.stop(err, rec.Offset)
	}
	rec.Version = string(bytes.TrimSpace(first[len(versionStart):]))
	bare := !crlf
	var held error // the first fault to return; the rest of the header is still read
	bad := 0       // lines that are no fields
	for {
		text, crlf, err := z.line(room, false)
		if err != nil {
			return nil, z.stop(err, rec.Offset)
		}
		room -= len(text) + 2
		bare = bare || !crlf
		if len(text) == 0 {
			break
		}
		if z.fields.add(rec, text) {
			if len(rec.Fields) > fieldsMax {
				return nil, z.stop(fmt.Errorf("%w: header of more than %d fields", member.ErrTooLarge, fieldsMax), rec.Offset)
			}
			continue
		}
		if bad++; bad <= badLinesMax {
			held = cmp.Or(held, z.complain(z.o.Syntax, ErrSyntax, rec.Offset, "header line %q", text[:min(60, len(text))]))
		}
	}
	z.fields.end(rec)
	if bad > badLinesMax {
		held = cmp.Or(held, z.complain(z.o.Syntax, ErrSyntax, rec.Offset, "%d more such header lines", bad-badLinesMax))
	}
	if bare {
		held = cmp.Or(held, z.complain(z.o.Syntax, ErrSyntax, rec.Offset, "header line without carriage return"))
	}
	return z.parsed(rec, held)
}

// parsed decodes the fields of a record and checks them. held is the first fault of its header.
func (z *Reader) parsed(rec *RecordRead, held error) (*RecordRead, error) {
	if err := rec.parse(); err != nil {
		return nil, z.stop(err, rec.Offset)
	}
	return rec, cmp.Or(held, z.checkHeader(rec))
}

// checkHeader checks what the policies require.
func (z *Reader) checkHeader(rec *RecordRead) error {
	var held error
	switch rec.Version {
	case "0.17", "0.18", "1.0", "1.1":
	default:
		held = z.complain(z.o.Syntax, ErrSyntax, rec.Offset, "version %q", rec.Version)
	}
	if z.o.Spec != Ignore && !rec.IsARC {
		for _, what := range rec.specFaults() {
			held = cmp.Or(held, z.complain(z.o.Spec, ErrField, rec.Offset, "%s", what))
		}
	}
	if z.o.Block != Ignore {
		rec.digests = block.NewDigestCheck(rec.claims())
	}
	return held
}

// finish skips the rest of the current record and checks its end.
func (z *Reader) finish() error {
	rec := z.rec
	z.rec = nil
	if rec.err != nil {
		return nil //nolint:nilerr // its end is reached, or a fault was reported
	}
	return skipBlock(rec)
}

// skipBlock reads the rest of a block, so that its end and its digests are checked and Length is known. If the length
// of its member is known, it moves there.
func skipBlock(rec *RecordRead) error {
	if rec.err == nil && rec.Inner == 0 && rec.z.content.skipRecord(rec.remaining) {
		rec.remaining, rec.err = 0, io.EOF
		rec.Length = rec.z.content.src.Offset() - rec.Offset
	}
	if rec.err == io.EOF { //nolint:errorlint // end returns it unwrapped
		return nil
	}
	_, err := io.Copy(io.Discard, onlyReader{rec})
	return err
}

// onlyReader hides all methods except Read.
type onlyReader struct{ io.Reader }

// endRecord reads the two empty lines after a block and computes the length of the record.
func (z *Reader) endRecord(rec *RecordRead) error {
	c := &z.content
	var err error
	if rec.IsARC {
		z.tail, err = append(z.tail[:0], "\r\n\r\n"...), cmp.Or(c.endARC(), c.endMember())
	} else {
		z.tail, err = c.endRecord(z.tail[:0])
	}
	if err != nil {
		return z.stop(err, rec.Offset)
	}
	var slop int64
	if !c.src.Plain() && !c.crossed && !rec.Shared {
		if slop, err = c.skipSlop(); err != nil {
			return z.stop(err, rec.Offset)
		}
	}
	whole := c.ended && len(c.unused()) == 0
	switch {
	case c.src.Plain():
		rec.Length = c.place() - rec.Offset
	case whole && !rec.Shared:
		rec.Length = c.src.Offset() - rec.Offset
	default:
		rec.Shared = true
	}
	var held error
	if slop > 0 && len(z.tail) == recordEnd {
		held = z.complain(z.o.Syntax, ErrFraming, rec.Offset, "%d bytes behind the record in its member", slop)
	}
	if len(z.tail) < recordEnd && !c.precedesRecord() {
		if f := z.swallowed(rec, int64(len(z.tail))+rec.ContentLength, false); f != nil {
			return f
		}
	}
	if len(z.tail) < recordEnd {
		kind := ErrSyntax
		if whole && c.src.Plain() {
			kind = member.ErrTruncated
		}
		held = cmp.Or(held, z.complain(z.o.Syntax, kind, rec.Offset,
			"%q where the record should end with two empty lines", z.tail))
		z.lost = whole && c.src.Suspect(rec.Offset) || z.lost
	}
	if !c.src.Plain() && (rec.Shared || c.crossed) {
		text := "the member holds more than one record"
		if c.crossed {
			text = "the record lies in several members"
		}
		held = cmp.Or(held, z.complain(z.o.Syntax, ErrFraming, rec.Offset, "%s", text))
	}
	return held
}
