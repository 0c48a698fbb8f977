package hostile

import (
	"bytes"
	"strings"
	"testing"

	"orbweaver/internal/outcome"
	"orbweaver/warc"
)

// A line of a head that never ends, and lines that never end.
func TestHostile_H04_aHeadWithoutEndIsCutAndKept(t *testing.T) {
	play(t, "H04", nil, func(tr *trial) {
		for path, least := range map[string]int{"/line": 64 << 10, "/lines": 256 << 10} {
			url := "http://h04.test" + path
			tr.wants(url, outcome.HeaderTooLarge)
			rec := tr.record(url, "length")
			if n := len(rec.Block); rec.Type != warc.Resource || n < least || n > 256<<10 ||
				!bytes.HasPrefix(rec.Block, []byte(okLine+"X-")) {
				tr.Errorf("%s: %v of %d bytes, %.50q", url, rec.Type, n, rec.Block)
			}
		}
	})
}

// A thousand fields are read, and no more, whatever their size.
func TestHostile_H05_fieldsAreCounted(t *testing.T) {
	play(t, "H05", nil, func(tr *trial) {
		tr.all("h05.test", want{"/1000", outcome.OK, "", "hi"})
		for _, path := range []string{"/1001", "/many"} {
			tr.wants("http://h05.test"+path, outcome.HeaderTooLarge)
			if rec := tr.record("http://h05.test"+path, "length"); !bytes.HasPrefix(
				rec.Block,
				[]byte(okLine+"Content-Length: 2\r\na: b"),
			) {
				tr.Errorf("%.50q", rec.Block)
			}
		}
	})
}

// HTTP/0.9, and no HTTP at all: kept as it came, and no page. There is no option to read it as one.
func TestHostile_H15_whatHasNoHeadIsKeptAndNoPage(t *testing.T) {
	play(t, "H15", nil, func(tr *trial) {
		tr.all(
			"h15.test",
			want{"/html", outcome.Protocol, "", "<html><a href=\"/found\">no head at all</a></html>\n"},
			want{
				"/binary",
				outcome.Protocol,
				"",
				"\x00\x01\x02\xff",
			},
			want{"/ssh", outcome.Protocol, "", "SSH-2.0-OpenSSH_9.6\r\n"},
		)
		if rec := tr.record("http://h15.test/html", ""); rec.Type != warc.Resource {
			tr.Errorf("kept as %v", rec.Type)
		}
		tr.never("http://h15.test/found")
	})
}

// What can be meant by a status line is read.
func TestHostile_H16_statusLinesAreReadWithPatience(t *testing.T) {
	play(t, "H16", nil, func(tr *trial) {
		for _, path := range []string{
			"/no-reason", "/two-spaces", "/tab", "/icy", "/3.7", "/lower", "/glued", "/no-version", "/mark", "/before",
		} {
			tr.all("h16.test", want{path, outcome.OK, "", path})
		}
		for path, start := range map[string]string{"/mark": "\xef\xbb\xbfHTTP/1.1 200 OK\r\n", "/before": "1\n34HTTP/"} {
			if rec := tr.record("http://h16.test"+path, ""); !bytes.HasPrefix(rec.Block, []byte(start)) {
				tr.Errorf("%s is kept as %q", path, rec.Block)
			}
		}
		tr.wants("http://h16.test/too-much-before", outcome.Protocol)
		for _, path := range []string{"/no-status", "/four-digits", "/cut"} {
			tr.wants("http://h16.test"+path, outcome.Protocol)
			if rec := tr.record("http://h16.test"+path, "unspecified"); rec.Type != warc.Resource ||
				!bytes.HasPrefix(rec.Block, []byte("HTTP/1.1")) {
				tr.Errorf("%s is kept as %v, %q", path, rec.Type, rec.Block)
			}
		}
	})
}

// A number that means nothing is kept as it came and belongs to no class.
func TestHostile_H17_aStatusIsANumberOfAnyKind(t *testing.T) {
	play(t, "H17", nil, func(tr *trial) {
		for _, n := range []string{"000", "099", "600", "999", "20", "7"} {
			tr.all("h17.test", want{"/" + n, outcome.OtherStatus, "", "/" + n})
			if rec := tr.record("http://h17.test/"+n, ""); !bytes.HasPrefix(
				rec.Block,
				[]byte("HTTP/1.1 "+n+" Odd\r\n"),
			) {
				tr.Errorf("%s: %q", n, rec.Block)
			}
		}
		if tr.report.Statuses["0"] != 6 {
			tr.Errorf("%v", tr.report.Statuses)
		}
	})
}

// A NUL makes a head unreadable. Line ends of other kinds do not, nor does a carriage return alone.
func TestHostile_H18_linesEndWhereEverybodySeesThemEnd(t *testing.T) {
	play(t, "H18", nil, func(tr *trial) {
		tr.wants("http://h18.test/nul", outcome.Protocol)
		tr.all(
			"h18.test",
			want{"/cr", outcome.OK, "", "/cr"},
			want{"/lf", outcome.OK, "", "/lf"},
			want{"/folded", outcome.OK, "", "/folded"},
			want{"/folded-away", outcome.Redirect, "", ""},
			want{"/lf?found", outcome.ClientError, "", ""},
		)
		for path, kept := range map[string][2]string{
			"/nul": {okLine + "A: b\x00c\r\n", "unspecified"}, "/cr": {okLine + "A: b\rc\r\r\r\n", ""},
		} {
			if rec := tr.record("http://h18.test"+path, kept[1]); !bytes.HasPrefix(rec.Block, []byte(kept[0])) {
				tr.Errorf("%s is kept as %q", path, rec.Block)
			}
		}
		if rec := tr.record("http://h18.test/folded", ""); !bytes.Contains(
			rec.Block,
			[]byte("text/html;\r\n charset=utf-8\r\nContent-Length:\r\n\t7"),
		) {
			tr.Errorf("the fold is lost: %q", rec.Block)
		}
	})
}

// Whatever a reference holds, a request has the lines that we wrote.
func TestHostile_H19_noReferenceBecomesALineOfOurs(t *testing.T) {
	play(t, "H19", nil, func(tr *trial) {
		list := tr.requests("h19.test")
		if len(list) < 9 {
			tr.Errorf("%d requests", len(list))
		}
		for _, r := range list {
			if lines := strings.Split(r, "\r\n"); strings.Count(r, "\n") != len(lines)-1 || !strings.HasSuffix(r, "\r\n\r\n") ||
				strings.Count(r, "\r\n\r\n") != 1 || strings.Contains(r, "\r\nEvil") ||
				strings.Contains(r, "\r\nGET") {
				tr.Errorf("%q", r)
			}
		}
		for url := range tr.records {
			if strings.ContainsAny(url, "\r\n ") {
				tr.Errorf("a record of %q", url)
			}
		}
	})
}

// Twenty answers before the answer are borne.
func TestHostile_H20_interimAnswersAreCounted(t *testing.T) {
	play(t, "H20", nil, func(tr *trial) {
		tr.wants("http://h20.test/20", outcome.OK)
		tr.wants("http://h20.test/100", outcome.HeaderTooLarge)
		tr.wants("http://h20.test/103", outcome.HeaderTooLarge)
		if rec := tr.record("http://h20.test/20", ""); !bytes.HasPrefix(rec.Block, []byte(okLine)) {
			tr.Errorf("%.100q", rec.Block)
		}
	})
}

// Another protocol is not ours to speak.
func TestHostile_H21_anotherProtocolIsNotSpoken(t *testing.T) {
	play(t, "H21", nil, func(tr *trial) {
		tr.all("h21.test", want{"/upgrade", outcome.Unasked, "", ""})
		tr.wantsWithin("http://h21.test/connect", outcome.TruncatedTime, 31e9)
	})
}
