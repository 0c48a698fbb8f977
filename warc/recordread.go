package warc

import (
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"
)

// RecordRead is a record as it was read. Its block is read through Read, or whole through ReadBlock.
type RecordRead struct {
	// Version is what follows "WARC/" in the first line.
	Version string
	// Type is WARC-Type; Unknown if it is none that we know, and the field then says which.
	Type Type
	// Fields in the order of the header; folded lines are joined.
	Fields []Field
	// ID is the identity, zero if it is not a urn:uuid.
	ID ID
	// TargetURI is what was captured, without the angle brackets that some writers of WARC/1.0 put around it.
	TargetURI []byte
	// Date is WARC-Date, zero if that is none.
	Date time.Time
	// PayloadDigest is WARC-Payload-Digest if that is a SHA-1, else nil.
	PayloadDigest *[20]byte
	// Offset of the record's member in the file, in bytes. Inner is its place in the content of the member: 0 in files as
	// they should be, and always in plain ones.
	Offset, Inner int64
	// Length in the file, in bytes: known when the block has been read to its end, and 0 if the record Shared its member.
	Length int64
	// Shared tells that the member holds more than this record; known when the block has been read to its end.
	Shared bool
	// ContentLength is the length of the block in bytes.
	ContentLength int64
	// Block is the whole block, if somebody called ReadBlock; archive readers do.
	Block []byte

	z       *Reader
	left    int64
	err     error // what Read gives from now on
	digests *digestCheck
}

// Get gives the value of the first field of that name, in whatever case; empty if there is none.
func (r *RecordRead) Get(name string) string {
	v, _ := r.Lookup(name)
	return v
}

// Lookup is Get that tells absent from empty.
func (r *RecordRead) Lookup(name string) (string, bool) {
	for i := range r.Fields {
		if strings.EqualFold(r.Fields[i].Name, name) {
			return r.Fields[i].Value, true
		}
	}
	return "", false
}

// IsDNS tells whether the record holds what a name server said, and not what a web server did.
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

// parseDate reads a W3C date-time in UTC, of any precision from year to nanosecond, as WARC 1.1 allows.
func parseDate(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z", "2006-01-02", "2006-01", "2006"} {
		t, err := time.Parse(layout, s)
		if err == nil && (len(s) <= 10 || strings.HasSuffix(s, "Z")) {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%w: date %q", ErrField, s)
}

// parse fills in what the fields say. An error means that Content-Length says nothing, and so nothing behind the header can
// be found; other fields that make no sense are left zero.
func (r *RecordRead) parse() error {
	r.Type = ParseType(r.Get("WARC-Type"))
	r.ID, _ = ParseID(r.Get("WARC-Record-ID"))
	r.TargetURI = []byte(unbracket(r.Get("WARC-Target-URI")))
	r.Date, _ = parseDate(r.Get("WARC-Date"))
	r.PayloadDigest = parseSHA1(r.Get("WARC-Payload-Digest"))
	v := r.Get("Content-Length")
	n, err := strconv.ParseUint(v, 10, 62)
	if err != nil {
		return fmt.Errorf("%w: Content-Length %q", ErrNotWARC, v)
	}
	r.ContentLength, r.left = int64(n), int64(n)
	return nil
}

// Read gives more of the block, io.EOF at its end. A *Fault says that the record is damaged there, or, under a policy of Fail,
// that its end or digests are wrong.
func (r *RecordRead) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	z := r.z
	if r.left > 0 && z.r == z.w {
		if err := z.fill(true); err != nil {
			fault := err
			if err == io.EOF {
				fault = fmt.Errorf("%w: the block lacks %d of %d bytes", ErrTruncated, r.left, r.ContentLength)
			}
			r.err = z.stop(fault, r.Offset)
			return 0, r.err
		}
	}
	n := int(min(int64(len(p)), int64(z.w-z.r), r.left))
	copy(p, z.buf[z.r:z.r+n])
	z.use(n)
	r.left -= int64(n)
	if r.digests != nil {
		r.digests.write(p[:n])
	}
	if r.left == 0 {
		r.err = r.end()
		if n > 0 {
			return n, nil // the next call tells
		}
		return 0, r.err
	}
	return n, nil
}

// end is called once, when the block has been read. It gives io.EOF or the first fault.
func (r *RecordRead) end() error {
	err := r.z.endRecord(r)
	var damage *Fault
	if err != nil && !errors.As(err, &damage) {
		return err
	}
	if r.digests != nil {
		for _, what := range r.digests.faults() {
			if e := r.z.complain(r.z.o.Block, ErrDigest, r.Offset, "%s", what); err == nil {
				err = e
			}
		}
	}
	if err == nil {
		return io.EOF
	}
	return err
}

// ReadBlock reads what is left of the block into Block and gives it: a new slice, the caller's to keep. A block longer
// than limit bytes is ErrTooLarge and not read.
func (r *RecordRead) ReadBlock(limit int64) ([]byte, error) {
	if r.left > limit {
		return nil, r.z.fault(ErrTooLarge, r.Offset, fmt.Sprintf("block of %d bytes", r.left))
	}
	// The header may lie: memory grows with what is really there.
	b := make([]byte, 0, min(r.left, 1<<20)+1)
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

// specFaults says what is wrong with the fields, by the standard.
func (r *RecordRead) specFaults() []string {
	var faults []string
	say := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	for _, name := range []string{"WARC-Type", "WARC-Record-ID", "WARC-Date"} {
		if r.Get(name) == "" {
			say("no %s", name)
		}
	}
	if id := r.Get("WARC-Record-ID"); id != "" && !isURIRef(id) {
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
	case !isTarget(target):
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
		if v := r.Get(name); v != "" && !isURIRef(v) {
			say("%s %q is no URI in angle brackets", name, v)
		}
	}
	if r.ContentLength > 0 && r.Type != Continuation && r.Type != Unknown && r.Get("Content-Type") == "" {
		say("no Content-Type")
	}
	return append(faults, r.repeatFaults()...)
}

// repeatFaults names the fields that the standard allows once and that the header has more often, each of them once.
func (r *RecordRead) repeatFaults() []string {
	var faults []string
	var times [singleFields]int
	for _, f := range r.Fields {
		if i := singleField(f.Name); i >= 0 {
			if times[i]++; times[i] == 2 {
				faults = append(faults, "several "+f.Name)
			}
		}
	}
	return faults
}

// singleFields is how many fields may stand in a header once only.
const singleFields = 14

// singleField gives the place of a name among them, -1 if it is another; WARC-Concurrent-To may be repeated, and of foreign fields we do not
// know.
func singleField(name string) int {
	single := [singleFields]string{
		"WARC-Type", "WARC-Record-ID", "WARC-Date", "Content-Length", "Content-Type", "WARC-Target-URI", "WARC-IP-Address", "WARC-Block-Digest",
		"WARC-Payload-Digest", "WARC-Refers-To", "WARC-Truncated", "WARC-Warcinfo-ID", "WARC-Filename", "WARC-Profile",
	}
	return slices.IndexFunc(single[:], func(s string) bool { return strings.EqualFold(s, name) })
}

// isTarget tells whether v has a scheme and holds nothing that may not stand in a URI. A percent sign that escapes nothing may: browsers
// send them, so crawlers ask for them.
func isTarget(v string) bool {
	for i := range len(v) {
		if c := v[i]; c <= ' ' || c == 0x7f || c == '<' || c == '>' || c == '"' {
			return false
		}
	}
	scheme, _, found := strings.Cut(v, ":")
	for i := range len(scheme) {
		c := scheme[i]
		if letter := c|0x20 >= 'a' && c|0x20 <= 'z'; !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.')) {
			return false
		}
	}
	return found && scheme != ""
}

// isURIRef tells whether v is a URI in angle brackets.
func isURIRef(v string) bool {
	inner := unbracket(v)
	colon := strings.IndexByte(inner, ':')
	return inner != v && colon > 0 && !strings.ContainsAny(inner, " \t<>")
}
