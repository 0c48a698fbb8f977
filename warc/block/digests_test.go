package block

import (
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"strings"
	"testing"
)

func base32SHA1(s string) string {
	sum := sha1.Sum([]byte(s))
	return base32.StdEncoding.EncodeToString(sum[:])
}

// Digests of the block, of the payload without chunking, and of the payload as stored are accepted; others are not.
func TestDigestCheck(t *testing.T) {
	const head = "HTTP/1.1 200 OK\r\n\r\n"
	const chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	const stored = "5\r\nhello\r\n0\r\n\r\n"
	sum256 := sha256.Sum256([]byte("hello"))
	for name, tt := range map[string]struct {
		block  string
		claims Claims
		want   DigestCounts
		fault  string
	}{
		"nothing":  {"hello", Claims{}, DigestCounts{}, ""},
		"block":    {"hello", Claims{Block: "sha1:" + base32SHA1("hello")}, DigestCounts{Matched: 1}, ""},
		"label":    {"hello", Claims{Block: "SHA-256:" + hex.EncodeToString(sum256[:])}, DigestCounts{Matched: 1}, ""},
		"unknown":  {"hello", Claims{Block: "crc:1", Payload: "crc:2"}, DigestCounts{Unknown: 2}, ""},
		"mismatch": {"hellO", Claims{Block: "sha1:" + base32SHA1("hello")}, DigestCounts{}, "WARC-Block-Digest"},
		"payload": {head + "hello", Claims{Payload: "sha1:" + strings.ToLower(base32SHA1("hello")), HTTP: true},
			DigestCounts{Matched: 1}, ""},
		"chunked": {chunkedHead + stored, Claims{Payload: "sha1:" + base32SHA1("hello"), HTTP: true},
			DigestCounts{Matched: 1}, ""},
		"as stored": {chunkedHead + stored, Claims{Payload: "sha1:" + base32SHA1(stored), HTTP: true},
			DigestCounts{Matched: 1, AsStored: true}, ""},
		"no head": {"HTTP/1.1 200 OK", Claims{Payload: "sha1:" + base32SHA1(""), HTTP: true},
			DigestCounts{}, "no complete HTTP head"},
		"other payload": {head + "hellO", Claims{Payload: "sha1:" + base32SHA1("hello"), HTTP: true},
			DigestCounts{}, "WARC-Payload-Digest"},
	} {
		for _, step := range []int{1, 7, 1000} {
			d := NewDigestCheck(tt.claims)
			for b := []byte(tt.block); len(b) > 0; b = b[min(step, len(b)):] {
				d.Write(b[:min(step, len(b))])
			}
			faults := strings.Join(d.Faults(), " ")
			if d.Counts() != tt.want || !strings.Contains(faults, tt.fault) || tt.fault == "" && faults != "" {
				t.Errorf("%s by %d: %+v %q", name, step, d.Counts(), faults)
			}
		}
	}
}

// The zero check accepts every block.
func TestZeroDigestCheck(t *testing.T) {
	var d DigestCheck
	d.Write([]byte("hello"))
	if faults := d.Faults(); len(faults) > 0 || d.Counts() != (DigestCounts{}) {
		t.Error(faults)
	}
}

// A SHA-1 is read in base32 and hexadecimal, in either case.
func TestParseSHA1(t *testing.T) {
	sum := sha1.Sum([]byte("hello"))
	text := base32SHA1("hello")
	for _, v := range []string{"sha1:" + text, "SHA1:" + strings.ToLower(text), "sha1:" + hex.EncodeToString(sum[:])} {
		if got := ParseSHA1(v); got == nil || *got != sum {
			t.Errorf("%q: %x", v, got)
		}
	}
	for _, v := range []string{"", text, "md5:" + text, "sha1:", "sha1:xx", "sha1:" + text[:30]} {
		if got := ParseSHA1(v); got != nil {
			t.Errorf("%q: %x", v, got)
		}
	}
}
