package warc

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// arcRecord is a record of version 1.
func arcRecord(url, ip, date, media, block string) string {
	return fmt.Sprintf("%s %s %s %s %d\n%s\n", url, ip, date, media, len(block), block)
}

const arcFirst = "1 0 Archive\nURL IP-address Archive-date Content-type Archive-length\n\n"

// Records of ARC files are read as those of WARC files, in both versions, plain or each in a gzip member.
func TestReaderOfARC(t *testing.T) {
	page := "HTTP/1.1 200 OK\nContent-Type: text/html\n\n<p>one"
	second := "HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n"
	records := []string{
		arcRecord("filedesc://x.arc", "0.0.0.0", "20080102030405", "text/plain", arcFirst),
		arcRecord("http://a.test/1", "192.0.2.1", "20080102030406", "text/html", page),
		arcRecord("dns:a.test", "192.0.2.9", "20080102030407", "text/dns", "20080102030407\na.test. 1 IN A 192.0.2.1\n"),
		// A space in the URL and one in the type, and the words of version 2.
		fmt.Sprintf("http://a.test/a b 2001:db8::1 20080102030408 text/html; charset=x 404 - - 17 x.arc %d\n%s\n",
			len(second), second),
		arcRecord("ftp://a.test/f", "-", "200801020304", "application/zip", "PK"),
	}
	var packed bytes.Buffer
	for _, r := range records {
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, r)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"warcinfo filedesc://x.arc 030405", "response http://a.test/1 030406", "response dns:a.test 030407",
		"response http://a.test/a%20b 030408", "resource ftp://a.test/f 030400",
	}
	for form, file := range map[string]string{"plain": strings.Join(records, ""), "gzip": packed.String()} {
		z := NewReader(strings.NewReader(file), ReaderOptions{Name: "x.arc", Syntax: Fail, Spec: Fail, Block: Fail})
		var got []string
		end := int64(0)
		err := ScanRecords(z, func(rec *RecordRead) error {
			got = append(got, fmt.Sprintf("%s %s %s", rec.Type, rec.TargetURI, rec.Date.Format("150405")))
			if err := rec.Skip(); err != nil {
				return err
			}
			if rec.Offset != end || !rec.IsARC {
				t.Errorf("%s: %s at %d, not %d", form, rec.TargetURI, rec.Offset, end)
			}
			end = rec.Offset + rec.Length
			return nil
		}, StopAtDamage)
		z.Close()
		if err != nil || !slices.Equal(got, want) || end != int64(len(file)) {
			t.Errorf("%s: %q, want %q; to %d of %d, %v", form, got, want, end, len(file), err)
		}
		var index bytes.Buffer
		z = NewReader(strings.NewReader(file), ReaderOptions{Name: "x.arc"})
		if err := WriteIndex(&index, z, "x.arc", StopAtDamage); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		z.Close()
		for _, line := range []string{
			`test,a)/1 20080102030406 {"url":"http://a.test/1","mime":"text/html","status":"200",`,
			`test,a)/a%20b 20080102030408 {"url":"http://a.test/a%20b","mime":"text/html","status":"404",`,
			`test,a)/f 20080102030400 {"url":"ftp://a.test/f","mime":"application/zip",`,
		} {
			if !strings.Contains(index.String(), line) {
				t.Errorf("%s: no %s in\n%s", form, line, index.String())
			}
		}
	}
}

// A false length costs what it names, and in a compressed file no other record.
func TestReaderOfDamagedARC(t *testing.T) {
	first := arcRecord("filedesc://x.arc", "0.0.0.0", "20080102030405", "text/plain", arcFirst)
	bad := "http://a.test/1 192.0.2.1 20080102030406 text/html 9999\nHTTP/1.1 200 OK\n\nshort\n"
	last := arcRecord("http://a.test/2", "192.0.2.1", "20080102030407", "text/html", "HTTP/1.1 200 OK\n\nlast")
	var packed bytes.Buffer
	for _, r := range []string{first, bad, last} {
		z := gzip.NewWriter(&packed)
		_, _ = io.WriteString(z, r)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
	}
	z := NewReader(bytes.NewReader(packed.Bytes()), ReaderOptions{Name: "x.arc.gz", OneMember: true})
	defer z.Close()
	var got []string
	faults := 0
	err := ScanRecords(z, func(rec *RecordRead) error {
		err := rec.Skip()
		if err == nil {
			got = append(got, string(rec.TargetURI))
		}
		return err
	}, func(*Fault) error {
		faults++
		return nil
	})
	if want := []string{"filedesc://x.arc", "http://a.test/2"}; err != nil || faults != 1 || !slices.Equal(got, want) {
		t.Errorf("%q, %d faults, %v", got, faults, err)
	}
}
