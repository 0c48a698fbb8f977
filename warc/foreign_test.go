package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"testing"
)

// foreignRecord is a response as other writers have it.
func foreignRecord(version, id, body string) string {
	block := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s", body)
	return fmt.Sprintf("%s\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:%s>\r\nWARC-Date: 2020-01-02T03:04:05Z\r\n"+
		"WARC-Target-URI: http://a.test/%s\r\nContent-Type: application/http\r\nContent-Length: %d\r\n\r\n%s\r\n\r\n",
		version, id, body, len(block), block)
}

// gzipMember packs a member.
func gzipMember(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Bytes behind the record of a member (CC-NEWS of November 2018) are a fault of that member. The next one is read.
func TestReader_bytesBehindARecordEndWithTheMember(t *testing.T) {
	const id = "00000000-0000-4000-8000-%012d"
	for _, slop := range []string{"\x00", "W", "x", "WARC/", "\x00\x00\x00 junk", "junk\n"} {
		var file []byte
		for i := range 6 {
			record := foreignRecord("WARC/1.0", fmt.Sprintf(id, i), fmt.Sprint(i))
			file = append(file, gzipMember(t, record+slop)...)
		}
		recs, faults := readAll(t, file, ReaderOptions{})
		if slop == "W" || slop == "WARC/" { // it may be the start of a record that goes on in the next member
			if len(recs) < 3 {
				t.Errorf("%q: %d records", slop, len(recs))
			}
			continue
		}
		if len(recs) != 6 || len(faults) != 6 {
			t.Errorf("%q: %d records, faults %v", slop, len(recs), faults)
		}
	}
}

// Some writers have the version line in lower case.
func TestReader_aVersionInLowerCase(t *testing.T) {
	record := foreignRecord("warc/1.0", "00000000-0000-4000-8000-000000000001", "page")
	for name, file := range map[string][]byte{"plain": []byte(record + record), "gzip": gzipMember(t, record)} {
		recs, faults := readAll(t, file, ReaderOptions{})
		if len(recs) == 0 || recs[0].Version != "1.0" || len(faults) > 0 {
			t.Errorf("%s: %d records, faults %v", name, len(recs), faults)
		}
	}
}
