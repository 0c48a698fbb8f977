package warc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"orbweaver/warc/block"
	"orbweaver/warc/header"
	"orbweaver/warc/member"
)

// RecordRead is a record that was read. Read returns its block in pieces, ReadBlock the whole block.
type RecordRead struct {
	// Version is what follows "WARC/" in the first line.
	Version string
	// Type is WARC-Type; Unknown for other types, which are in Fields.
	Type Type
	// Fields in the order of the header; folded lines are joined.
	Fields []Field
	// ID is the identity; zero if it is not a urn:uuid.
	ID ID
	// TargetURI is the captured URI, without the angle brackets of some WARC/1.0 writers.
	TargetURI []byte
	// Date is WARC-Date; zero if it is invalid.
	Date time.Time
	// PayloadDigest is WARC-Payload-Digest if it is a SHA-1, otherwise nil.
	PayloadDigest *[20]byte
	// Offset of the record's member in the file, in bytes. Inner is its position in the content of the member: 0 in
	// valid files, and always in plain ones.
	Offset, Inner int64
	// Length in the file, in bytes. It is known when the block was read to its end. It is 0 if the record Shared its
	// member.
	Length int64
	// Shared is true if the member contains other records too; known when the block was read to its end.
	Shared bool
	// IsARC is true for a record of an ARC file. Its fields are those that a WARC record of it would have.
	IsARC bool
	// ContentLength is the length of the block in bytes.
	ContentLength int64
	// Block is the whole block after a call of ReadBlock. After ReadStart it is the start, and Read returns the rest.
	// Archive sets it too.
	Block []byte

	z         *Reader
	remaining int64
	err       error // the result of all further calls of Read
	digests   *block.DigestCheck
}

// Get returns the value of the first field of this name, ignoring case; empty if there is none.
func (r *RecordRead) Get(name string) string {
	v, _ := r.Lookup(name)
	return v
}

// Lookup is Get with a result that distinguishes a missing field from an empty one.
func (r *RecordRead) Lookup(name string) (string, bool) {
	for i := range r.Fields {
		if strings.EqualFold(r.Fields[i].Name, name) {
			return r.Fields[i].Value, true
		}
	}
	return "", false
}

// IsDNS reports whether the record is a response of a name server.
func (r *RecordRead) IsDNS() bool {
	media, _, _ := strings.Cut(r.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(media), MediaDNS)
}

func unbracket(s string) string {
	if len(s) >= 2 && s[0] == '<' && s[len(s)-1] == '>' {
		return s[1 : len(s)-1]
	}
	return s
}

// parseDate parses a W3C date-time in UTC, with any precision from year to nanosecond, as WARC 1.1 allows.
func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"} {
		t, err := time.Parse(layout, s)
		if err == nil && (len(s) <= 10 || strings.HasSuffix(s, "Z")) {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: date %q", ErrField, s)
}

// parseForeignDate also parses dates of other writers: with an offset, without a zone, which is UTC then, with a space,
// as 14 digits, and with the day of the year in place of the day of the month (ClueWeb09).
func parseForeignDate(s string) (time.Time, error) {
	t, err := parseDate(s)
	if err == nil {
		return t, nil
	}
	s = strings.Replace(strings.ToUpper(strings.TrimSpace(s)), " ", "T", 1)
	if _, day, ok := strings.Cut(s, "-"); ok && len(day) > len("10-294") && day[2] == '-' && day[6] == 'T' {
		s = s[:len(s)-len(day)] + day[3:]
	}
	for _, layout := range []string{
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04Z07:00",
		"2006-01-02T15:04", "2006-002T15:04:05Z0700", "2006-002T15:04:05Z07:00", "2006/01/02T15:04:05", "20060102150405",
		"20060102T150405Z",
	} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, err
}

// parse sets the fields of r. It returns an error if Content-Length is invalid, because the end of the block is then
// unknown. Other invalid fields stay zero.
func (r *RecordRead) parse() error {
	r.Type = ParseType(r.Get("WARC-Type"))
	r.ID, _ = ParseID(r.Get("WARC-Record-ID"))
	r.TargetURI = []byte(unbracket(r.Get("WARC-Target-URI")))
	r.Date, _ = parseForeignDate(r.Get("WARC-Date"))
	r.PayloadDigest = block.ParseSHA1(r.Get("WARC-Payload-Digest"))
	v := r.Get("Content-Length")
	n, err := strconv.ParseUint(v, 10, 62)
	if err != nil {
		return fmt.Errorf("%w: Content-Length %q", member.ErrNotWARC, v)
	}
	r.ContentLength, r.remaining = int64(n), int64(n)
	return nil
}

// Read returns more of the block, io.EOF at its end. A *Fault means that the record is damaged, or, with the policy
// Fail, that its end or digests are wrong.
func (r *RecordRead) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	c := &r.z.content
	if r.remaining > 0 && c.r == c.w {
		if err := c.fillBlock(); err != nil {
			fault := err
			if err == io.EOF && !c.atRecord {
				if f := r.z.swallowed(r, r.ContentLength-r.remaining, true); f != nil {
					r.err = f
					return 0, f
				}
			}
			if err == io.EOF {
				fault = fmt.Errorf("%w: the block lacks %d of %d bytes", member.ErrTruncated, r.remaining, r.ContentLength)
			}
			r.err = r.z.stop(fault, r.Offset)
			return 0, r.err
		}
	}
	n := int(min(int64(len(p)), r.remaining))
	n = copy(p[:n], c.unused())
	c.use(n)
	r.remaining -= int64(n)
	r.digests.Write(p[:n])
	if r.remaining == 0 {
		r.err = r.end()
		if n > 0 {
			return n, nil // the next call returns the error
		}
		return 0, r.err
	}
	return n, nil
}

// end is called once, when the block was read. It returns io.EOF or the first fault.
func (r *RecordRead) end() error {
	err := r.z.endRecord(r)
	if err != nil {
		if damage := (*Fault)(nil); !errors.As(err, &damage) {
			return err
		}
	}
	for _, what := range r.digests.Faults() {
		if e := r.z.complain(r.z.o.Block, ErrDigest, r.Offset, "%s", what); err == nil {
			err = e
		}
	}
	if err == nil {
		return io.EOF
	}
	return err
}

// Bounded returns a reader of decoded, which decodes the payload. Its bytes count as unpacked ones of the file: see
// member.UnpackedFree. Beyond the bound it returns a *Fault.
func (r *RecordRead) Bounded(decoded io.Reader) io.Reader { return &charged{decoded, r} }

type charged struct {
	io.Reader

	of *RecordRead
}

func (c *charged) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.of.z.content.src.Charge(n) != nil {
		return n, c.of.z.fault(member.ErrTooLarge, c.of.Offset, "its payload, decoded")
	}
	return n, err
}

// ReadBlock reads the rest of the block into Block and returns it, in a new slice that belongs to the caller. A block
// longer than limit bytes is ErrTooLarge and not read.
func (r *RecordRead) ReadBlock(limit int64) ([]byte, error) {
	if r.remaining > limit {
		return nil, r.z.fault(member.ErrTooLarge, r.Offset, fmt.Sprintf("block of %d bytes", r.remaining))
	}
	// Content-Length may be wrong: memory grows with the bytes that are read.
	b := make([]byte, 0, min(r.remaining, 1<<20)+1)
	for {
		if len(b) == cap(b) {
			b = append(b, 0)[:len(b)]
		}
		n, err := r.Read(b[len(b):cap(b)])
		b = b[:len(b)+n]
		if err == io.EOF {
			r.Block = b
			return b, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// ReadStart reads at most limit bytes into Block, in a new slice that belongs to the caller. If that is the whole
// block, its end was checked.
func (r *RecordRead) ReadStart(limit int64) error {
	if r.remaining <= limit {
		_, err := r.ReadBlock(limit)
		return err
	}
	r.Block = make([]byte, limit)
	_, err := io.ReadFull(r, r.Block)
	return err
}

// Content returns a reader of the whole block: what is in Block, and the rest. It may be called once.
func (r *RecordRead) Content() io.Reader {
	if int64(len(r.Block)) == r.ContentLength {
		return bytes.NewReader(r.Block)
	}
	return io.MultiReader(bytes.NewReader(r.Block), onlyReader{r})
}

// Skip reads the rest of the block, or moves behind it: see ReaderOptions.LengthAt. Then Length is known.
func (r *RecordRead) Skip() error { return skipBlock(r) }

// claims returns the digests that can be checked. The payload of a revisit is in another record; that of a truncated
// record or of a segment is incomplete.
func (r *RecordRead) claims() block.Claims {
	c := block.Claims{Block: r.Get("WARC-Block-Digest"), HTTP: r.IsHTTP()}
	_, segmented := r.Lookup("WARC-Segment-Number")
	if r.Type != Revisit && r.Type != Continuation && !segmented && r.Get("WARC-Truncated") == "" {
		c.Payload = r.Get("WARC-Payload-Digest")
	}
	return c
}

// specFaults returns the violations of the standard in the fields.
func (r *RecordRead) specFaults() []string {
	var faults []string
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if r.Get(name) == "" {
			say("no %s", name)
		}
	}
	if id := r.Get("WARC-Record-ID"); id != "" && !header.IsReference(id) {
		say("WARC-Record-ID %q is no URI in angle brackets", id)
	}
	if s := r.Get("WARC-Date"); s != "" {
		if _, err := parseDate(s); err != nil {
			say("WARC-Date %q", s)
		}
	}
	switch target := r.Get("WARC-Target-URI"); {
	case target == "":
		switch r.Type {
		case Response, Request, Resource, Revisit, Conversion, Continuation:
			say("no WARC-Target-URI")
		}
	case r.Type == Warcinfo:
		say("WARC-Target-URI in a warcinfo record")
	case target != unbracket(target):
		if r.Version == "1.1" {
			say("WARC-Target-URI in angle brackets")
		}
	case !header.IsTarget(target):
		say("WARC-Target-URI %q is no URI", target)
	}
	if ip := r.Get("WARC-IP-Address"); ip != "" {
		if _, err := netip.ParseAddr(ip); err != nil {
			say("WARC-IP-Address %q", ip)
		}
	}
	if r.Type == Revisit && r.Get("WARC-Profile") == "" {
		say("no WARC-Profile in a revisit record")
	}
	if _, ok := r.Lookup("WARC-Warcinfo-ID"); ok && r.Type == Warcinfo {
		say("WARC-Warcinfo-ID in a warcinfo record")
	}
	for _, name := range []string{"WARC-Concurrent-To", "WARC-Warcinfo-ID", "WARC-Refers-To"} {
		if v := r.Get(name); v != "" && !header.IsReference(v) {
			say("%s %q is no URI in angle brackets", name, v)
		}
	}
	if r.ContentLength > 0 && r.Type != Continuation && r.Type != Unknown && r.Get("Content-Type") == "" {
		say("no Content-Type")
	}
	return append(faults, r.repeatFaults()...)
}

// repeatFaults returns the fields that occur more than once and must not, each of them once.
func (r *RecordRead) repeatFaults() []string {
	var faults []string
	var times [header.SingleFields]int
	for _, f := range r.Fields {
		if i := header.SingleField(f.Name); i >= 0 {
			if times[i]++; times[i] == 2 {
				faults = append(faults, "several "+f.Name)
			}
		}
	}
	return faults
}
