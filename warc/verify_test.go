package warc

import (
	"bytes"
	"errors"
	"regexp"
	"strings"
	"testing"

	"orbweaver/warc/member"
)

// verifyText verifies one plain file.
func verifyText(t *testing.T, text string) (Report, error) {
	t.Helper()
	var faults []error
	v := NewVerifier(VerifyOptions{OnFault: func(f *Fault) { faults = append(faults, f) }})
	if err := v.File("f.warc", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return v.Finish(), errors.Join(faults...)
}

// Each possible fault of a file is detected and reported with its kind.
func TestVerifyMutations(t *testing.T) {
	good := string(sample(t, None, 5))
	if r, err := verifyText(t, good); !r.OK() || r.Records != 16 || r.DigestsChecked != 16+4 {
		t.Fatalf("%+v %v", r, err)
	}
	first := regexp.MustCompile(`WARC-Record-ID: (<[^>]*>)`).FindAllStringSubmatch(good, 3)
	replace := func(old, by string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(good, old, by, 1)
	}
	without := func(line string) string {
		return regexp.MustCompile(`(?m)^`+line+`:.*\r\n`).ReplaceAllLiteralString(good, "")
	}
	tests := []struct {
		name, text string
		kind       error
	}{
		{"payload byte", replace("orb", "0rb"), ErrDigest},
		{"request byte", replace("Host: site", "Host: sitf"), ErrDigest},
		{"block digest", replace("WARC-Block-Digest: sha1:", "WARC-Block-Digest: sha1:A"), ErrDigest},
		{"payload digest", replace("WARC-Payload-Digest: sha1:", "WARC-Payload-Digest: sha1:A"), ErrDigest},
		{"length", replace("Content-Length: 38", "Content-Length: 37"), ErrSyntax},
		{"length over", replace("Content-Length: 38", "Content-Length: 99999999"), ErrSyntax},
		{"trailer", replace("fetchTimeMs: 12\r\n\r\n\r\n", "fetchTimeMs: 12\r\n\r\n"), ErrSyntax},
		{"date", replace("123456Z", "123456"), ErrField},
		{"no date", without("WARC-Date"), ErrField},
		{"no type", without("WARC-Type"), ErrField},
		{"no URI", without("WARC-Target-URI"), ErrField},
		{"no content type", without("Content-Type"), ErrField},
		{"no id", without("WARC-Record-ID"), ErrField},
		{"no profile", without("WARC-Profile"), ErrField},
		{"address", replace("192.0.2.7", "192.0.2.777"), ErrField},
		{"same id", strings.Replace(good, first[2][1], first[1][1], 1), ErrReference},
		{"dangling", regexp.MustCompile(`(WARC-Concurrent-To: <urn:uuid:)........`).ReplaceAllString(good, "${1}00000000"),
			ErrReference},
		{"dangling warcinfo", strings.Replace(good, first[0][0],
			"WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>", 1), ErrReference},
		{"version", replace("WARC/1.1\r\n", "WARC/1.7\r\n"), ErrSyntax},
		{"cut", good[:len(good)-9], member.ErrTruncated},
		{"empty", "", member.ErrNotWARC},
	}
	for _, tt := range tests {
		r, err := verifyText(t, tt.text)
		if r.OK() || !errors.Is(err, tt.kind) {
			t.Errorf("%s: %+v %v", tt.name, r, err)
		}
	}
}

// A reference may lead to another file of the archive. All faults are counted, and a limited number is reported.
func TestVerifyManyFiles(t *testing.T) {
	good := string(sample(t, None, 2))
	at := strings.Index(good, "WARC/1.1\r\nWARC-Warcinfo-ID")
	told := 0
	v := NewVerifier(VerifyOptions{FaultsMax: 3, OnFault: func(*Fault) { told++ }})
	for _, part := range []string{good[at:], good[:at]} {
		if err := v.File("part", strings.NewReader(part)); err != nil {
			t.Fatal(err)
		}
	}
	if r := v.Finish(); !r.OK() || told > 0 {
		t.Fatalf("%+v", r)
	}
	v = NewVerifier(VerifyOptions{FaultsMax: 3, OnFault: func(*Fault) { told++ }})
	if err := v.File("part", strings.NewReader(good[at:])); err != nil {
		t.Fatal(err)
	}
	if r := v.Finish(); r.Faults != 6 || told != 3 {
		t.Errorf("%+v, told %d", r, told)
	}
	// A file that is still written may end in the middle of a record.
	v = NewVerifier(VerifyOptions{Open: func(string) bool { return true }})
	if err := v.File("part", strings.NewReader(good[:len(good)-50])); err != nil {
		t.Fatal(err)
	}
	if r := v.Finish(); !r.OK() {
		t.Errorf("%+v", r)
	}
}

// A payload digest of a chunked body is that of the body without chunking. That of the stored bytes is accepted too,
// and counted.
func TestVerifyChunked(t *testing.T) {
	const head, body, stored = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "hello world",
		"5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nTrailer: x\r\n\r\n"
	for _, tt := range []struct {
		digested string
		asStored int
		ok       bool
	}{{body, 0, true}, {stored, 1, true}, {"hello", 0, false}} {
		digest := sha1Of([]byte(tt.digested))
		e := newTestEncoder(t, Gzip)
		appendRecord(t, e, &Record{Type: Response, Date: testDate(1), TargetURI: []byte("http://a/"), PayloadDigest: &digest,
			Block: [][]byte{[]byte(head), []byte(stored)}})
		v := NewVerifier(VerifyOptions{})
		if err := v.File("f", bytes.NewReader(e.Group().Bytes())); err != nil {
			t.Fatal(err)
		}
		v.refs = nil // its warcinfo record is missing
		if r := v.Finish(); r.OK() != tt.ok || r.ChunkedAsStored != tt.asStored {
			t.Errorf("%q: %+v", tt.digested, r)
		}
	}
}
