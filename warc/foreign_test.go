package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
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
		var faults []*Fault
		recs, others := readAll(t, file, ReaderOptions{Syntax: Warn, OnFault: func(f *Fault) { faults = append(faults, f) }})
		if slop == "W" || slop == "WARC/" { // it may be the start of a record that goes on in the next member
			if len(recs) < 3 {
				t.Errorf("%q: %d records", slop, len(recs))
			}
			continue
		}
		if len(recs) != 6 || len(faults) != 6 || len(others) > 0 {
			t.Errorf("%q: %d records, faults %v, %v", slop, len(recs), faults, others)
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

// The index of a file of another program has all records that a line can name, and says which it has not.
func TestWriteIndex_ofForeignFiles(t *testing.T) {
	record := func(n int) string {
		return foreignRecord("WARC/1.0", fmt.Sprintf("00000000-0000-4000-8000-%012d", n), fmt.Sprint(n))
	}
	dated := func(date string) []byte {
		return gzipMember(t, strings.Replace(record(1), "2020-01-02T03:04:05Z", date, 1))
	}
	one := gzipMember(t, record(1))
	for name, c := range map[string]struct {
		file          []byte
		lines, faults int
		begins        string
	}{
		"whole":              {one, 1, 0, "test,a)/1 20200102030405 "},
		"padded":             {append(bytes.Clone(one), make([]byte, 512)...), 1, 1, "test,a)/1 2020"},
		"cut":                {append(bytes.Clone(one), gzipMember(t, record(2))[:200]...), 1, 1, "test,a)/1 2020"},
		"a single member":    {gzipMember(t, record(1)+record(2)+record(3)), 0, 1, ""},
		"without URI":        {gzipMember(t, strings.Replace(record(1), "WARC-Target-URI", "X", 1)), 0, 1, ""},
		"without date":       {dated("yesterday"), 0, 1, ""},
		"with an offset":     {dated("2020-01-02T05:04:05+02:00"), 1, 0, "test,a)/1 20200102030405 "},
		"offset, no colon":   {dated("2020-01-02T05:04:05+0200"), 1, 0, "test,a)/1 20200102030405 "},
		"without a zone":     {dated("2020-01-02T03:04:05"), 1, 0, "test,a)/1 20200102030405 "},
		"with a space":       {dated("2020-01-02 03:04:05"), 1, 0, "test,a)/1 20200102030405 "},
		"digits":             {dated("20200102030405"), 1, 0, "test,a)/1 20200102030405 "},
		"fraction, no zone":  {dated("2020-01-02T03:04:05.678"), 1, 0, "test,a)/1 20200102030405 "},
		"ClueWeb09":          {dated("2008-10-294T05:21:46-0700"), 1, 0, "test,a)/1 20081020122146 "},
		"lower case letters": {dated("2020-01-02t03:04:05z"), 1, 0, "test,a)/1 20200102030405 "},
	} {
		var index bytes.Buffer
		faults := 0
		z := NewReader(bytes.NewReader(c.file), ReaderOptions{})
		err := WriteIndex(&index, z, "a.warc.gz", func(*Fault) error { faults++; return nil })
		z.Close()
		lines := bytes.Count(index.Bytes(), []byte{'\n'})
		if err != nil || lines != c.lines || faults != c.faults || !strings.HasPrefix(index.String(), c.begins) {
			t.Errorf("%s: %d lines, %d faults, %v: %s", name, lines, faults, err, index.Bytes())
		}
	}
}
